"""Results and messages of a hostile machine: each is taken whole, or fails its own operation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.services.entities.action import actions
from pushjuju.services.entities.action.actions import ActionRequest, CommandRequest
from pushjuju.uniter.commit import commit, take_events
from pushjuju.uniter.dispatch import Dispatch
from pushjuju.uniter.requests import Request
from pushjuju.workers.machine import commands
from tests.fuzz.conftest import Stage
from tests.fuzz.hostile import ODD, deep, fuzz, spoilt
from tests.world.controller import TestController

PORT = {"endpoint": "site", "protocol": "tcp", "from": 80, "to": 90}
EVENTS: list[dict[str, Any]] = [
    {"k": "log", "level": "INFO", "module": "unit.web/1.juju-log", "message": "hello", "time": 1.5},
    {"k": "output", "stream": "stderr", "line": "oops", "time": 2.5},
    {"k": "status", "scope": "unit", "status": "active", "message": "ready", "time": None},
    {"k": "status", "scope": "app", "status": "blocked", "message": "mine", "time": None},
    {"k": "action-log", "message": "half way", "time": 3},
    {"k": "version", "version": "1.2.3", "time": None},
]
NUMBERED = [{"seq": number, "e": event} for number, event in enumerate(EVENTS, 1)]
HOOK: dict[str, Any] = {
    "t": "result", "id": "x", "outcome": "ok", "exit": 0, "signal": None, "via": "hook", "message": "",
    "reboot": "", "started": 1.0, "ended": 2.0, "recovered": False, "events": NUMBERED,
    "writes": {
        "reboot": "", "status_set": True,
        "relations": {
            "0": {"unit": {"a": "1", "b": None}, "app": {}},
            "1": {"unit": {"c": "d"}, "app": {"e": "f"}},
        },
        "ports": {"open": [PORT], "close": [PORT]},
        "state": {"key": "value", "gone": None},
        "action": {"failed": False, "message": "", "results": {"a": {"b": "c"}}},
    },
}  # fmt: skip
ACTION = {**HOOK, "stdout": "out", "stderr": "aGk=", "stderr-encoding": "base64"}
HOOKS = st.one_of(
    spoilt(HOOK), spoilt(HOOK, {**HOOK, "outcome": "failed"}), ODD.map(lambda value: {"writes": value})
)


def at_hook(stage: Stage) -> Dispatch:
    """Let web/1, which does not lead, begin an update-status."""
    if "hook" not in stage.kept:
        world = stage.back()
        world.clock.advance(4000)
        stage.prepared_hook = world.until("update-status", "web/1")  # type: ignore[attr-defined]
        stage.keep("hook")
    stage.back("hook")
    return stage.prepared_hook  # type: ignore[attr-defined,no-any-return]


def goes_on(world: TestController, unit: str = "web/1") -> None:
    """See that a unit still comes to decisions, and that all that is stored can be read."""
    world.turn(unit)
    for row in world.read(lambda tx: tx.rows("task_list", model=world.model)):
        json.loads(row["results"])


@fuzz(60)
@given(result=HOOKS)
def test_a_hook_ends_for_its_own_unit_alone(stage: Stage, result: dict[str, Any]) -> None:
    dispatch = at_hook(stage)
    before = stage.rows()
    done = stage.world.commit(dispatch, result)
    assert done.ok or done.message or done.killed or done.reboot
    assert not stage.strangers(before, "web/1")
    assert not [item for item in stage.world.open_operations() if item.id == dispatch.id]
    goes_on(stage.world)


@fuzz(40)
@given(
    events=st.lists(st.one_of(spoilt(*EVENTS), ODD, st.sampled_from(EVENTS)), max_size=8), numbers=st.data()
)
def test_messages_are_taken_one_by_one(stage: Stage, events: list[Any], numbers: st.DataObject) -> None:
    dispatch = at_hook(stage)
    before = stage.rows()
    pairs = [(numbers.draw(ODD | st.integers(-1, 5)), event) for event in events]
    take_events(stage.world.ctx, dispatch.id, pairs)
    assert not stage.strangers(before, "web/1")
    stage.world.commit(dispatch, {"outcome": "ok", "exit": 0})
    goes_on(stage.world)


@fuzz(30)
@given(result=spoilt(ACTION))
def test_an_action_ends_for_its_own_task_alone(stage: Stage, result: dict[str, Any]) -> None:
    world = stage.back()
    request = ActionRequest(action="backup", receivers=["web/1", "web/0"])
    mine, other = actions.enqueue(world.ctx, world.model, request).tasks
    dispatch = world.prepared("web/1")
    before = stage.rows()
    world.commit(dispatch, result)
    assert not stage.strangers(before, "web/1")
    found = {n: world.read(lambda tx, n=n: actions.get_task(tx, world.model, n)) for n in (mine.id, other.id)}
    assert found[other.id].status == "pending"
    assert found[mine.id].status in ("completed", "failed", "aborted", "running")
    goes_on(world)


@fuzz(20)
@given(result=spoilt(ACTION))
def test_commands_on_a_machine_end_for_their_own_task_alone(stage: Stage, result: dict[str, Any]) -> None:
    world = stage.back()
    request = CommandRequest(command="date", timeout_s=5, machines=["0", "1"])
    tasks = actions.enqueue_commands(world.ctx, world.model, request).tasks
    dispatch = commands.take(world.ctx, world.machine("1"))
    assert dispatch is not None
    before = stage.rows()
    commit(world.ctx, dispatch.id, result)
    changed = [
        (table, row) for table, row in stage.strangers(before, "1") if table not in ("operation", "log")
    ]
    assert not changed
    assert world.read(lambda tx: actions.get_task(tx, world.model, tasks[0].id)).status == "pending"


@fuzz(20)
@given(result=spoilt(ACTION))
def test_what_juju_exec_ran_ends_for_its_own_unit_alone(stage: Stage, result: dict[str, Any]) -> None:
    world = stage.back()
    turn = world.turn("web/1", [Request(id="r1-1", unit="web/1", script="date", relation=0)])
    assert turn.dispatch is not None
    before = stage.rows()
    world.commit(turn.dispatch, result)
    assert not stage.strangers(before, "web/1")
    goes_on(world)


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("exit", "0", "exit is not a number"),
        ("exit", 10**400, "exit is not a number"),
        ("outcome", ["ok"], "outcome is not a text"),
        ("started", float("nan"), "started is not a time"),
        ("recovered", "yes", "recovered is neither true nor false"),
        ("writes", [], "writes is not a map"),
        ("writes", {"relations": {"web:0": {}}}, "writes.relations names no relation"),
        (
            "writes",
            {"relations": {"0": {"unit": {"a": 1}}}},
            "writes.relations.unit holds what is not a text",
        ),
        ("writes", {"ports": {"open": [{"protocol": "tcp", "from": 9, "to": 70000}]}}, "holds no port range"),
        ("writes", {"ports": {"open": [dict(PORT, protocol="sctp")]}}, "holds no port range"),
        ("writes", {"state": {"a": {}}}, "writes.state holds what is not a text"),
        ("writes", {"action": {"results": {"a": deep(100)}}}, "neither a text nor a map"),
        ("stdout", 5, "stdout is not a text"),
        ("stderr-encoding", "rot13", "stderr-encoding is not known"),
    ],
)
def test_a_result_that_cannot_be_read_fails_the_hook_and_says_why(
    stage: Stage, field: str, value: Any, fault: str
) -> None:
    dispatch = at_hook(stage)
    done = stage.world.commit(dispatch, {**ACTION, "events": [], field: value})
    assert not done.ok
    assert done.message.startswith("the machine sent a result that cannot be read: ")
    assert fault in done.message
    turn = stage.world.turn("web/1")
    assert turn.dispatch is None
    assert stage.world.agent("web/1") == ("error", 'hook failed: "update-status"')
