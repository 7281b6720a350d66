"""Actions from the request to the result, on a real store with machines played in this process."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core import limits
from pushjuju.services.entities.basis import logs
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import ActionRequest, CommandRequest
from pushjuju.services.views import tasks
from pushjuju.uniter.commit import take_events, take_flood
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.machine import event

ACTIONS = """
backup:
  params: {level: {type: integer, default: 3}}
  execution-group: disk
ping: {parallel: true}
plain: {}
"""


@pytest.fixture(autouse=True)
def unit(runtime: TestController) -> None:
    """A unit at rest of a charm with actions."""
    runtime.active(packed=runtime.charms.make(files={"actions.yaml": ACTIONS}))
    runtime.clear()
    runtime.played().frames.clear()


def run(world: TestController, action: str = "backup", unit: str = "web/0", **parameters: Any) -> int:
    request = ActionRequest(action=action, receivers=[unit], parameters=parameters)
    return operations.enqueue(world.ctx, world.model, request).tasks[0].id


def execute(world: TestController, command: str = "date", timeout_s: float = 300, **more: Any) -> int:
    request = CommandRequest(command=command, timeout_s=timeout_s, units=["web/0"], **more)
    return operations.enqueue_commands(world.ctx, world.model, request).tasks[0].id


def task(world: TestController, number: int) -> dict[str, Any]:
    """Return a task without its times."""
    document = tasks.show_task(world.ctx, world.model, number)
    document.pop("timing")
    return document


def result(outcome: str = "ok", code: int | None = 0, **more: Any) -> dict[str, Any]:
    plain = {"outcome": outcome, "exit": code, "signal": None, "message": "", "writes": {}, "events": []}
    return {**plain, **more}


def said(**action: Any) -> dict[str, Any]:
    return {"action": {"results": {}, "failed": False, "message": "", **action}, "state": {"done": "yes"}}


def state(world: TestController) -> dict[str, str]:
    rows = world.read(lambda tx: tx.rows("charm_state_list", unit="web/0"))
    return {row["key"]: row["value"] for row in rows}


# --- the request ------------------------------------------------------------------------------------------


def test_an_action_as_the_machine_gets_it(runtime: TestController) -> None:
    number = run(runtime, level=9)
    frame = runtime.prepared().frame
    assert (frame["kind"], frame["action"], frame["unit"], frame["lock"]) == (
        "action", "backup", "web/0", "disk",
    )  # fmt: skip
    assert frame["context"]["kind"] == "action"
    assert frame["context"]["action"] == {"name": "backup", "id": str(number), "params": {"level": 9}}
    env = frame["env"]
    assert {name: env[name] for name in env if "ACTION" in name or "HOOK" in name or "DISPATCH" in name} == {
        "JUJU_HOOK_NAME": "",
        "JUJU_DISPATCH_PATH": "actions/backup",
        "JUJU_ACTION_NAME": "backup",
        "JUJU_ACTION_UUID": str(number),
        "JUJU_ACTION_TAG": f"action-{number}",
    }
    assert not [name for name in env if name.startswith(("JUJU_RELATION", "JUJU_REMOTE", "JUJU_STORAGE"))]
    assert runtime.agent() == ("executing", "running action backup")
    assert task(runtime, number)["status"] == "running"


@pytest.mark.parametrize(("action", "lock"), [("backup", "disk"), ("ping", ""), ("plain", "machine")])
def test_the_lock_is_the_charms_choice(runtime: TestController, action: str, lock: str) -> None:
    run(runtime, action)
    assert runtime.prepared().frame["lock"] == lock


def test_commands_as_the_machine_gets_them(runtime: TestController) -> None:
    execute(runtime, "echo $JUJU_UNIT_NAME", 1.5)
    frame = runtime.prepared().frame
    assert (frame["kind"], frame["script"], frame["timeout"], frame["lock"]) == (
        "commands", "echo $JUJU_UNIT_NAME", 1.5, "",
    )  # fmt: skip
    assert frame["context"]["kind"] == "commands"
    assert frame["context"]["action"] is None
    env = frame["env"]
    assert env["JUJU_HOOK_NAME"] == ""
    assert not [name for name in env if "ACTION" in name or "DISPATCH" in name]
    assert runtime.agent() == ("executing", "running action juju-exec")


@pytest.mark.parametrize(
    ("more", "lock"),
    [({"parallel": False}, "machine"), ({"execution_group": "disk"}, "disk"), ({}, "")],
)
def test_commands_choose_their_lock(runtime: TestController, more: dict[str, Any], lock: str) -> None:
    execute(runtime, **more)
    assert runtime.prepared().frame["lock"] == lock


# --- the result -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "status", "message", "results", "kept"),
    [
        (result(writes=said()), "completed", "", {"return-code": 0}, True),
        (
            result(writes=said(results={"size": {"total": "3M"}}), stdout="a\nb", stderr="c\n"),
            "completed",
            "",
            {"return-code": 0, "size": {"total": "3M"}, "stdout": "a\nb\n", "stderr": "c\n"},
            True,
        ),
        (result(writes=said(failed=True, message="m")), "failed", "m", {"return-code": 0}, True),
        (
            result("failed", 3, message="exit status 3", writes={"action": {"results": {"a": "b"}}}),
            "failed",
            "exit status 3",
            {"return-code": 3, "a": "b"},
            False,
        ),
        (
            result("failed", 3, message="exit status 3", writes={"action": {"failed": True, "message": "m"}}),
            "failed",
            "exit status 3",
            {"return-code": 3},
            False,
        ),
        (
            result("missing", None),
            "failed",
            'action not implemented on unit "web/0"',
            {},
            False,
        ),
        (
            result("interrupted", None, signal=9, message="terminated"),
            "aborted",
            "terminated",
            {"return-code": -1},
            False,
        ),
        (
            result("interrupted", None, message="cancelled before it started"),
            "aborted",
            "terminated",
            {},
            False,
        ),
        (result("terminated", None, recovered=True, message="x"), "failed", "action terminated", {}, False),
        (
            result("terminated", None, signal=9, message="signal: killed"),
            "failed",
            "signal: killed",
            {"return-code": -1},
            False,
        ),
        (
            {**result("failed", None, message="charm missing from disk"), "code": "charm-gone"},
            "failed",
            "charm missing from disk",
            {},
            False,
        ),
        (result("error", None, message="the disk is full"), "failed", "the disk is full", {}, False),
        (
            result(stdout="/w==", **{"stdout-encoding": "base64"}),
            "completed",
            "",
            {"return-code": 0, "stdout": "/w==", "stdout-encoding": "base64"},
            False,
        ),
    ],
)
def test_how_an_action_ends(
    runtime: TestController,
    answer: dict[str, Any],
    status: str,
    message: str,
    results: dict[str, Any],
    kept: bool,
) -> None:
    number = run(runtime)
    runtime.played().will("action", answer)
    runtime.settle()
    found = task(runtime, number)
    assert (found["status"], found.get("message", ""), found.get("results", {})) == (status, message, results)
    assert state(runtime) == ({"done": "yes"} if kept else {})
    assert runtime.agent() == ("idle", "")
    assert len(runtime.played().frames) == 1


@pytest.mark.parametrize(
    ("answer", "status", "message", "results", "kept"),
    [
        (
            result(
                "failed", 7, message="exit status 7", writes={"state": {"done": "yes"}}, stdout="no newline"
            ),
            "completed",
            "",
            {"return-code": 7, "stdout": "no newline"},
            True,
        ),
        (
            {
                **result("interrupted", None, signal=15, message="command cancelled", stdout="so far\n"),
                "code": "timed-out",
            },
            "failed",
            "command cancelled",
            {"return-code": -1, "stdout": "so far\n"},
            False,
        ),
        (
            result("interrupted", None, signal=9, message="terminated"),
            "aborted",
            "terminated",
            {"return-code": -1},
            False,
        ),
    ],
)
def test_how_commands_end(
    runtime: TestController,
    answer: dict[str, Any],
    status: str,
    message: str,
    results: dict[str, Any],
    kept: bool,
) -> None:
    number = execute(runtime)
    runtime.played().will("commands", answer)
    runtime.settle()
    found = task(runtime, number)
    assert (found["status"], found.get("message", ""), found.get("results", {})) == (status, message, results)
    assert state(runtime) == ({"done": "yes"} if kept else {})


REFUSED = {"ports": {"open": [{"endpoint": "no", "protocol": "tcp", "from": 1, "to": 1}], "close": []}}
PORTS = 'cannot open/close ports: open port range: endpoint "no" for unit "web/0" not found'


@pytest.mark.parametrize(
    ("writes", "message"),
    [
        (REFUSED, "committing requested changes failed"),
        ({**REFUSED, **said(failed=True, message="m", results={"a": "b"})}, "m"),
    ],
)
def test_changes_that_cannot_be_taken_fail_the_action(
    runtime: TestController, writes: dict[str, Any], message: str
) -> None:
    number = run(runtime)
    runtime.played().will("action", result(writes=writes, stderr="said\n"))
    runtime.settle()
    found = task(runtime, number)
    assert (found["status"], found["message"]) == ("failed", message)
    assert found["results"]["stderr"] == f"said\n{PORTS}\n"
    assert found["results"]["return-code"] == 1
    assert found["results"].get("a") == writes.get("action", {}).get("results", {}).get("a")
    assert state(runtime) == {}


def test_progress_is_kept_as_it_comes(runtime: TestController) -> None:
    number = run(runtime)
    dispatch = runtime.prepared()
    take_events(runtime.ctx, dispatch.id, [(1, event(1, "action-log", message="half way")["e"])])
    assert [line["message"] for line in task(runtime, number)["log"]] == ["half way"]
    late = [event(1, "action-log", message="half way"), event(2, "action-log", message="there")]
    runtime.commit(dispatch, result("failed", 1, message="exit status 1", events=late))
    assert [line["message"] for line in task(runtime, number)["log"]] == ["half way", "there"]


# --- when -------------------------------------------------------------------------------------------------


def test_actions_run_one_after_the_other(runtime: TestController) -> None:
    numbers = [run(runtime, "plain"), run(runtime), run(runtime, "ping")]
    runtime.settle()
    assert [frame["action"] for frame in runtime.played().frames] == ["plain", "backup", "ping"]
    assert {task(runtime, number)["status"] for number in numbers} == {"completed"}


def test_an_action_runs_while_a_hook_is_in_error(runtime: TestController) -> None:
    runtime.played().fail("update-status")
    runtime.clock.advance(100_000)
    runtime.settle()
    assert runtime.agent() == ("error", 'hook failed: "update-status"')
    number = run(runtime)
    runtime.played().will("action", result("failed", 1, message="exit status 1"))
    runtime.settle()
    assert task(runtime, number)["status"] == "failed"
    assert runtime.agent() == ("error", 'hook failed: "update-status"')
    assert [frame["kind"] for frame in runtime.played().frames] == ["hook", "action"]


def test_an_action_waits_for_the_first_install(runtime: TestController) -> None:
    packed = runtime.charms.make("db", peers=None, files={"actions.yaml": ACTIONS})
    runtime.deploy("db", packed=packed, base=UBUNTU)
    number = run(runtime, "plain", "db/0")
    runtime.settle()
    assert task(runtime, number)["status"] == "completed"
    kinds = [frame.get("hook") or frame["kind"] for frame in runtime.played("1").frames]
    assert kinds == ["deploy", "install", "leader-elected", "action", "config-changed", "start"]


def test_an_action_that_was_cut_off_is_failed_and_not_run_again(runtime: TestController) -> None:
    number = run(runtime)
    dispatch = runtime.prepared()
    runtime.commit(dispatch, result("terminated", None, recovered=True))
    assert task(runtime, number)["status"] == "running"
    runtime.settle()
    assert (task(runtime, number)["status"], task(runtime, number)["message"]) == (
        "failed",
        "action terminated",
    )
    assert runtime.played().frames == []


def test_a_cancelled_action_is_not_run(runtime: TestController) -> None:
    number = run(runtime)
    operations.cancel(runtime.ctx, runtime.model, [number])
    runtime.settle()
    assert task(runtime, number)["status"] == "cancelled"
    assert runtime.played().frames == []


def test_an_action_that_the_new_charm_lacks_is_failed_before_it_runs(runtime: TestController) -> None:
    other = runtime.charms.make(files={"actions.yaml": "backup: {params: {level: {type: string}}}\n"})
    runtime.refresh(other)
    upgrade = runtime.prepared()
    numbers = [run(runtime, "plain"), run(runtime, "backup")]
    runtime.commit(upgrade, runtime.played().run(upgrade.frame))
    runtime.settle()
    assert [task(runtime, number)["message"] for number in numbers] == [
        'cannot run "plain" action: not defined',
        'cannot run "backup" action: validation failed: (root).level : must be of type string, given 3',
    ]
    assert "action" not in [frame["kind"] for frame in runtime.played().frames]


def test_a_unit_that_goes_cancels_what_waits(runtime: TestController) -> None:
    from pushjuju.services.lifecycle import removal

    number, unit = run(runtime), runtime.unit("web/0")
    runtime.write(lambda tx: removal.remove_unit(tx, unit))
    assert (task(runtime, number)["status"], task(runtime, number)["message"]) == (
        "cancelled",
        "unit removed",
    )


def test_what_an_action_prints_is_logged(runtime: TestController) -> None:
    run(runtime)
    runtime.played().will("action", result(stdout="quiet\n", stderr="a\nb"))
    execute(runtime)
    runtime.played().will("commands", result(stderr="not logged\n"))
    runtime.settle()
    rows = runtime.read(lambda tx: tx.rows("log_after", after=0, limit=1000, levels="", entities=""))
    found = [(row["level"], row["module"], row["message"]) for row in rows]
    assert found == [("WARNING", "unit.web/0.backup", "a"), ("WARNING", "unit.web/0.backup", "b")]


def test_an_action_that_prints_very_many_lines_holds_nobody_up(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OUTPUT_LINES", 3 * limits.EVENTS_AT_ONCE)
    run(runtime)
    dispatch = runtime.prepared()
    text = "".join(f"line {n}\n" for n in range(4 * limits.EVENTS_AT_ONCE))
    parts = take_flood(runtime.ctx, dispatch.id, result(stderr=text))
    next(parts)
    parts.close()  # it dies here, and goes on
    assert runtime.commit(dispatch, result(stderr=text)).ok
    found = [row.message for row in logs.after(runtime.ctx.store, runtime.model, 0)]
    assert found == [
        *(f"line {n}" for n in range(3 * limits.EVENTS_AT_ONCE)),
        f"{limits.EVENTS_AT_ONCE} more lines are in the results of the action only",
    ]


def test_commands_may_ask_for_a_reboot(runtime: TestController) -> None:
    number = execute(runtime, "juju-reboot")
    done = runtime.commit(runtime.prepared(), result(reboot="after", writes={"reboot": "after"}))
    assert done.reboot
    assert runtime.agent() == ("rebooting", "")
    assert task(runtime, number)["status"] == "completed"
