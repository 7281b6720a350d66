"""The next step of a unit: a pure function of what the unit remembers and what the model wants.

Imports core and the standard library only. No I/O, clock, chance or logging.

Public names (stable):

    LocalState, initial_state       what the unit remembers; one JSON document      (state)
    RemoteState, RemoteRelation,    what the model wants; a full snapshot           (remote)
      RemoteStorage, PendingAction, ConsumedSecret, OwnedSecret, SecretRevision
    HookInfo, HookKind, OperationKind, Step, ResolvedMode, SeriesStatus, RelationRecord
    validate_local, validate_hook   raise NotValid
    Decision, Answer, Operation, OperationName, Variant, Effect, EffectKind, Seen   (decision)
    decide(local, remote)           the decision                                    (loop)
    reconcile_effects(local, remote)  what to set right in the model before it      (reconcile)
    hook_name, hook_error           names of hooks as users read them              (naming)
    retry_delay, next_update_status waiting times; chance comes in as a number      (timing)
    to_wire, from_wire, text_of     JSON                                            (wire)
    record, record_text, replay     decisions kept, and decided again               (wire)

`pushjuju.uniter.state.operation` holds the state transitions of the operations.
"""

from pushjuju.core.model.series import SeriesStatus
from pushjuju.uniter.decide.decision import (
    Answer,
    Decision,
    Effect,
    EffectKind,
    Operation,
    OperationName,
    Seen,
    Variant,
)
from pushjuju.uniter.decide.loop import RESOLVERS, decide
from pushjuju.uniter.decide.naming import hook_error, hook_name
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.remote import (
    ConsumedSecret,
    OwnedSecret,
    PendingAction,
    RemoteRelation,
    RemoteState,
    RemoteStorage,
    SecretRevision,
)
from pushjuju.uniter.decide.state import (
    HookInfo,
    HookKind,
    LocalState,
    OperationKind,
    RelationRecord,
    ResolvedMode,
    Step,
    initial_state,
    validate_hook,
    validate_local,
)
from pushjuju.uniter.decide.timing import next_update_status, retry_delay
from pushjuju.uniter.decide.wire import from_wire, record, record_text, replay, text_of, to_wire

__all__ = [
    "RESOLVERS",
    "Answer",
    "ConsumedSecret",
    "Decision",
    "Effect",
    "EffectKind",
    "HookInfo",
    "HookKind",
    "LocalState",
    "Operation",
    "OperationKind",
    "OperationName",
    "OwnedSecret",
    "PendingAction",
    "RelationRecord",
    "RemoteRelation",
    "RemoteState",
    "RemoteStorage",
    "ResolvedMode",
    "SecretRevision",
    "Seen",
    "SeriesStatus",
    "Step",
    "Variant",
    "decide",
    "from_wire",
    "hook_error",
    "hook_name",
    "initial_state",
    "next_update_status",
    "reconcile_effects",
    "record",
    "record_text",
    "replay",
    "retry_delay",
    "text_of",
    "to_wire",
    "validate_hook",
    "validate_local",
]
