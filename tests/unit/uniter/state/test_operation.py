"""State transitions: prepare, execute, commit of each operation, validity, and the statuses beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.model.series import SeriesStatus
from pushjuju.uniter.decide.decision import Effect, EffectKind, Operation, OperationName, Seen, Variant
from pushjuju.uniter.decide.naming import hook_name
from pushjuju.uniter.decide.remote import PendingAction, RemoteState
from pushjuju.uniter.decide.state import (
    HookInfo,
    HookKind,
    LocalState,
    OperationKind,
    RelationRecord,
    Step,
    initial_state,
    validate_hook,
    validate_local,
)
from pushjuju.uniter.state.effects import apply_effects, restarted
from pushjuju.uniter.state.messages import executing_message, workload_after, workload_before
from pushjuju.uniter.state.operation import Outcome, committed, executed, is_success, prepare, skip_reason

WORLD = Callable[..., Any]
REMOTE = RemoteState(unit="web/0", charm_url="ch:1", actions=(PendingAction(id="7", name="dump"),))
IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1")
START, CONFIG = HookInfo(kind=HookKind.START), HookInfo(kind=HookKind.CONFIG_CHANGED)
INSTALL = Operation(name=OperationName.INSTALL, charm_url="ch:1", seen=Seen(charm_modified_version=3))
UPGRADE = Operation(name=OperationName.UPGRADE, charm_url="ch:2", seen=Seen(charm_modified_version=4))
RUN = Operation(name=OperationName.RUN_HOOK, hook=CONFIG, seen=Seen(retry_hook_version=2))
ACTION = Operation(name=OperationName.RUN_ACTION, action_id="7", action_name="dump")
FAIL = Operation(name=OperationName.FAIL_ACTION, action_id="7")
ERROR = replace(IDLE, kind=OperationKind.RUN_HOOK, step=Step.PENDING, hook=START, hook_step=Step.PENDING)


def short(local: LocalState) -> str:
    """A local state as `kind/step[hook, progress]`."""
    hook = f"[{local.hook.kind}, {local.hook_progress}]" if local.hook else ""
    extra = local.charm_url or local.action_id
    return f"{local.kind}/{local.step}{hook}" + (f" {extra}" if extra else "")


# id, state before, operation, prepared, executed well, committed
TABLE = [
    (
        "install",
        initial_state("ch:0"),
        INSTALL,
        "install/pending ch:1",
        "install/done ch:1",
        "run-hook/queued[install, queued]",
    ),
    (
        "install, hook kept",
        replace(ERROR, installed=False, hook=HookInfo(kind=HookKind.INSTALL)),
        INSTALL,
        "install/pending[install, pending] ch:1",
        "install/done[install, pending] ch:1",
        "run-hook/pending[install, pending]",
    ),
    (
        "upgrade",
        IDLE,
        UPGRADE,
        "upgrade/pending ch:2",
        "upgrade/done ch:2",
        "run-hook/queued[upgrade-charm, queued]",
    ),
    (
        "upgrade, interrupted hook",
        ERROR,
        UPGRADE,
        "upgrade/pending[start, pending] ch:2",
        "upgrade/done[start, pending] ch:2",
        "run-hook/pending[start, pending]",
    ),
    (
        "run hook",
        IDLE,
        RUN,
        "run-hook/pending[config-changed, pending]",
        "run-hook/done[config-changed, done]",
        "continue/pending",
    ),
    ("run action", IDLE, ACTION, "run-action/pending 7", "run-action/done 7", "continue/pending"),
    (
        "run action, hook kept",
        ERROR,
        ACTION,
        "run-action/pending[start, pending] 7",
        "run-action/done[start, pending] 7",
        "run-hook/pending[start, pending]",
    ),
    (
        "fail action",
        replace(IDLE, kind=OperationKind.RUN_ACTION, action_id="7"),
        FAIL,
        "run-action/pending 7",
        "run-action/done 7",
        "continue/pending",
    ),
    (
        "run commands",
        ERROR,
        Operation(name=OperationName.RUN_COMMANDS, command="1"),
        "run-hook/pending[start, pending]",
        "run-hook/pending[start, pending]",
        "run-hook/pending[start, pending]",
    ),
]


@pytest.mark.parametrize(
    ("before", "operation", "dispatch", "done", "after"),
    [pytest.param(*case[1:], id=case[0]) for case in TABLE],
)
def test_transitions(before: LocalState, operation: Operation, dispatch: str, done: str, after: str) -> None:
    """6.2."""
    one = prepare(before, operation, REMOTE)
    two = executed(one, operation, Outcome.OK)
    three = committed(two, operation)
    shown = [short(one), short(two), short(three)]
    # The hook kept by install, upgrade and actions shows its own progress.
    assert shown == [dispatch, done, after]


COMMIT_ONLY = [
    ("accept leadership", IDLE, OperationName.ACCEPT_LEADERSHIP, "run-hook/queued[leader-elected, queued]"),
    (
        "resign leadership",
        replace(ERROR, leader=True),
        OperationName.RESIGN_LEADERSHIP,
        "run-hook/pending[start, pending]",
    ),
    (
        "complete series",
        replace(IDLE, series=SeriesStatus.COMPLETED),
        OperationName.COMPLETE_SERIES,
        "continue/pending",
    ),
    ("secrets removed", IDLE, OperationName.SECRETS_REMOVED, "continue/pending"),
]


@pytest.mark.parametrize(
    ("before", "name", "after"), [pytest.param(*case[1:], id=case[0]) for case in COMMIT_ONLY]
)
def test_nothing_to_run(before: LocalState, name: OperationName, after: str) -> None:
    operation = Operation(name=name)
    assert skip_reason(before, operation, REMOTE)
    local = committed(before, operation)
    assert short(local) == after
    assert local.leader is (name is OperationName.ACCEPT_LEADERSHIP)
    assert local.series is SeriesStatus.NOT_STARTED


class TestDeploy:
    @pytest.mark.parametrize("variant", Variant)
    def test_upgrade_commit(self, variant: Variant) -> None:
        before = replace(IDLE, conflicted=True, leader_settings_version=3)
        local = committed(prepare(before, replace(UPGRADE, variant=variant), REMOTE), UPGRADE)
        assert (local.current_charm_url, local.charm_modified_version) == ("ch:2", 4)
        assert (local.restart, local.conflicted, local.leader_settings_version) == (True, False, 0)
        assert not restarted(local).restart

    def test_install_commit(self) -> None:
        local = committed(prepare(initial_state("ch:1"), INSTALL, REMOTE), INSTALL)
        assert (local.current_charm_url, local.charm_modified_version, local.restart) == ("ch:1", 3, False)

    def test_done_already(self) -> None:
        done = replace(IDLE, kind=OperationKind.UPGRADE, step=Step.DONE, charm_url="ch:2")
        assert skip_reason(done, UPGRADE, REMOTE)
        assert not skip_reason(done, replace(UPGRADE, charm_url="ch:3"), REMOTE)
        assert not skip_reason(replace(done, step=Step.PENDING), UPGRADE, REMOTE)

    @pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.INTERRUPTED, Outcome.TERMINATED])
    def test_failure_keeps_the_state(self, outcome: Outcome) -> None:
        pending = prepare(IDLE, UPGRADE, REMOTE)
        assert executed(pending, UPGRADE, outcome) == pending

    def test_conflict(self) -> None:
        pending = prepare(IDLE, UPGRADE, REMOTE)
        assert executed(pending, UPGRADE, Outcome.CONFLICT) == replace(pending, conflicted=True)


class TestHookOutcomes:
    PENDING = prepare(replace(IDLE, retry_timer_running=True, retry_attempt=2), RUN, REMOTE)

    def test_prepare_uses_the_tick_up(self) -> None:
        assert (self.PENDING.retry_hook_version, self.PENDING.retry_timer_running) == (2, False)
        assert self.PENDING.retry_attempt == 2

    @pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.MISSING, Outcome.REBOOT_AFTER])
    def test_success(self, outcome: Outcome) -> None:
        assert is_success(outcome)
        assert short(executed(self.PENDING, RUN, outcome)) == "run-hook/done[config-changed, done]"

    @pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.INTERRUPTED])
    def test_failure_changes_nothing(self, outcome: Outcome) -> None:
        assert not is_success(outcome)
        assert executed(self.PENDING, RUN, outcome) == self.PENDING

    @pytest.mark.parametrize("outcome", [Outcome.TERMINATED, Outcome.REBOOT_NOW, Outcome.NOT_STARTED])
    def test_queued_again(self, outcome: Outcome) -> None:
        assert short(executed(self.PENDING, RUN, outcome)) == "run-hook/queued[config-changed, queued]"

    def test_status_set_sticks_even_on_failure(self) -> None:
        local = executed(self.PENDING, RUN, Outcome.FAILED, status_set=True)
        assert local.status_set
        assert executed(local, RUN, Outcome.OK).status_set


def run_and_commit(before: LocalState, kind: HookKind, **seen: Any) -> LocalState:
    """Run a plain hook well."""
    operation = Operation(name=OperationName.RUN_HOOK, hook=HookInfo(kind=kind), seen=Seen(**seen))
    return committed(executed(prepare(before, operation, REMOTE), operation, Outcome.OK), operation)


FLAGS = [
    (HookKind.INSTALL, {"removed": True}, {"installed": True, "removed": False}),
    (HookKind.START, {"stopped": True}, {"started": True, "stopped": False}),
    (HookKind.STOP, {"started": True}, {"started": True, "stopped": True}),
    (HookKind.REMOVE, {"installed": True}, {"installed": True, "removed": True}),
    (HookKind.UPDATE_STATUS, {}, {"installed": False, "started": False}),
]


@pytest.mark.parametrize(("kind", "before", "after"), FLAGS)
def test_flags(kind: HookKind, before: dict[str, bool], after: dict[str, bool]) -> None:
    """6.3, 3."""
    local = run_and_commit(LocalState(**before), kind)
    assert {key: getattr(local, key) for key in after} == after


def test_queue_after_a_commit() -> None:
    """6.3, 2."""
    assert (
        short(run_and_commit(replace(IDLE, started=False), HookKind.CONFIG_CHANGED))
        == "run-hook/queued[start, queued]"
    )
    assert short(run_and_commit(IDLE, HookKind.CONFIG_CHANGED)) == "continue/pending"
    assert short(run_and_commit(IDLE, HookKind.UPGRADE_CHARM)) == "run-hook/queued[config-changed, queued]"
    assert short(run_and_commit(IDLE, HookKind.START)) == "continue/pending"


def test_taken_over_as_seen_when_made() -> None:
    """6.3, 4 and 5: a change during the hook is not swallowed, but a tick is."""
    seen = {"config_hash": "c1", "trust_hash": "t1", "addresses_hash": "a1", "update_status_version": 5,
            "charm_modified_version": 9, "leader_settings_version": 7}  # fmt: skip
    local = run_and_commit(IDLE, HookKind.CONFIG_CHANGED, **seen)
    assert (local.config_hash, local.trust_hash, local.addresses_hash) == ("c1", "t1", "a1")
    assert (local.update_status_version, local.charm_modified_version, local.leader_settings_version) == (
        5,
        0,
        0,
    )
    other = run_and_commit(IDLE, HookKind.LEADER_SETTINGS_CHANGED, **seen)
    assert (other.config_hash, other.leader_settings_version) == ("", 7)


def test_change_during_the_hook_makes_another_run(idle: WORLD) -> None:
    world = idle(config_hash="new")
    operation = world.decide().operation
    local = prepare(world.local, operation, world.remote)
    world.local = committed(executed(local, operation, Outcome.OK), operation)
    world.model(config_hash="newer")
    assert world.new_hooks() == ["config-changed"]


HOOKS = [
    ("relation-changed without application", HookInfo(kind=HookKind.RELATION_CHANGED, relation_id=0), False),
    (
        "relation-changed without unit",
        HookInfo(kind=HookKind.RELATION_CHANGED, relation_id=0, remote_application="pg"),
        True,
    ),
    (
        "relation-joined without unit",
        HookInfo(kind=HookKind.RELATION_JOINED, relation_id=0, remote_application="pg"),
        False,
    ),
    (
        "relation-departed without application",
        HookInfo(kind=HookKind.RELATION_DEPARTED, relation_id=0, remote_unit="pg/0"),
        False,
    ),
    ("relation-created", HookInfo(kind=HookKind.RELATION_CREATED, relation_id=0), True),
    ("relation-broken without relation", HookInfo(kind=HookKind.RELATION_BROKEN), False),
    ("storage", HookInfo(kind=HookKind.STORAGE_ATTACHED, storage_id="data/0"), True),
    ("storage without number", HookInfo(kind=HookKind.STORAGE_ATTACHED, storage_id="data"), False),
    ("secret", HookInfo(kind=HookKind.SECRET_ROTATE, secret_uri="secret:9m4e2mr0ui3e8a215n4g"), True),
    (
        "secret of another model",
        HookInfo(
            kind=HookKind.SECRET_CHANGED,
            secret_uri="secret://deadbeef-0bad-400d-8000-4b1d0d06f00d/9m4e2mr0ui3e8a215n4g",
        ),
        True,
    ),
    ("secret without URI", HookInfo(kind=HookKind.SECRET_ROTATE), False),
    (
        "expired without revision",
        HookInfo(kind=HookKind.SECRET_EXPIRED, secret_uri="secret:9m4e2mr0ui3e8a215n4g"),
        False,
    ),
    (
        "remove with revision",
        HookInfo(kind=HookKind.SECRET_REMOVE, secret_uri="secret:9m4e2mr0ui3e8a215n4g", secret_revision=1),
        True,
    ),
    ("pre-series-upgrade without target", HookInfo(kind=HookKind.PRE_SERIES_UPGRADE), False),
    ("post-series-upgrade", HookInfo(kind=HookKind.POST_SERIES_UPGRADE), True),
]


@pytest.mark.parametrize(("hook", "valid"), [pytest.param(*case[1:], id=case[0]) for case in HOOKS])
def test_hook_validity(hook: HookInfo, valid: bool) -> None:
    """2.5."""
    if valid:
        validate_hook(hook)
    else:
        with pytest.raises(NotValid):
            validate_hook(hook)


STATES = [
    ("install without charm", {"kind": OperationKind.INSTALL, "installed": False}),
    ("install of an installed unit", {"kind": OperationKind.INSTALL, "charm_url": "ch:1"}),
    ("upgrade with action", {"kind": OperationKind.UPGRADE, "charm_url": "ch:1", "action_id": "1"}),
    ("run-action without action", {"kind": OperationKind.RUN_ACTION}),
    ("run-action with charm", {"kind": OperationKind.RUN_ACTION, "action_id": "1", "charm_url": "ch:1"}),
    ("run-hook without hook", {"kind": OperationKind.RUN_HOOK}),
    ("run-hook with charm", {"kind": OperationKind.RUN_HOOK, "hook": START, "charm_url": "ch:1"}),
    ("run-hook with action", {"kind": OperationKind.RUN_HOOK, "hook": START, "action_id": "1"}),
    (
        "run-hook with a bad hook",
        {"kind": OperationKind.RUN_HOOK, "hook": HookInfo(kind=HookKind.STORAGE_ATTACHED)},
    ),
    ("continue with hook", {"hook": START}),
    ("continue with action", {"action_id": "1"}),
    ("continue with charm", {"charm_url": "ch:1"}),
]


@pytest.mark.parametrize("parts", [pytest.param(case[1], id=case[0]) for case in STATES])
def test_state_validity(parts: dict[str, Any]) -> None:
    """3.1."""
    with pytest.raises(NotValid):
        validate_local(replace(IDLE, **parts))


def test_valid_states() -> None:
    for local in (IDLE, ERROR, initial_state("ch:1")):
        validate_local(local)


RELATION = {"relation_id": 1, "remote_application": "pg"}
URI = "secret:9m4e2mr0ui3e8a215n4g"
MESSAGES = [
    (CONFIG, "running config-changed hook"),
    (HookInfo(kind=HookKind.UPDATE_STATUS), None),
    (
        HookInfo(kind=HookKind.RELATION_JOINED, remote_unit="pg/0", **RELATION),
        "running db-relation-joined hook for pg/0",
    ),
    (HookInfo(kind=HookKind.RELATION_BROKEN, **RELATION), "running db-relation-broken hook"),
    (HookInfo(kind=HookKind.STORAGE_ATTACHED, storage_id="data/0"), "running data-storage-attached hook"),
    (
        HookInfo(kind=HookKind.SECRET_ROTATE, secret_uri=URI, secret_revision=2),
        f"running secret-rotate hook for {URI}",
    ),
    (
        HookInfo(kind=HookKind.SECRET_REMOVE, secret_uri=URI, secret_revision=2),
        f"running secret-remove hook for {URI}/2",
    ),
    (
        HookInfo(kind=HookKind.SECRET_EXPIRED, secret_uri=URI, secret_revision=2),
        f"running secret-expired hook for {URI}/2",
    ),
]


@pytest.mark.parametrize(("hook", "message"), MESSAGES)
def test_executing_message(hook: HookInfo, message: str | None) -> None:
    """18.4."""
    endpoint = "db" if hook.kind.is_relation else ""
    operation = Operation(name=OperationName.RUN_HOOK, hook=hook, endpoint=endpoint)
    assert executing_message(operation) == message
    if message:
        assert message.startswith(f"running {hook_name(hook, endpoint)} hook")


def test_executing_message_of_other_operations() -> None:
    assert executing_message(ACTION) == "running action dump"
    assert executing_message(Operation(name=OperationName.RUN_COMMANDS)) == "running commands"
    assert executing_message(UPGRADE) is None


BEFORE = [
    (HookKind.INSTALL, False, ("maintenance", "installing charm software")),
    (HookKind.INSTALL, True, None),
    (HookKind.STOP, True, ("maintenance", "stopping charm software")),
    (HookKind.REMOVE, True, ("maintenance", "cleaning up prior to charm deletion")),
    (HookKind.START, False, None),
]
AFTER = [
    (HookKind.START, False, ("unknown", "")),
    (HookKind.START, True, None),
    (HookKind.STOP, True, ("maintenance", "")),
    (HookKind.REMOVE, True, ("terminated", "")),
    (HookKind.INSTALL, False, None),
]


@pytest.mark.parametrize(("kind", "status_set", "status"), BEFORE)
def test_workload_before(kind: HookKind, status_set: bool, status: tuple[str, str] | None) -> None:
    """18.3."""
    operation = Operation(name=OperationName.RUN_HOOK, hook=HookInfo(kind=kind))
    found = workload_before(LocalState(status_set=status_set), operation)
    assert ((found.status, found.message) if found else None) == status
    assert workload_before(IDLE, ACTION) is None


@pytest.mark.parametrize(("kind", "status_set", "status"), AFTER)
def test_workload_after(kind: HookKind, status_set: bool, status: tuple[str, str] | None) -> None:
    """18.3: only after success, and never after a skip."""
    operation = Operation(name=OperationName.RUN_HOOK, hook=HookInfo(kind=kind))
    found = workload_after(IDLE, operation, success=True, status_set=status_set)
    assert ((found.status, found.message) if found else None) == status
    assert workload_after(IDLE, operation, success=False) is None
    assert workload_after(IDLE, replace(operation, name=OperationName.SKIP_HOOK), success=True) is None


TEXTS = [
    (INSTALL, "install ch:1"),
    (UPGRADE, "upgrade to ch:2"),
    (replace(UPGRADE, variant=Variant.RESUMED), "continue upgrade to ch:2"),
    (replace(UPGRADE, variant=Variant.FORCED), "switch upgrade to ch:2"),
    (RUN, "run config-changed hook"),
    (FAIL, "fail action 7"),
    (
        Operation(
            name=OperationName.RUN_HOOK,
            hook=HookInfo(kind=HookKind.RELATION_DEPARTED, remote_unit="pg/0", departee="pg/0", **RELATION),
        ),
        "run relation-departed (1; unit: pg/0, departee: pg/0) hook",
    ),
    (Operation(name=OperationName.ACCEPT_LEADERSHIP), "accept leadership"),
]


@pytest.mark.parametrize(("operation", "text"), TEXTS)
def test_text(operation: Operation, text: str) -> None:
    assert operation.text == text


def test_effects_that_the_local_state_notes() -> None:
    armed = apply_effects(IDLE, [Effect(kind=EffectKind.ARM_RETRY_TIMER, attempt=3)])
    assert (armed.retry_timer_running, armed.retry_attempt) == (True, 3)
    assert apply_effects(armed, [Effect(kind=EffectKind.DISARM_RETRY_TIMER)]) == IDLE
    entered = apply_effects(IDLE, [Effect(kind=EffectKind.ENTER_SCOPE, relation_id=0)])
    assert entered.relations == {0: RelationRecord()}
    known = replace(IDLE, relations={0: RelationRecord(created=True)})
    assert apply_effects(known, [Effect(kind=EffectKind.ENTER_SCOPE, relation_id=0)]) == known
    assert apply_effects(entered, [Effect(kind=EffectKind.FORGET_RELATION, relation_id=0)]) == IDLE
    assert apply_effects(IDLE, [Effect(kind=EffectKind.REPORT_IDLE)]) == IDLE
