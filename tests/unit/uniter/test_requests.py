"""Commands that juju-exec asks for on a machine: decided, placed in a relation, run once, taken in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pushjuju.core.errors import NotValid
from pushjuju.core.status import Life
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.store.rows.records import Operation as OperationRow
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.remote import PendingAction, RemoteState
from pushjuju.uniter.decide.state import HookInfo, HookKind, LocalState, OperationKind, RelationRecord, Step
from pushjuju.uniter.dispatch import Dispatch, prepared_operation, read_operation
from pushjuju.uniter.input.snapshot import View, read_view
from pushjuju.uniter.requests import Request, error_of, placed, read_request
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedRuntime, die_at, worker

IDLE = LocalState(installed=True, started=True, current_charm_url="ch:1", leader_settings_version=1)
REMOTE = RemoteState(unit="web/0", charm_url="ch:1", commands=("r1-1", "r2-1"))
HOOK = HookInfo(kind=HookKind.CONFIG_CHANGED)


def ask(script: str = "date", number: int = 1, **more: Any) -> Request:
    return Request(id=f"r{number}-1", unit="web/0", script=script, **more)


def result(outcome: str = "ok", code: int | None = 0, **more: Any) -> dict[str, Any]:
    plain = {"outcome": outcome, "exit": code, "signal": None, "message": "", "writes": {}, "events": []}
    return {**plain, **more}


# --- the decision -----------------------------------------------------------------------------------------

KINDS = {
    "at rest": {},
    "hook queued": {"kind": OperationKind.RUN_HOOK, "step": Step.QUEUED, "hook": HOOK},
    "hook in error": {"kind": OperationKind.RUN_HOOK, "step": Step.PENDING, "hook": HOOK},
    "hook done": {"kind": OperationKind.RUN_HOOK, "step": Step.DONE, "hook": HOOK},
    "not installed": {"installed": False, "started": False},
}


@pytest.mark.parametrize("life", [Life.ALIVE, Life.DYING])
@pytest.mark.parametrize("local", KINDS.values(), ids=KINDS)
def test_commands_run_in_every_kind_the_oldest_first(local: dict[str, Any], life: Life) -> None:
    decision = decide(replace(IDLE, **local), replace(REMOTE, life=life))
    assert decision.operation is not None
    assert (decision.operation.text, decision.operation.command) == ("run commands", "r1-1")
    assert (decision.badge, decision.operation.lock) == ("commands", "machine-lock")


@pytest.mark.parametrize(
    ("local", "remote", "badge"),
    [
        ({}, {"life": Life.DEAD}, "unit-dead"),
        ({"kind": OperationKind.INSTALL, "installed": False, "charm_url": "ch:1"}, {}, "install"),
        ({"kind": OperationKind.UPGRADE, "charm_url": "ch:1"}, {}, "upgrade"),
        ({"restart": True}, {}, "restart"),
        ({}, {"leader": True}, "leadership"),
        ({}, {"actions": (PendingAction(id="1", name="backup"),)}, "actions"),
        ({"kind": OperationKind.RUN_ACTION, "action_id": "1"}, {}, "actions"),
    ],
)
def test_what_comes_before_commands(local: dict[str, Any], remote: dict[str, Any], badge: str) -> None:
    assert decide(replace(IDLE, **local), replace(REMOTE, **remote)).badge == badge


# --- the relation -----------------------------------------------------------------------------------------


@pytest.fixture
def unit(runtime: TestController) -> TestController:
    """A unit at rest, with three others in its peer relation."""
    runtime.active(packed=runtime.charms.make())
    runtime.clear()
    runtime.played().frames.clear()
    return runtime


def view_with(world: TestController, *members: str) -> View:
    view = world.read(lambda tx: read_view(tx, "web/0"))
    assert view is not None
    (number,) = view.local.relations
    record = RelationRecord(created=True, members=dict.fromkeys(members, 0))
    return replace(view, local=replace(view.local, relations={number: record}))


def relation_of(view: View) -> int:
    (number,) = view.local.relations
    return number


def test_the_only_member_is_the_remote_unit(unit: TestController) -> None:
    view = view_with(unit, "web/1")
    assert placed(view, ask(relation=relation_of(view))).remote_unit == "web/1"


@pytest.mark.parametrize(
    ("members", "more", "text"),
    [
        ((), {}, "cannot infer remote unit in empty relation {}"),
        (("web/10", "web/2"), {}, "ambiguous remote unit; possibilities are [web/2 web/10]"),
        (("web/1",), {"remote_unit": "web/9"}, "unknown remote unit web/9; possibilities are [web/1]"),
        ((), {"remote_unit": "web/9"}, "unknown remote unit web/9; possibilities are []"),
        (("web/1",), {"relation": 99}, "unknown relation id: 99"),
        (("web/1",), {"relation": 99, "force": True, "remote_unit": "web/1"}, "unknown relation id: 99"),
        ((), {"relation": None, "remote_unit": "a/0"}, "remote unit provided without a relation: a/0"),
    ],
)
def test_relations_and_members_that_do_not_fit(
    unit: TestController, members: tuple[str, ...], more: dict[str, Any], text: str
) -> None:
    view = view_with(unit, *members)
    with pytest.raises(NotValid) as caught:
        placed(view, ask(**{"relation": relation_of(view), **more}))
    assert caught.value.message == text.format(relation_of(view))


def test_force_skips_the_check_of_the_remote_unit(unit: TestController) -> None:
    view = view_with(unit)
    found = placed(view, ask(relation=relation_of(view), remote_unit="gone/3", force=True))
    assert found.remote_unit == "gone/3"


# --- the order to the machine -----------------------------------------------------------------------------


def prepared(world: TestController, *requests: Request) -> Dispatch:
    turn = world.turn(requests=requests)
    assert turn.dispatch is not None
    return turn.dispatch


def test_the_order_has_a_fresh_context_without_a_hook(unit: TestController) -> None:
    order = prepared(unit, ask("echo hi")).frame
    assert (order["kind"], order["request"], order["script"], order["lock"]) == (
        "commands", "r1-1", "echo hi", "machine",
    )  # fmt: skip
    assert order["env"]["JUJU_HOOK_NAME"] == ""
    assert not {"JUJU_DISPATCH_PATH", "JUJU_RELATION", "JUJU_REMOTE_UNIT"} & set(order["env"])
    assert (order["context"]["kind"], order["context"]["relation"]) == ("commands", None)
    assert unit.agent() == ("executing", "running commands")


def test_the_order_in_a_relation(unit: TestController) -> None:
    number = relation_of(view_with(unit))
    order = prepared(unit, ask(relation=number, remote_unit="web/7", force=True)).frame
    env = {name: order["env"][name] for name in order["env"] if "RELATION" in name or "REMOTE" in name}
    assert env == {
        "JUJU_RELATION": "cluster", "JUJU_RELATION_ID": f"cluster:{number}",
        "JUJU_REMOTE_UNIT": "web/7", "JUJU_REMOTE_APP": "",
    }  # fmt: skip
    assert order["context"]["relation"] == {
        "id": number, "endpoint": "cluster", "remote_unit": "web/7", "remote_app": "web",
        "departing_unit": "",
    }  # fmt: skip


def test_the_order_is_built_again_alike_after_a_crash(unit: TestController) -> None:
    number = relation_of(view_with(unit))
    first = prepared(unit, ask(relation=number, remote_unit="web/7", remote_app="web", force=True))

    def again(tx: Any) -> Dispatch:
        (row,) = tx.list(OperationRow, "operation_open", model=unit.model, machine="0")
        view = read_view(tx, "web/0")
        assert view is not None
        operation = read_operation(row.document)
        return prepared_operation(tx, view, operation, row.id, row.document["request"])

    assert unit.read(again).frame == first.frame


def test_a_request_is_written_as_it_is_read() -> None:
    request = ask(relation=0, remote_unit="a/1", remote_app="a", force=True)
    assert read_request(request.document()) == request
    assert read_request({"id": "r1-1", "unit": "web/0", "script": "date", "pid": 3}) == ask()


def test_requests_that_do_not_fit_are_refused_and_the_next_one_runs(unit: TestController) -> None:
    turn = unit.turn(requests=[ask(relation=99), ask(number=2, remote_unit="x/0"), ask("ok", number=3)])
    assert turn.dispatch is not None
    assert turn.dispatch.frame["request"] == "r3-1"
    assert [(item.request, item.error) for item in turn.refused] == [
        ("r1-1", "unknown relation id: 99"),
        ("r2-1", "remote unit provided without a relation: x/0"),
    ]


async def test_more_than_a_turn_looks_at_are_all_answered(unit: TestController) -> None:
    unit.played().requests = {
        f"r{number}-1": ask(number=number, relation=99).document() for number in range(100, 230)
    }
    runtime = PlayedRuntime(unit)
    runtime.opened.append("0")
    await worker(runtime)
    assert (len(unit.played().answered), unit.played().requests) == (130, {})


# --- the result -------------------------------------------------------------------------------------------


def state(world: TestController) -> dict[str, str]:
    rows = world.read(lambda tx: tx.rows("charm_state_list", unit="web/0"))
    return {row["key"]: row["value"] for row in rows}


def operation(world: TestController, name: str) -> OperationRow:
    found: OperationRow = world.read(lambda tx: tx.find(OperationRow, "operation_get", id=name))
    return found


@pytest.mark.parametrize("code", [0, 3])
def test_writes_are_kept_whatever_the_exit_code_is(unit: TestController, code: int) -> None:
    order = prepared(unit, ask())
    before = unit.unit("web/0").state
    done = unit.commit(order, result("failed" if code else "ok", code, writes={"state": {"done": "yes"}}))
    assert (done.ok, done.error, state(unit)) == (True, "", {"done": "yes"})
    assert unit.unit("web/0").state == before
    assert unit.turn().dispatch is None
    assert unit.agent() == ("idle", "")


def test_changes_that_cannot_be_taken_are_told_to_who_asked(unit: TestController) -> None:
    order = prepared(unit, ask())
    ports = {"open": [{"endpoint": "nope", "protocol": "tcp", "from": 1, "to": 1}], "close": []}
    done = unit.commit(order, result(writes={"ports": ports, "state": {"a": "b"}}))
    text = 'cannot open/close ports: open port range: endpoint "nope" for unit "web/0" not found'
    assert (done.ok, done.error, state(unit)) == (False, text, {})
    refusal = error_of(operation(unit, order.id))
    assert refusal is not None
    assert (refusal.request, refusal.error) == ("r1-1", text)


@pytest.mark.parametrize(
    ("ended", "error"),
    [
        (result("terminated", None, signal=9, message="signal: killed"), "signal: killed"),
        (result("terminated", None, recovered=True), "the commands were cut off"),
        (result("error", None, message="No space left on device"), "No space left on device"),
        (
            result("withdrawn", None, message="the juju-exec process that requested the commands has ended"),
            "the juju-exec process that requested the commands has ended",
        ),
    ],
)
def test_commands_that_did_not_come_to_their_end(
    unit: TestController, ended: dict[str, Any], error: str
) -> None:
    order = prepared(unit, ask())
    done = unit.commit(order, {**ended, "writes": {"state": {"a": "b"}}})
    assert (done.error, done.again_later, done.killed, state(unit)) == (error, False, False, {})
    assert unit.turn().dispatch is None


def test_a_result_that_comes_twice_counts_once(unit: TestController) -> None:
    order = prepared(unit, ask())
    unit.commit(order, result(writes={"state": {"a": "1"}}))
    assert unit.commit(order, result(writes={"state": {"a": "2"}})).message == "committed before"
    assert state(unit) == {"a": "1"}


@pytest.mark.parametrize("when", ["after", "now"])
def test_a_reboot_is_honoured(unit: TestController, when: str) -> None:
    order = prepared(unit, ask("juju-reboot"))
    ended = result() if when == "after" else result("terminated", None, signal=9, message="signal: killed")
    done = unit.commit(order, {**ended, "reboot": when, "writes": {"reboot": when}})
    assert done.reboot
    assert unit.agent() == ("rebooting", "")


def test_a_unit_in_error_stays_in_error(unit: TestController) -> None:
    settings.set_config(unit.ctx, unit.model, ConfigOptions(application="web", values={"title": "new"}))
    unit.hook("config-changed", result("failed", 1))
    assert unit.turn().dispatch is None
    error = unit.agent()
    assert error[0] == "error"
    order = prepared(unit, ask())
    assert order.frame["kind"] == "commands"
    unit.commit(order, result())
    assert unit.turn().dispatch is None
    assert unit.agent() == error


# --- the lane ---------------------------------------------------------------------------------------------


async def test_the_next_visit_runs_what_waits(unit: TestController) -> None:
    runtime = PlayedRuntime(unit)
    await worker(runtime)
    unit.played().requests = {f"r{number}-1": ask(str(number), number).document() for number in (1, 2)}
    unit.played().requests["r3-1"] = {**ask(number=3, relation=99).document()}
    unit.played().requests["r4-1"] = {**ask(number=4).document(), "unit": "other/0"}
    unit.played().requests["r5-1"] = {**ask(number=5).document(), "relation": "x"}
    runtime.opened.append("0")
    await worker(runtime)
    assert [frame["script"] for frame in unit.played().frames if frame["kind"] == "commands"] == [
        "1",
        "2",
    ]
    assert sorted(unit.played().answered) == [
        ("r3-1", "unknown relation id: 99"),
        ("r5-1", "the request cannot be read"),
    ]
    assert list(unit.played().requests) == ["r4-1"]
    assert unit.agent() == ("idle", "")


@pytest.mark.parametrize("step", ["attached", "prepared", "result", "committed", "saved", "acknowledged"])
@pytest.mark.parametrize("refused", [False, True], ids=["taken", "refused"])
async def test_a_request_is_served_once_wherever_the_controller_dies(
    unit: TestController, step: str, refused: bool
) -> None:
    played = unit.played()
    ports = {"open": [{"endpoint": "nope", "protocol": "tcp", "from": 1, "to": 1}], "close": []}
    played.will("commands", {"writes": {"ports": ports} if refused else {"state": {"ran": "yes"}}})
    played.requests = {"r1-1": ask().document()}

    dying = PlayedRuntime(unit, die_at(step))
    dying.opened.append("0")
    with pytest.raises(Died):
        await worker(dying)
    played.requests["r2-1"] = ask("next", number=2).document()  # it makes the next controller come
    after = PlayedRuntime(unit)
    after.opened.append("0")
    await worker(after)
    assert [frame["script"] for frame in played.frames if frame["kind"] == "commands"] == ["date", "next"]
    assert (played.requests, played.results) == ({}, {})
    told = 'cannot open/close ports: open port range: endpoint "nope" for unit "web/0" not found'
    # Told again where nobody knows whether it was: the machine takes the first answer.
    assert set(played.answered) == ({("r1-1", told)} if refused else set())
    assert state(unit) == ({} if refused else {"ran": "yes"})
    assert unit.agent() == ("idle", "")


async def test_nobody_connects_for_what_nobody_knows_of(unit: TestController) -> None:
    runtime = PlayedRuntime(unit)
    unit.played().requests = {"r1-1": ask().document()}
    await worker(runtime)
    assert runtime.opened == []
