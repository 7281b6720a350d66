"""One turn of a unit: reconcile the model, decide, prepare an operation.

A turn is one transaction, so after a crash there is either no trace of it or a prepared operation. An
operation that needs no machine is committed in the same turn, and the unit decides again. A decision made
before the turn (before the contact, or in the commit of an operation) is used by the turn that follows, as
long as the unit and its model have not changed.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterable
from dataclasses import field
from datetime import datetime, timedelta

from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.problems import Subject
from pushjuju.core.status import AGENT_INITIALISING, Life, StatusKind, Workload, is_before_agent
from pushjuju.core.values import changed, dataclass
from pushjuju.portable.durations import parse_duration
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.basis import leadership, statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.decision_text import packed
from pushjuju.services.entities.model import model_config
from pushjuju.store.processes import CAUSE
from pushjuju.store.rows.records import Operation as OperationRecord
from pushjuju.store.rows.records import Unit
from pushjuju.store.tx import ModelTx, Tx
from pushjuju.uniter.action_runs import settled_in_model
from pushjuju.uniter.ahead import Decided, plan
from pushjuju.uniter.apply.perform import perform
from pushjuju.uniter.decide.decision import Answer, Decision, EffectKind, Operation, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.reconcile import reconcile_effects
from pushjuju.uniter.decide.state import HookKind, LocalState, Step
from pushjuju.uniter.decide.timing import next_update_status
from pushjuju.uniter.decide.wire import record_text
from pushjuju.uniter.dispatch import Dispatch, announce, document_of, prepared_operation
from pushjuju.uniter.input.hookcontext import hook_questions
from pushjuju.uniter.input.snapshot import View, ask_ahead, read_view, store_local
from pushjuju.uniter.requests import Refusal, Request, Waiting
from pushjuju.uniter.state.effects import apply_effects, begin_effects, commit_effects, restarted
from pushjuju.uniter.state.operation import committed, prepare, skip_reason

MAX_STEPS = 100  # decisions of one turn; more are an endless loop
_NOT_ON_MACHINE = (
    OperationName.SKIP_HOOK,
    OperationName.ACCEPT_LEADERSHIP,
    OperationName.RESIGN_LEADERSHIP,
    OperationName.COMPLETE_SERIES,
    OperationName.SECRETS_REMOVED,
)
_TOLD_AT_REST = (EffectKind.REPORT_IDLE, EffectKind.REPORT_WAITING)
WORK = (Answer.RUN, Answer.RESTART, Answer.DEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The result of a turn: an operation to run, or the reason why no operation must run."""

    answer: Answer  # `run`, `idle`, `waiting` or `dead`
    reason: str = ""
    dispatch: Dispatch | None = field(default=None)
    # the operations that follow when the operation succeeds, to be sent together with it
    plan: tuple[Dispatch, ...] = ()
    # the decision that follows when all of them succeed and write nothing, if it is known
    foreseen: Decided | None = None
    refused: tuple[Refusal, ...] = ()  # refused requests of `juju-exec`, whose errors the machine must get
    failed: bool = False  # True when the unit cannot decide; the reason says why
    postponed: bool = False  # True when an update-status hook waits for a later turn
    decided: Decided | None = None  # a decision without a prepared operation, for the turn that prepares it


_GONE = Turn(answer=Answer.DEAD, reason="the unit is gone")
_DEAD = Turn(answer=Answer.DEAD, reason="the unit is dead")


def take_turn(
    ctx: Context,
    model: str,
    name: str,
    requests: Iterable[Request] = (),
    *,
    loud: Container[str] | None = None,
    routine: bool = True,
    decided: Decided | None = None,
) -> Turn:
    """Let a unit decide until an operation must run on its machine, or nothing is left to do.

    Args:
        requests: The requests of `juju-exec` on the machine, oldest first.
        loud: Not None to decide also the hooks that certainly follow, but none behind these hooks, which
            wrote something the last time. The caller that runs the operation must then run the hook that each
            commit returns as the next.
        routine: When False, an update-status hook waits for a later turn.
        decided: A decision made a moment ago, used when the states are the same.

    Raises:
        PushjujuError: The unit's state breaks a rule; the store is unchanged.
    """
    waiting = Waiting(requests)
    if not waiting.ids and (rest := _at_rest(ctx, model, name, routine=routine)):
        return rest
    with ctx.write(model) as tx:
        tx.watch()
        ask_turn_ahead(tx, name)
        if decided is None:
            _tick(ctx, tx, name)
        for _ in range(MAX_STEPS):
            view = read_view(tx, name, waiting.ids)
            if view is None:
                return _GONE
            turn = _step(ctx, tx, view, waiting, decided, loud, routine=routine)
            if turn is not None:
                return changed(turn, refused=waiting.refused) if waiting.refused else turn
            ask_ahead(tx, name)
        text = f"unit {name} does not come to a decision after {MAX_STEPS} steps"
        raise PushjujuError(text, subject=Subject("unit", name))


def ask_turn_ahead(tx: ModelTx, name: str) -> None:
    """Send what a turn asks the store when a hook must run."""
    ask_ahead(tx, name)
    tx.ahead(hook_questions, name)


def ask(ctx: Context, model: str, name: str) -> Turn:
    """Let a unit decide what it does next; see `decide_next`.

    Raises:
        PushjujuError: The unit's state breaks a rule; the store is unchanged.
    """
    if rest := _at_rest(ctx, model, name):
        return rest
    with ctx.write(model) as tx:
        return decide_next(ctx, tx, name)


def decide_next(ctx: Context, tx: ModelTx, name: str, foreseen: Decided | None = None) -> Turn:
    """Let a unit decide what it does next, without preparing an operation.

    A unit with something to do is not changed, and the answer contains the decision; a unit with nothing to
    do takes its whole turn.
    """
    tx.watch()
    ask_ahead(tx, name)
    _tick(ctx, tx, name)
    view = read_view(tx, name)
    if view is None:
        return _GONE
    if view.unit.life == Life.DEAD:
        return _DEAD
    if reconcile_effects(view.local, view.remote):
        return Turn(answer=Answer.RUN, reason="the model must be reconciled")
    decision = _decision(view, foreseen)
    if decision.answer in WORK:
        decided = Decided(local=view.local, remote=view.remote, decision=decision)
        return Turn(answer=decision.answer, reason=decision.reason, decided=decided)
    return _settle(ctx, tx, view, decision, alone=True)


def _tick(ctx: Context, tx: ModelTx, name: str) -> None:
    """Claim a free leadership and count the timers that ran out."""
    unit = tx.find(Unit, "unit_get", name=name)
    if unit is None:
        return
    now = ctx.clock.now()
    if unit.life == Life.ALIVE:
        leadership.claim(tx, unit)
    if unit.retry_due and unit.retry_due <= now:
        tx.run(
            "unit_set_retry", name=name, version=unit.retry_version + 1,
            count=unit.retry_count, due=None
        )  # fmt: skip
    _tick_update_status(ctx, tx, unit)
    _initialising(tx, unit)


def _tick_update_status(ctx: Context, tx: ModelTx, unit: Unit) -> None:
    if SeriesStatus(unit.series).frozen:
        return  # no hooks run while a user upgrades the machine
    now = ctx.clock.now()
    due = unit.update_status_due
    if due is not None and due > min(now, ctx.routine_until or now):
        return
    interval = parse_duration(str(model_config.get(tx, model_config.INTERVAL)))
    again = now + timedelta(seconds=next_update_status(interval, ctx.random.random()))
    version = unit.update_status_version + (due is not None)
    tx.change(
        Unit, "unit_get", "unit_set_turn", {"model": unit.model, "name": unit.name},
        update_status_version=version, update_status_due=again,
    )  # fmt: skip


def _initialising(tx: ModelTx, unit: Unit) -> None:
    """Set the workload status for a connected machine whose unit is about to be initialised."""
    workload = statuses.get_status(tx, StatusKind.WORKLOAD, unit.name)
    if workload and is_before_agent(workload):
        statuses.set_status(
            tx, StatusKind.WORKLOAD, unit.name, Workload.WAITING, AGENT_INITIALISING
        )  # fmt: skip


def _step(
    ctx: Context,
    tx: ModelTx,
    view: View,
    waiting: Waiting,
    decided: Decided | None,
    loud: Container[str] | None,
    *,
    routine: bool,
) -> Turn | None:
    """Make one decision; return None when the unit must decide again.

    Args:
        loud: Hooks behind which nothing is planned; None for no plan at all.
    """
    # A dead unit runs no more hooks; the run of its machine removes the unit.
    if view.unit.life == Life.DEAD:
        return _DEAD
    # The decision must see the model after these effects, so the unit decides again.
    wanted = reconcile_effects(view.local, view.remote)
    if done := perform(ctx, tx, view, wanted):
        store_local(tx, view.unit, apply_effects(view.local, done))
        return None
    decision = _decision(view, decided)
    # A retry that the user requested with `resolved` is no routine.
    if not routine and view.unit.resolved == "none" and _is_routine(decision):
        return _postponed(tx, view, decision, alone=not (wanted or waiting.ids))
    if decision.operation is None and decision.answer is not Answer.RESTART:
        return _settle(ctx, tx, view, decision, alone=not (wanted or waiting.ids))
    perform(ctx, tx, view, decision.effects)
    local = apply_effects(view.local, decision.effects)
    text = _text_of(view, decision)
    if decision.operation is None:
        store_local(tx, view.unit, restarted(local), decision=text)
        return None
    request = None
    if decision.operation.name is OperationName.RUN_COMMANDS:
        # A refused request is answered with its error; the unit then decides again.
        request = waiting.take(view, decision.operation)
        if request is None:
            return None
    return _take_up(ctx, tx, view, local, decision.operation, request, text, loud)


def _decision(view: View, decided: Decided | None) -> Decision:
    """Return the earlier decision if it was made from the same states, else decide."""
    if decided is not None and (decided.local, decided.remote) == (view.local, view.remote):
        return decided.decision
    return decide(view.local, view.remote)


def _settle(ctx: Context, tx: ModelTx, view: View, decision: Decision, *, alone: bool) -> Turn:
    """Record that a unit has nothing to do.

    Args:
        alone: True when the turn did nothing else.
    """
    perform(ctx, tx, view, decision.effects)
    local = apply_effects(view.local, decision.effects)
    _keep_decision(tx, view, decision)
    turn = Turn(answer=decision.answer, reason=decision.reason)
    if not store_local(tx, view.unit, local, view.local) and alone:
        _rest(tx, view, decision, turn)
    return turn


def _postponed(tx: Tx, view: View, decision: Decision, *, alone: bool) -> Turn:
    """Return the turn of a unit whose update-status must wait, with its decision."""
    turn = Turn(answer=Answer.IDLE, reason=decision.reason, postponed=True)
    if alone:
        _conclude(tx, view, turn)
    return changed(turn, decided=Decided(local=view.local, remote=view.remote, decision=decision))


def _is_routine(decision: Decision) -> bool:
    hook = decision.operation.hook if decision.operation is not None else None
    return hook is not None and hook.kind is HookKind.UPDATE_STATUS


def _rest(tx: Tx, view: View, decision: Decision, turn: Turn) -> None:
    """Remember a turn that did nothing, and would do nothing again until a row that it read changes.

    It wrote only the decision and that the unit is idle, and no decision depends on these.
    """
    if all(effect.kind in _TOLD_AT_REST for effect in decision.effects):
        _conclude(tx, view, turn)


def _conclude(tx: Tx, view: View, turn: Turn) -> None:
    """Remember a turn until a row that it read changes, or a timer of the unit runs out."""
    unit = view.unit
    if not view.application.offered:
        dues = [due for due in (unit.retry_due, unit.update_status_due) if due]
        tx.conclude((take_turn, unit.model, unit.name), (turn, min(dues, default=None)))


def _at_rest(ctx: Context, model: str, name: str, *, routine: bool = True) -> Turn | None:
    """Return the result of a unit's last turn if a new turn would have the same result and write nothing."""
    found: tuple[Turn, datetime | None] | None = ctx.store.concluded((take_turn, model, name))
    if found is None or (found[1] is not None and found[1] <= ctx.clock.now()):
        return None
    return None if routine and found[0].postponed else found[0]


def rests(ctx: Context, model: str, name: str) -> bool:
    """Return True when a turn of a unit would do nothing, as its last turn."""
    found = _at_rest(ctx, model, name)
    return found is not None and found.answer not in WORK


def _keep_decision(tx: Tx, view: View, decision: Decision) -> None:
    text = _text_of(view, decision)
    if text != view.unit.decision:
        key = {"model": view.unit.model, "name": view.unit.name}
        tx.change(Unit, "unit_get", "unit_set_turn", key, decision=text)


def _text_of(view: View, decision: Decision) -> str:
    # The unit's row has the local state already, as exactly the text that the record needs.
    local = view.unit.state if view.unit.state != "{}" else None
    return record_text(view.local, view.remote, decision, local)


def _take_up(
    ctx: Context,
    tx: ModelTx,
    view: View,
    local: LocalState,
    operation: Operation,
    request: Request | None,
    decided: str,
    loud: Container[str] | None,
) -> Turn | None:
    """Prepare an operation, or commit an operation that needs no machine."""
    settled = settled_in_model(tx, view, local, operation)
    if settled is not None:
        store_local(tx, view.unit, settled, decision=decided)
        return None
    pointless = "" if operation.name in _NOT_ON_MACHINE else skip_reason(local, operation, view.remote)
    if pointless or operation.name in _NOT_ON_MACHINE:
        # A hook that ran before a reboot is only committed after the reboot: the hook is not missing.
        missing = local.hook_progress is not Step.DONE
        effects = commit_effects(operation, pointless=bool(pointless), missing=missing)
        perform(ctx, tx, view, effects)
        store_local(tx, view.unit, apply_effects(committed(local, operation), effects), decision=decided)
        return None
    tx.ahead(hook_questions, view.unit.name)
    store_local(tx, view.unit, prepare(local, operation, view.remote), decision=decided)
    perform(ctx, tx, view, begin_effects(operation))
    announce(tx, view, local, operation, ctx.clock.now())
    if operation.name is OperationName.RUN_ACTION:
        actions.start(tx, int(operation.action_id))
    document = document_of(operation, request)
    dispatch = prepared_operation(tx, view, operation, str(uuid.uuid4()), document.get("request"))
    planned = plan(ctx, tx, view, local, operation, dispatch, loud) if loud is not None else ((), None)
    following, foreseen = planned
    if following:
        document["then"] = following[0].id
        dispatch = changed(dispatch, frame={**dispatch.frame, "then": True})
    record = OperationRecord(
        id=dispatch.id,
        model=view.unit.model,
        machine=view.machine.id,
        unit=view.unit.name,
        name=dispatch.title,
        state="prepared",
        document=document,
        prepared=ctx.clock.now(),
        decided=packed(decided),
        cause=CAUSE.get(),
    )
    tx.insert("operation", record)
    tx.know(OperationRecord, "operation_get", record, id=record.id)
    return Turn(
        answer=Answer.RUN, reason=operation.text, dispatch=dispatch, plan=following, foreseen=foreseen
    )
