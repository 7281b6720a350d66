"""Results and messages of a hostile machine: each is taken whole, or fails its own operation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.services.entities.action import actions
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import ActionRequest, CommandRequest
from pushjuju.uniter.commit import commit, take_events
from pushjuju.uniter.dispatch import Dispatch
from pushjuju.uniter.requests import Request
from pushjuju.workers.machine import commands
from tests.fuzz.hostile import ODD, deep, fuzz, spoilt
from tests.fuzz.messages import ACTION, EVENTS, HOOK, PORT
from tests.fuzz.owners import strangers
from tests.world.controller import TestController
from tests.world.rewind import RewindController

HOOKS = st.one_of(
    spoilt(HOOK), spoilt(HOOK, {**HOOK, "outcome": "failed"}), ODD.map(lambda value: {"writes": value})
)


@pytest.fixture(scope="module")
def update_status(stage: RewindController) -> Dispatch:
    """web/1, which does not lead, has begun an update-status; the store is kept as `hook`."""
    world = stage.back()
    world.clock.advance(4000)
    dispatch = world.until("update-status", "web/1")
    world.keep_as("hook")
    return dispatch


def goes_on(world: TestController, unit: str = "web/1") -> None:
    """See that a unit still comes to decisions, and that all that is stored can be read."""
    world.turn(unit)
    for row in world.read(lambda tx: tx.rows("task_list")):
        json.loads(row["results"])


@fuzz(60)
@given(result=HOOKS)
def test_a_hook_ends_for_its_own_unit_alone(
    stage: RewindController, update_status: Dispatch, result: dict[str, Any]
) -> None:
    stage.back("hook")
    before = stage.tables()
    done = stage.commit(update_status, result)
    assert done.ok or done.message or done.killed or done.reboot
    assert not strangers(before, stage.tables(), "web/1")
    assert not [item for item in stage.open_operations() if item.id == update_status.id]
    goes_on(stage)


@fuzz(40)
@given(
    events=st.lists(st.one_of(spoilt(*EVENTS), ODD, st.sampled_from(EVENTS)), max_size=8), numbers=st.data()
)
def test_messages_are_taken_one_by_one(
    stage: RewindController, update_status: Dispatch, events: list[Any], numbers: st.DataObject
) -> None:
    stage.back("hook")
    before = stage.tables()
    pairs = [(numbers.draw(ODD | st.integers(-1, 5)), event) for event in events]
    take_events(stage.ctx, update_status.id, pairs)
    assert not strangers(before, stage.tables(), "web/1")
    stage.commit(update_status, {"outcome": "ok", "exit": 0})
    goes_on(stage)


@fuzz(30)
@given(result=spoilt(ACTION))
def test_an_action_ends_for_its_own_task_alone(stage: RewindController, result: dict[str, Any]) -> None:
    world = stage.back()
    request = ActionRequest(action="backup", receivers=["web/1", "web/0"])
    mine, other = operations.enqueue(world.ctx, world.model, request).tasks
    dispatch = world.prepared("web/1")
    before = stage.tables()
    world.commit(dispatch, result)
    assert not strangers(before, stage.tables(), "web/1")
    found = {n: world.read(lambda tx, n=n: actions.get_task(tx, n)) for n in (mine.id, other.id)}
    assert found[other.id].status == "pending"
    assert found[mine.id].status in ("completed", "failed", "aborted", "running")
    goes_on(world)


@fuzz(20)
@given(result=spoilt(ACTION))
def test_commands_on_a_machine_end_for_their_own_task_alone(
    stage: RewindController, result: dict[str, Any]
) -> None:
    world = stage.back()
    request = CommandRequest(command="date", timeout_s=5, machines=["0", "1"])
    tasks = operations.enqueue_commands(world.ctx, world.model, request).tasks
    dispatch = commands.take(world.ctx, world.machine("1"))
    assert dispatch is not None
    before = stage.tables()
    commit(world.ctx, dispatch.id, result)
    changed = [
        (table, row)
        for table, row in strangers(before, stage.tables(), "1")
        if table not in ("operation", "log")
    ]
    assert not changed
    assert world.read(lambda tx: actions.get_task(tx, tasks[0].id)).status == "pending"


@fuzz(20)
@given(result=spoilt(ACTION))
def test_what_juju_exec_ran_ends_for_its_own_unit_alone(
    stage: RewindController, result: dict[str, Any]
) -> None:
    world = stage.back()
    turn = world.turn("web/1", [Request(id="r1-1", unit="web/1", script="date", relation=0)])
    assert turn.dispatch is not None
    before = stage.tables()
    world.commit(turn.dispatch, result)
    assert not strangers(before, stage.tables(), "web/1")
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
    stage: RewindController, update_status: Dispatch, field: str, value: Any, fault: str
) -> None:
    stage.back("hook")
    done = stage.commit(update_status, {**ACTION, "events": [], field: value})
    assert not done.ok
    assert done.message.startswith("the machine sent a result that cannot be read: ")
    assert fault in done.message
    turn = stage.turn("web/1")
    assert turn.dispatch is None
    assert stage.agent("web/1") == ("error", 'hook failed: "update-status"')
