"""The local state: what a unit remembers of its own past, and the rules that the state must keep.

One JSON document holds a `LocalState` (see `wire`).
Mappings inside are never changed in place: make a new value with `dataclasses.replace`.

Mirrors: juju worker/uniter/operation/state.go, worker/uniter/hook/hook.go,
worker/uniter/resolver/interface.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from pushjuju.core.errors import NotValid
from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.names import is_unit


class OperationKind(StrEnum):
    """The kind of the current (or next) operation of a unit: Juju's `op`."""

    INSTALL = "install"
    RUN_HOOK = "run-hook"
    RUN_ACTION = "run-action"
    UPGRADE = "upgrade"
    CONTINUE = "continue"


class Step(StrEnum):
    """The step of the current operation: Juju's `opstep`."""

    QUEUED = "queued"
    PENDING = "pending"
    DONE = "done"


class ResolvedMode(StrEnum):
    """How a user wants a failed hook to be resolved."""

    NONE = "none"
    RETRY_HOOKS = "retry-hooks"
    NO_HOOKS = "no-hooks"


class HookKind(StrEnum):
    """Kinds of hooks; the names of relation and storage hooks have a prefix that their kinds lack."""

    INSTALL = "install"
    LEADER_ELECTED = "leader-elected"
    LEADER_SETTINGS_CHANGED = "leader-settings-changed"
    CONFIG_CHANGED = "config-changed"
    START = "start"
    UPGRADE_CHARM = "upgrade-charm"
    UPDATE_STATUS = "update-status"
    STOP = "stop"
    REMOVE = "remove"
    RELATION_CREATED = "relation-created"
    RELATION_JOINED = "relation-joined"
    RELATION_CHANGED = "relation-changed"
    RELATION_DEPARTED = "relation-departed"
    RELATION_BROKEN = "relation-broken"
    STORAGE_ATTACHED = "storage-attached"
    STORAGE_DETACHING = "storage-detaching"
    SECRET_CHANGED = "secret-changed"  # noqa: S105  # the name of a hook
    SECRET_ROTATE = "secret-rotate"  # noqa: S105
    SECRET_EXPIRED = "secret-expired"  # noqa: S105
    SECRET_REMOVE = "secret-remove"  # noqa: S105
    PRE_SERIES_UPGRADE = "pre-series-upgrade"
    POST_SERIES_UPGRADE = "post-series-upgrade"

    @property
    def is_relation(self) -> bool:
        return self.startswith("relation-")

    @property
    def is_storage(self) -> bool:
        return self.startswith("storage-")

    @property
    def is_secret(self) -> bool:
        return self.startswith("secret-")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookInfo:
    """The identity of one run of a hook."""

    kind: HookKind
    relation_id: int | None = None  # id of the relation, or None (0 is a valid id)
    remote_unit: str = ""
    remote_application: str = ""
    change_version: int = 0  # the version of the settings that the hook reports
    storage_id: str = ""
    departee: str = ""  # the unit that leaves, in relation-departed only
    series_upgrade_target: str = ""
    secret_uri: str = ""
    # for secret-rotate, the latest revision, which the hook's environment does not show
    secret_revision: int = 0
    secret_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRecord:
    """What a unit remembers of one relation, from just before it enters the scope until it has left."""

    # True after the commit of relation-created, so that an interruption before it loses nothing
    created: bool = False
    # remote unit -> version of its settings last reported
    members: Mapping[str, int] = field(default_factory=dict)
    # remote application -> version of its settings last reported
    application_members: Mapping[str, int] = field(default_factory=dict)
    # the unit whose relation-joined ran, so that its relation-changed must be next; or ""
    changed_pending: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalState:
    """All that a unit remembers of its own past, kept in the store.

    Juju's agent forgets some of this at a restart; a restart of the controller changes nothing for a unit.
    """

    kind: OperationKind = OperationKind.CONTINUE  # the current or next operation
    step: Step = Step.PENDING  # the step that the operation has reached
    # the hook of run-hook, or the hook to which install, upgrade and run-action return
    hook: HookInfo | None = None
    hook_step: Step | None = None  # the progress of `hook`; when set, it replaces `step` for the hook
    action_id: str = ""
    # the target of install and upgrade. installed, started, stopped, removed: Set by the commit of the hook
    # of that name.
    charm_url: str = ""
    installed: bool = False
    started: bool = False
    stopped: bool = False
    removed: bool = False
    leader: bool = False  # leadership was accepted and not resigned since
    # True when a hook of the charm has used status-set. config_hash, trust_hash, addresses_hash: As of the
    # last committed config-changed.
    status_set: bool = False
    config_hash: str = ""
    trust_hash: str = ""
    addresses_hash: str = ""
    relations: Mapping[int, RelationRecord] = field(default_factory=dict)  # relation id -> record
    storage: frozenset[str] = frozenset()  # ids of the storage whose storage-attached was committed
    # URI -> revision last reported to this consumer
    secret_revisions: Mapping[str, int] = field(default_factory=dict)
    # URI -> revisions whose secret-remove was committed
    secret_obsolete_revisions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    current_charm_url: str = ""
    charm_modified_version: int = 0  # version of charm and resources that install or upgrade has stored
    retry_hook_version: int = 0  # `RemoteState.retry_hook_version` when the last hook or retry began
    retry_timer_running: bool = False  # True when a retry of the failed hook has a due time
    retry_attempt: int = 0  # number of retries since the hook first failed
    update_status_version: int = 0  # `RemoteState.update_status_version` at the last update-status
    # version last reported to a non-leader; 0 makes leader-settings-changed run
    leader_settings_version: int = 0
    boot_id: str = ""  # boot of the machine in which `start` last ran (before that: in which any hook ran)
    conflicted: bool = False  # the new charm could not be unpacked over the old one
    restart: bool = False  # True when both states must be read again before the next decision
    # actions that have ended, but may still be pending in the remote state
    completed_actions: frozenset[str] = frozenset()
    # the step of the machine's upgrade that this unit has reached
    series: SeriesStatus = SeriesStatus.NOT_STARTED

    @property
    def hook_progress(self) -> Step:
        """Return the step of `hook`."""
        return self.hook_step or self.step


def initial_state(charm_url: str) -> LocalState:
    """Return the local state of a new unit."""
    return LocalState(kind=OperationKind.INSTALL, step=Step.QUEUED, charm_url=charm_url)


_SECRET_URI = regex(r"secret:(?://[0-9a-f-]+/)?[0-9a-z]+")
_WITH_REMOTE_UNIT = (HookKind.RELATION_JOINED, HookKind.RELATION_DEPARTED)
_WITH_REMOTE_APPLICATION = (*_WITH_REMOTE_UNIT, HookKind.RELATION_CHANGED)
_WITH_REVISION = (HookKind.SECRET_EXPIRED, HookKind.SECRET_REMOVE)


def validate_hook(hook: HookInfo) -> None:
    """Check that a hook is complete. Mirrors: juju worker/uniter/hook/hook.go Validate (3.6)"""
    if hook.kind.is_relation:
        _validate_relation_hook(hook)
    elif hook.kind.is_storage:
        if not is_unit(hook.storage_id):
            raise NotValid(f'invalid storage ID "{hook.storage_id}"')
    elif hook.kind.is_secret:
        if not _SECRET_URI.fullmatch(hook.secret_uri):
            raise NotValid(f'"{hook.kind}" hook requires a secret URI, not "{hook.secret_uri}"')
        if hook.kind in _WITH_REVISION and hook.secret_revision <= 0:
            raise NotValid(f'"{hook.kind}" hook requires a secret revision')
    elif hook.kind is HookKind.PRE_SERIES_UPGRADE and not hook.series_upgrade_target:
        raise NotValid(f'"{hook.kind}" hook requires a target base')


def _validate_relation_hook(hook: HookInfo) -> None:
    if hook.relation_id is None:
        raise NotValid(f'"{hook.kind}" hook requires a relation')
    if hook.kind in _WITH_REMOTE_UNIT and not hook.remote_unit:
        raise NotValid(f'"{hook.kind}" hook requires a remote unit')
    if hook.kind in _WITH_REMOTE_APPLICATION and not hook.remote_application:
        raise NotValid(f'"{hook.kind}" hook has a remote unit but no application')


def validate_local(local: LocalState) -> None:
    """Check that a local state keeps the rules of its kind.

    Mirrors: juju worker/uniter/operation/state.go Validate (3.6)
    """
    broken = _broken_rule(local)
    if broken:
        raise NotValid(f"invalid operation state: {broken} with kind {local.kind}")
    if local.hook is not None:
        validate_hook(local.hook)


def _broken_rule(local: LocalState) -> str:
    """Return what is missing or unexpected in a local state, or ""."""
    has_hook, has_action, has_charm = local.hook is not None, bool(local.action_id), bool(local.charm_url)
    match local.kind:
        case OperationKind.INSTALL | OperationKind.UPGRADE:
            if local.kind is OperationKind.INSTALL and local.installed:
                return "unexpected installed charm"
            return _first((not has_charm, "missing charm URL"), (has_action, "unexpected action id"))
        case OperationKind.RUN_ACTION:
            return _first((not has_action, "missing action id"), (has_charm, "unexpected charm URL"))
        case OperationKind.RUN_HOOK:
            return _first(
                (not has_hook, "missing hook info"),
                (has_charm, "unexpected charm URL"),
                (has_action, "unexpected action id"),
            )
        case OperationKind.CONTINUE:
            return _first(
                (has_hook, "unexpected hook info"),
                (has_charm, "unexpected charm URL"),
                (has_action, "unexpected action id"),
            )


def _first(*rules: tuple[bool, str]) -> str:
    return next((text for broken, text in rules if broken), "")
