"""The parts of a decision: operation, effects, reason.

Mirrors: juju worker/uniter/operation/interface.go and factory.go, worker/uniter/resolver/interface.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from pushjuju.core.values import dataclass
from pushjuju.uniter.decide.remote import RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind


class OperationName(StrEnum):
    """The operations of the state machine."""

    INSTALL = "install"
    UPGRADE = "upgrade"
    RUN_HOOK = "run-hook"
    SKIP_HOOK = "skip-hook"
    RUN_ACTION = "run-action"
    FAIL_ACTION = "fail-action"
    RUN_COMMANDS = "run-commands"
    ACCEPT_LEADERSHIP = "accept-leadership"
    RESIGN_LEADERSHIP = "resign-leadership"
    COMPLETE_SERIES = "complete-series"
    SECRETS_REMOVED = "secrets-removed"


class Variant(StrEnum):
    """Why a charm is unpacked: as usual, after `resolved`, or by force over a conflict."""

    PLAIN = "plain"
    RESUMED = "resumed"
    FORCED = "forced"


_UPGRADE_TEXT = {
    Variant.PLAIN: "upgrade to",
    Variant.RESUMED: "continue upgrade to",
    Variant.FORCED: "switch upgrade to",
}
MACHINE_LOCK = "machine-lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The part of the remote state that a commit stores, as it was when the operation was decided."""

    config_hash: str = ""
    trust_hash: str = ""
    addresses_hash: str = ""
    charm_modified_version: int = 0
    update_status_version: int = 0
    retry_hook_version: int = 0
    leader_settings_version: int = 0
    boot_id: str = ""

    @classmethod
    def of(cls, remote: RemoteState) -> Seen:
        """Return the part of a remote state that commits need."""
        return cls(
            config_hash=remote.config_hash,
            trust_hash=remote.trust_hash,
            addresses_hash=remote.addresses_hash,
            charm_modified_version=remote.charm_modified_version,
            update_status_version=remote.update_status_version,
            retry_hook_version=remote.retry_hook_version,
            leader_settings_version=remote.leader_settings_version,
            boot_id=remote.boot_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation with everything that running and committing it needs, without reading the model again."""

    name: OperationName
    hook: HookInfo | None = None
    endpoint: str = ""  # the unit's endpoint of a relation hook, or "" when the relation is no longer known
    charm_url: str = ""
    variant: Variant = Variant.PLAIN  # how an upgrade unpacks the charm; unused by other operations
    action_id: str = ""
    action_name: str = ""
    command: str = ""  # the id of the command of run-commands, else ""
    secrets: tuple[str, ...] = ()  # the URIs of the secrets of secrets-removed, else empty
    lock: str = ""  # the lock that is held from before the operation is prepared until it is committed, or ""
    seen: Seen = field(default_factory=Seen)

    @property
    def text(self) -> str:
        """Return the operation as logs and errors name it."""
        match self.name:
            case OperationName.INSTALL:
                return f"install {self.charm_url}"
            case OperationName.UPGRADE:
                return f"{_UPGRADE_TEXT[self.variant]} {self.charm_url}"
            case OperationName.RUN_HOOK | OperationName.SKIP_HOOK:
                return f"run {hook_text(self.hook)}"
            case OperationName.RUN_ACTION:
                return f"run action {self.action_id}"
            case OperationName.FAIL_ACTION:
                return f"fail action {self.action_id}"
            case OperationName.RUN_COMMANDS:
                return "run commands"
            case OperationName.COMPLETE_SERIES:
                return "complete upgrade series"
            case _:
                return self.name.value.replace("-", " ")


def hook_text(hook: HookInfo | None) -> str:
    """Describe a hook for logs: `relation-joined (4; unit: mysql/0) hook`."""
    if hook is None:
        return "hook"
    if hook.kind.is_relation:
        remote = f"unit: {hook.remote_unit}" if hook.remote_unit else f"app: {hook.remote_application}"
        departing = f", departee: {hook.departee}" if hook.departee else ""
        return f"{hook.kind} ({hook.relation_id}; {remote}{departing}) hook"
    if hook.kind.is_storage:
        return f"{hook.kind} ({hook.storage_id}) hook"
    if hook.kind.is_secret:
        return f"{hook.kind} ({hook.secret_uri}) hook"
    return f"{hook.kind} hook"


class EffectKind(StrEnum):
    """Kinds of changes to the model apart from an operation; each may be repeated without harm.

    The first group is part of decisions, the second of `reconcile_effects`, the third of commits.
    """

    REPORT_ERROR = "report-error"  # agent status error, with message and data
    REPORT_IDLE = "report-idle"  # agent status idle
    REPORT_WAITING = "report-waiting"  # what the charm waits for, with message
    CLEAR_RESOLVED = "clear-resolved"
    ARM_RETRY_TIMER = "arm-retry-timer"  # make retry number `attempt` due
    DISARM_RETRY_TIMER = "disarm-retry-timer"
    DESTROY_SUBORDINATES = "destroy-subordinates"

    ENTER_SCOPE = "enter-scope"
    LEAVE_SCOPE = "leave-scope"  # and delete the unit's record
    FORGET_RELATION = "forget-relation"  # delete the record of a deleted relation
    DESTROY_UNIT = "destroy-unit"
    DESTROY_STORAGE_ATTACHMENTS = "destroy-storage-attachments"  # mark all Dying
    REMOVE_STORAGE_ATTACHMENT = "remove-storage-attachment"
    FORGET_STORAGE = "forget-storage"  # delete the record of a deleted attachment

    SECRET_ROTATED = "secret-rotated"  # noqa: S105  # the name of an effect
    SECRET_EXPIRY_SEEN = "secret-expiry-seen"  # noqa: S105
    SERIES_STATUS = "series-status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One change of the model that is part of a decision, a reconcile or a commit."""

    kind: EffectKind
    message: str = ""  # the message of a status; for series-status, the new status
    # the data of a status; for series-status, its `message`
    data: Mapping[str, str | int] = field(default_factory=dict)
    attempt: int = 0  # for arm-retry-timer, the number of the retry, from 1
    relation_id: int | None = None
    storage_id: str = ""
    secret_uri: str = ""
    revision: int = 0  # revision of a secret


class Answer(StrEnum):
    """What the caller of `decide` does next."""

    RUN = "run"
    IDLE = "idle"
    WAITING = "waiting"
    RESTART = "restart"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The next step of a unit, with its reason."""

    answer: Answer
    operation: Operation | None = None  # the operation of the answer `run`, else None
    effects: tuple[Effect, ...] = ()  # the effects to perform, in order, before the operation
    reason: str = ""  # for users
    badge: str = ""  # the sub-resolver that decided


# A sub-resolver returns a decision, or the effects (often none) to perform when a later sub-resolver decides.
Verdict: TypeAlias = Decision | tuple[Effect, ...]
GO_ON: tuple[Effect, ...] = ()


def run(operation: Operation, reason: str, *effects: Effect) -> Decision:
    return Decision(answer=Answer.RUN, operation=operation, reason=reason, effects=effects)


def idle(reason: str, *effects: Effect) -> Decision:
    """Decide that there is nothing to do."""
    return Decision(answer=Answer.IDLE, reason=reason, effects=effects)


def waiting(reason: str, *effects: Effect) -> Decision:
    """Decide to wait for the model without calling the unit idle."""
    return Decision(answer=Answer.WAITING, reason=reason, effects=effects)


def dead(reason: str) -> Decision:
    """Decide that the unit has done everything and can be removed."""
    return Decision(answer=Answer.DEAD, reason=reason)


def new_operation(
    remote: RemoteState,
    name: OperationName,
    *,
    charm_url: str = "",
    variant: Variant = Variant.PLAIN,
    command: str = "",
    secrets: tuple[str, ...] = (),
) -> Operation:
    """Return an operation that concerns neither a hook nor an action."""
    return Operation(
        name=name,
        charm_url=charm_url,
        variant=variant,
        command=command,
        secrets=secrets,
        lock=MACHINE_LOCK if name is OperationName.RUN_COMMANDS else "",
        seen=Seen.of(remote),
    )


def hook_operation(
    remote: RemoteState, hook: HookInfo, name: OperationName = OperationName.RUN_HOOK
) -> Operation:
    """Return the operation that runs (or skips) a hook."""
    relation = remote.relations.get(hook.relation_id) if hook.relation_id is not None else None
    return Operation(
        name=name,
        hook=hook,
        endpoint=relation.endpoint if relation else "",
        lock=MACHINE_LOCK if name is OperationName.RUN_HOOK else "",
        seen=Seen.of(remote),
    )


def run_hook(remote: RemoteState, hook: HookInfo | HookKind, reason: str, *effects: Effect) -> Decision:
    info = HookInfo(kind=hook) if isinstance(hook, HookKind) else hook
    return run(hook_operation(remote, info), reason, *effects)


def skip_hook(remote: RemoteState, hook: HookInfo, reason: str, *effects: Effect) -> Decision:
    """Decide to commit a hook without running it."""
    return run(hook_operation(remote, hook, OperationName.SKIP_HOOK), reason, *effects)
