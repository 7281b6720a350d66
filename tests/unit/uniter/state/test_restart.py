"""What a stored state means when the controller starts again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pushjuju.uniter.decide.decision import Answer, EffectKind, Operation, OperationName
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.remote import PendingAction, RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, Step, initial_state
from pushjuju.uniter.state.operation import Outcome, committed, executed, prepare, skip_reason

REMOTE = RemoteState(unit="web/0", charm_url="ch:1", config_hash="c")
HOOK = HookInfo(kind=HookKind.CONFIG_CHANGED)
INSTALLED = LocalState(installed=True, current_charm_url="ch:1", leader_settings_version=1)
RUN_HOOK = {"kind": OperationKind.RUN_HOOK, "hook": HOOK}
ACTION = {"kind": OperationKind.RUN_ACTION, "action_id": "7"}
INSTALL = {"kind": OperationKind.INSTALL, "charm_url": "ch:1", "installed": False}
UPGRADE = {"kind": OperationKind.UPGRADE, "charm_url": "ch:2"}


def act(local: LocalState, remote: RemoteState = REMOTE) -> tuple[Operation, bool, LocalState]:
    """Decide and succeed; return the operation, whether it ran, and the state after its commit."""
    operation = decide(local, remote).operation
    assert operation is not None
    runs = operation.name is not OperationName.SKIP_HOOK and not skip_reason(local, operation, remote)
    if runs:
        local = executed(prepare(local, operation, remote), operation, Outcome.OK)
    return operation, runs, committed(local, operation)


def test_nothing_stored() -> None:
    operation, runs, local = act(initial_state("ch:1"))
    assert (operation.text, runs) == ("install ch:1", True)
    assert (local.kind, local.step) == (OperationKind.RUN_HOOK, Step.QUEUED)
    assert local.hook == HookInfo(kind=HookKind.INSTALL)


# id, stored state, operation, whether it runs
ROWS = [
    ("install/queued", {**INSTALL, "step": Step.QUEUED}, "install ch:1", True),
    ("install/pending", {**INSTALL, "step": Step.PENDING}, "install ch:1", True),
    ("install/done", {**INSTALL, "step": Step.DONE}, "install ch:1", False),
    ("run-hook/queued", {**RUN_HOOK, "step": Step.QUEUED}, "run config-changed hook", True),
    ("run-hook/done", {**RUN_HOOK, "step": Step.DONE}, "run config-changed hook", False),
    ("run-action/pending", {**ACTION, "step": Step.PENDING}, "fail action 7", True),
    ("run-action/pending with hook", {**ACTION, "step": Step.PENDING, "hook": HOOK}, "fail action 7", True),
    ("run-action/done", {**ACTION, "step": Step.DONE}, "run action 7", False),
    ("run-action/done with hook", {**ACTION, "step": Step.DONE, "hook": HOOK}, "run action 7", False),
    ("upgrade/queued", {**UPGRADE, "step": Step.QUEUED}, "upgrade to ch:2", True),
    ("upgrade/pending", {**UPGRADE, "step": Step.PENDING}, "upgrade to ch:2", True),
    ("upgrade/done", {**UPGRADE, "step": Step.DONE}, "upgrade to ch:2", False),
    ("continue", {}, "run config-changed hook", True),
]


@pytest.mark.parametrize(("stored", "text", "runs"), [pytest.param(*case[1:], id=case[0]) for case in ROWS])
def test_stored_state(stored: dict[str, Any], text: str, runs: bool) -> None:
    """7.1: what comes next, and whether it is run or committed only."""
    upgrading = stored.get("kind") is OperationKind.UPGRADE
    # Another action waits: it must not be taken for the one that was cut off.
    waiting = (PendingAction(id="8", name="next"),) if "action_id" in stored else ()
    remote = replace(REMOTE, charm_url="ch:2" if upgrading else "ch:1", actions=waiting)
    operation, ran, _ = act(replace(INSTALLED, **stored), remote)
    assert (operation.text, ran) == (text, runs)


def test_pending_hook_counts_as_failed() -> None:
    decision = decide(replace(INSTALLED, **RUN_HOOK, step=Step.PENDING), REMOTE)
    assert (decision.answer, decision.operation) == (Answer.IDLE, None)
    assert decision.effects[0].kind is EffectKind.REPORT_ERROR


@pytest.mark.parametrize("step", [Step.PENDING, Step.DONE])
def test_action_returns_to_its_hook(step: Step) -> None:
    """The kept hook stays in error: Juju would commit it."""
    local = replace(INSTALLED, **ACTION, step=step, hook=HOOK, hook_step=Step.PENDING)
    _, _, after = act(local)
    assert (after.kind, after.hook, after.hook_progress) == (OperationKind.RUN_HOOK, HOOK, Step.PENDING)
    assert after.action_id == ""


def test_install_returns_to_its_hook() -> None:
    hook = HookInfo(kind=HookKind.INSTALL)
    local = replace(INSTALLED, **INSTALL, step=Step.DONE, hook=hook, hook_step=Step.PENDING)
    _, _, after = act(local)
    assert (after.hook, after.hook_progress) == (hook, Step.PENDING)


def test_upgrade_goes_on_toward_the_newest_charm() -> None:
    remote = replace(REMOTE, charm_url="ch:3")
    operation, ran, after = act(replace(INSTALLED, **UPGRADE, step=Step.DONE), remote)
    assert (operation.text, ran, after.current_charm_url) == ("upgrade to ch:3", True, "ch:3")


def test_a_mere_restart_runs_nothing() -> None:
    """7.3: a new controller process is no event for a unit, leader or not."""
    idle = replace(INSTALLED, started=True, config_hash="c")
    assert decide(idle, REMOTE).answer is Answer.IDLE
    assert decide(replace(idle, leader=True), replace(REMOTE, leader=True)).answer is Answer.IDLE


def test_lease_lost_meanwhile() -> None:
    idle = replace(INSTALLED, started=True, config_hash="c", leader=True, leader_settings_version=0)
    operation, _, local = act(idle)
    assert operation.text == "resign leadership"
    assert act(local)[0].text == "run leader-settings-changed hook"
