"""Actions: when they run, their locks, and what becomes of those that are cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pushjuju.uniter.decide.decision import Answer
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.remote import PendingAction, RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, Step
from pushjuju.uniter.state.operation import Outcome, committed, skip_reason
from tests.world.decided_unit import decided_text

WORLD = Callable[..., Any]
REMOTE = RemoteState(unit="web/0", charm_url="ch:1")
IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
A, B = "secret:aaaaaaaaaaaaaaaaaaaa", "secret:bbbbbbbbbbbbbbbbbbbb"


RUN = {"kind": OperationKind.RUN_HOOK, "hook": HookInfo(kind=HookKind.START)}
FIRST, SECOND = PendingAction(id="1", name="dump"), PendingAction(id="2", name="load")
ACTIONS = [
    ("continue", {}, "run action 1"),
    ("hook error", {**RUN, "step": Step.PENDING}, "run action 1"),
    ("hook queued", {**RUN, "step": Step.QUEUED}, "run start hook"),
    ("hook done", {**RUN, "step": Step.DONE}, "run start hook"),
    ("completed", {"completed_actions": frozenset({"1"})}, "run action 2"),
    ("run-action pending", {"kind": OperationKind.RUN_ACTION, "action_id": "1"}, "fail action 1"),
    (
        "run-action done",
        {"kind": OperationKind.RUN_ACTION, "action_id": "0", "step": Step.DONE},
        "run action 0",
    ),
]


@pytest.mark.parametrize(("local", "answer"), [pytest.param(*case[1:], id=case[0]) for case in ACTIONS])
def test_actions(local: dict[str, Any], answer: str) -> None:
    """15.1, with the recommendations for cut-off actions."""
    assert decided_text(replace(IDLE, **local), replace(REMOTE, actions=(FIRST, SECOND))) == answer


class TestActionStories:
    LOCKS = (
        (FIRST, "machine-lock"),
        (replace(FIRST, parallel=True), ""),
        (replace(FIRST, parallel=True, execution_group="backup"), "machine-lock-backup"),
    )

    @pytest.mark.parametrize(("action", "lock"), LOCKS)
    def test_lock(self, action: PendingAction, lock: str) -> None:
        """6.4."""
        operation = decide(IDLE, replace(REMOTE, actions=(action,))).operation
        assert operation is not None
        assert (operation.lock, operation.action_name) == (lock, "dump")

    def test_one_after_the_other(self, idle: WORLD) -> None:
        world = idle(actions=(FIRST, SECOND), commands=("1",))
        world.settle()
        assert world.operations == ["run action 1", "run action 2", "run commands"]
        assert world.local.kind is OperationKind.CONTINUE

    @pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.FAILED])
    def test_failing_script_is_over_too(self, idle: WORLD, outcome: Outcome) -> None:
        world = idle(actions=(FIRST,))
        world.fail("run action 1", outcome=outcome)
        assert world.settle().answer is Answer.IDLE
        assert world.operations == ["run action 1"]

    def test_unknown_fate_is_never_run_again(self, idle: WORLD) -> None:
        world = idle(actions=(FIRST,))
        world.fail("run action 1", outcome=Outcome.INTERRUPTED)
        world.settle()
        assert world.operations == ["run action 1", "fail action 1"]

    def test_never_began(self, idle: WORLD) -> None:
        world = idle(actions=(FIRST,))
        world.fail("run action 1", outcome=Outcome.NOT_STARTED)
        world.settle()
        assert world.operations == ["run action 1", "run action 1"]

    def test_error_is_back_after_an_action(self, idle: WORLD) -> None:
        world = idle(config_hash="new")
        world.fail("config-changed")
        world.settle()
        world.model(actions=(FIRST,))
        decision = world.settle()
        assert decision.reason.startswith('hook failed: "config-changed"')
        assert world.hooks == ["config-changed"]

    def test_cancelled_before_the_run(self) -> None:
        operation = decide(IDLE, replace(REMOTE, actions=(FIRST,))).operation
        assert operation is not None
        assert skip_reason(IDLE, operation, REMOTE) == "the action is no longer pending"
        assert committed(IDLE, operation).kind is OperationKind.CONTINUE
