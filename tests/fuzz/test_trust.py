"""Controller, machine, charm: for each rule of docs/explanation/security.md a test."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer, LeaseLost, NotFound, NotPermitted, NotValid, PushjujuError
from pushjuju.core.status import StatusKind
from pushjuju.plugins.hooks import actions as action_tools
from pushjuju.plugins.hooks import payloads as payload_tools
from pushjuju.plugins.hooks import state as state_tools
from pushjuju.runner.remote.base import output, wire
from pushjuju.runner.remote.operation import host
from pushjuju.runner.trust import intake
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership, logs, network
from pushjuju.services.entities.charm import charms, payloads
from pushjuju.services.entities.machine import spaces
from pushjuju.services.entities.relation import relations
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import ActionRequest
from pushjuju.services.requests.application import settings
from pushjuju.store.rows.records import Operation
from pushjuju.uniter.commit import commit, take_events
from pushjuju.workers import live
from pushjuju.workers.machine import contact
from tests.fuzz.owners import strangers
from tests.world.controller import TestController
from tests.world.machine import event, ok, status_event
from tests.world.rewind import RewindController
from tests.world.runtime import PlayedRuntime, PlayedSession, worker

PEERS, SITE = 0, 1  # relations of the stage: web with itself, web with db
NOT_LEADER = 'prerequisites failed: "web/1" is not leader of "web"'


@pytest.fixture
def world(stage: RewindController) -> TestController:
    """The model of the stage, at rest, with all units about to run update-status."""
    made = stage.back()
    made.clock.advance(4000)
    for played in made.played_machines.values():
        played.script.clear()
        played.answers.clear()
    return made


def bag(world: TestController, relation: int, entity: str) -> dict[str, str]:
    found = world.read(lambda tx: relations.bags(tx, relation))
    return dict(found[entity].data) if entity in found else {}


def state(world: TestController, unit: str) -> dict[str, str]:
    rows = world.read(lambda tx: tx.rows("charm_state_list", unit=unit))
    return {row["key"]: row["value"] for row in rows}


def ports(world: TestController, unit: str) -> list[int]:
    rows = world.read(lambda tx: tx.rows("port_of_unit", unit=unit))
    return [row["from_port"] for row in rows]


def log(world: TestController) -> list[tuple[str, str]]:
    return [(item.entity, item.message) for item in logs.after(world.ctx.store, world.model, 0)]


def port(number: int, endpoint: str = "") -> dict[str, Any]:
    return {"endpoint": endpoint, "protocol": "tcp", "from": number, "to": number}


def opens(*numbers: int) -> dict[str, Any]:
    return {"ports": {"open": [port(number) for number in numbers], "close": []}}


def lead(world: TestController, unit: str) -> None:
    """Give the leadership of web to a unit."""
    world.clock.now()
    world.write(lambda tx: leadership.revoke(tx, units.get(tx, "web/0")))
    world.write(lambda tx: leadership.claim(tx, units.get(tx, unit)))


# --- relation data ----------------------------------------------------------------------------------------


def test_a_unit_writes_its_own_bag_alone(world: TestController, stage: RewindController) -> None:
    dispatch = world.until("update-status", "web/1")
    before = stage.tables()
    writes = {"relations": {"0": {"unit": {"a": "1"}, "web/0": {"a": "2"}, "web": {"a": "3"}}}}
    assert world.commit(dispatch, ok(unit="web/0", id="x", writes=writes)).ok
    assert bag(world, PEERS, "web/1")["a"] == "1"
    assert not strangers(before, stage.tables(), "web/1")


def test_relations_of_others_are_passed_over(world: TestController) -> None:
    writes = {"relations": {"0": {"unit": {"a": "1"}}, "77": {"unit": {"a": "1"}}}, "state": {"k": "v"}}
    assert world.hook("update-status", ok(writes=writes), "db/0").ok
    assert bag(world, PEERS, "db/0") == {}
    assert state(world, "db/0") == {"k": "v"}


def test_a_relation_that_the_unit_has_not_entered_is_passed_over(world: TestController) -> None:
    dispatch = world.until("update-status", "web/1")
    document = json.loads(world.unit("web/1").state)
    document["relations"] = {key: item for key, item in document["relations"].items() if key != str(SITE)}
    world.change_unit("web/1", state=json.dumps(document))
    before = bag(world, SITE, "web/1")
    assert world.commit(dispatch, ok(writes={"relations": {"1": {"unit": {"a": "1"}}}})).ok
    assert bag(world, SITE, "web/1") == before


def test_only_the_leader_writes_the_application_bag(world: TestController) -> None:
    writes = {"relations": {"0": {"app": {"a": "1"}, "unit": {"b": "2"}}}, "state": {"k": "v"}, **opens(80)}
    done = world.hook("update-status", ok(writes=writes), "web/1")
    assert (done.ok, done.message) == (False, NOT_LEADER)
    assert (bag(world, PEERS, "web"), state(world, "web/1"), ports(world, "web/1")) == ({}, {}, [])
    assert "b" not in bag(world, PEERS, "web/1")


def test_who_lost_the_leadership_while_the_hook_ran_writes_nothing(world: TestController) -> None:
    dispatch = world.until("update-status", "web/0")
    assert dispatch.frame["context"]["leader"]
    lead(world, "web/1")
    done = world.commit(
        dispatch,
        ok(writes={"relations": {"0": {"app": {"a": "1"}}}}, events=[status_event(1, "active", "x", "app")]),
    )
    assert "is not leader" in done.message
    assert bag(world, PEERS, "web") == {}
    assert world.status(StatusKind.APPLICATION, "web")[1] != "x"


# --- statuses, versions, log ------------------------------------------------------------------------------


def test_only_the_leader_sets_the_status_of_the_application(world: TestController) -> None:
    dispatch = world.until("update-status", "web/1")
    take_events(world.ctx, dispatch.id, [(1, status_event(1, "blocked", "mine", "app")["e"])])
    world.commit(dispatch, ok(events=[status_event(2, "blocked", "mine", "app")]))
    assert world.status(StatusKind.APPLICATION, "web")[1] != "mine"
    left_out = [item for item in log(world) if "left out" in item[1]]
    assert (
        left_out
        == [
            (
                "unit-web-1",
                "1 messages of the machine were left out: not valid, or not allowed",
            )
        ]
        * 2
    )
    world.hook("update-status", ok(events=[status_event(1, "blocked", "mine", "app")]), "web/0")
    assert world.status(StatusKind.APPLICATION, "web") == ("blocked", "mine")


@pytest.mark.parametrize("word", ["error", "terminated", "unknown", "unset", "executing", "", "Active"])
def test_a_charm_sets_the_statuses_that_are_a_charms(world: TestController, word: str) -> None:
    before = world.workload("web/1")
    world.hook("update-status", ok(events=[status_event(1, word, "forged")]), "web/1")
    assert world.workload("web/1") == before


def test_log_lines_carry_the_name_of_who_said_them(world: TestController) -> None:
    line = event(1, "log", level="SHOUT", module="unit.web/0.juju-log", message="forged", entity="unit-web-0")
    world.hook("update-status", ok(events=[line]), "web/1")
    found = [item for item in logs.after(world.ctx.store, world.model, 0) if item.message == "forged"]
    assert [(item.entity, item.level) for item in found] == [("unit-web-1", "INFO")]


def test_messages_of_a_machines_own_commands_set_no_status(world: TestController) -> None:
    row = Operation(
        id="m", model=world.model, machine="1", unit="", name="juju-exec", state="prepared",
        document={}, prepared=world.clock.now(),
    )  # fmt: skip
    world.write(lambda tx: tx.insert("operation", row))
    before = world.application()
    items = [
        status_event(1, "active", "x"),
        status_event(2, "active", "x", "app"),
        event(3, "version", version="9"),
    ]
    commit(world.ctx, "m", ok(events=items))
    assert world.application() == before
    assert world.status(StatusKind.WORKLOAD, "") == ("", "")


# --- ports ------------------------------------------------------------------------------------------------


def test_ports_of_another_unit_on_the_machine_stay_its_own(world: TestController) -> None:
    assert world.hook("update-status", ok(writes=opens(80)), "web/0").ok
    done = world.hook("update-status", ok(writes={**opens(80), "state": {"k": "v"}}), "db/0")
    assert 'port range conflicts with 80/tcp (unit "web/0")' in done.message
    assert (ports(world, "web/0"), ports(world, "db/0"), state(world, "db/0")) == ([80], [], {})


def test_closing_a_port_of_another_unit_closes_nothing(world: TestController) -> None:
    assert world.hook("update-status", ok(writes=opens(80)), "web/0").ok
    assert world.hook("update-status", ok(writes={"ports": {"close": [port(80)], "open": []}}), "db/0").ok
    assert ports(world, "web/0") == [80]


def test_ports_of_an_endpoint_that_the_charm_lacks_are_refused(world: TestController) -> None:
    done = world.hook("update-status", ok(writes={"ports": {"open": [port(80, "db")]}}), "web/1")
    assert 'endpoint "db" for unit "web/1" not found' in done.message


# --- tasks ------------------------------------------------------------------------------------------------


def test_a_result_ends_the_task_of_its_operation_alone(world: TestController) -> None:
    request = ActionRequest(action="backup", receivers=["web/0", "web/1"])
    first, second = (task.id for task in operations.enqueue(world.ctx, world.model, request).tasks)
    dispatch = world.prepared("web/1")
    said = {"action": {"results": {"a": "b"}}, "task": first, "action-id": str(first)}
    world.commit(
        dispatch, ok(task=first, id=str(first), writes=said, events=[event(1, "action-log", message="m")])
    )
    found = {n: world.read(lambda tx, n=n: actions.get_task(tx, n)) for n in (first, second)}
    assert (found[first].status, dict(found[first].results)) == ("pending", {})
    assert (found[second].status, found[second].results["a"]) == ("completed", "b")
    assert not world.read(lambda tx: actions.log(tx, first))


def test_a_hook_ends_no_task(world: TestController, stage: RewindController) -> None:
    dispatch = world.until("update-status", "web/1")
    before = stage.tables()
    writes = {"action": {"failed": True, "message": "m", "results": {"a": "b"}}}
    world.commit(dispatch, ok(writes=writes, events=[event(1, "action-log", message="m")]))
    after = stage.tables()
    assert (after["task"], after["task_log"]) == (before["task"], before["task_log"])


# --- live calls -------------------------------------------------------------------------------------------


async def call(world: TestController, unit: str, *words: str) -> tuple[int, bytes, bytes]:
    """Let a unit's next hook make a live call, through the worker of its machine."""
    machine = world.unit(unit).machine or ""
    world.played(machine).will("update-status", {"live": [(words[0], list(words[1:]))]}, unit=unit)
    await worker(PlayedRuntime(world), machine)
    answer: tuple[int, bytes, bytes] = world.played(machine).answers[-1]
    return answer


async def test_leader_set_by_another_than_the_leader_is_refused(world: TestController) -> None:
    rc, _, err = await call(world, "web/1", "leader-set", "--", "a=1")
    assert (rc, err) == (
        1,
        b"ERROR cannot write leadership settings: cannot write settings: not the leader\n",
    )
    assert world.read(lambda tx: leadership.settings(tx, "web")) == {}
    rc, _, _ = await call(world, "web/0", "leader-set", "--", "a=1")
    assert rc == 0
    assert world.read(lambda tx: leadership.settings(tx, "web")) == {"a": "1"}


def test_a_live_call_names_no_unit(world: TestController) -> None:
    found = intake.live_call(
        {
            "call": 1,
            "tool": "leader-set",
            "argv": ["a=b"],
            "cwd": "/",
            "unit": "web/0",
            "model": "m",
            "id": "x",
        }
    )
    assert set(found) == {"call", "tool", "argv", "cwd", "stdin"}


@pytest.mark.parametrize(
    "words",
    [
        ["leader-set", "novalue"],
        ["leader-set", "--", "--"],
        ["payload-register", "docker"],
        ["payload-register", "docker", "other", "1"],
        ["payload-register", "kvm", "monitor", "1"],
        ["payload-unregister", "monitor"],
        ["payload-unregister", "monitor", "1", "2"],
        ["payload-status-set", "monitor", "1", "exploded"],
        ["payload-status-set", "monitor", "none", "running"],
        ["secret-get", "secret:x"],
        ["../../bin/sh", "-c", "id"],
        ["", ""],
    ],
)
def test_odd_live_calls_are_answered_with_a_sentence_and_change_nothing(
    world: TestController, stage: RewindController, words: list[str]
) -> None:
    before = stage.tables()
    rc, out, err = live.answer(world.ctx, world.model, "web/0", words[0], words[1:])
    assert (rc, out) == (1, b"")
    assert err.startswith(b"ERROR ")
    assert stage.tables() == before


def test_the_clouds_credential_is_for_applications_that_are_trusted(world: TestController) -> None:
    assert live.answer(world.ctx, world.model, "web/0", "credential-get", []) == (
        1, b"", b"ERROR cannot access cloud credentials: permission denied\n",
    )  # fmt: skip
    settings.set_trust(world.ctx, world.model, "web", trusted=True)
    rc, out, _ = live.answer(world.ctx, world.model, "web/0", "credential-get", [])
    told = json.loads(out)
    assert (rc, told["type"], told["name"]) == (0, "local", "local")
    assert told["credential"] == {"auth-type": "empty", "attrs": {}}
    frame = world.until("config-changed", "web/0").frame
    assert "credential" not in frame["context"]


def test_subnets_that_a_machine_makes_up_come_to_an_end(world: TestController) -> None:
    made_up = [
        {"value": f"10.{high}.{low}.1", "cidr": f"10.{high}.{low}.0/24"}
        for high in range(8)
        for low in range(200)
    ]
    told = network.addresses_from_nics([{"name": "eth0", "mac": "", "up": True, "addresses": made_up}])
    machine = world.machine("0")
    for said in (told[:800], told[800:]):
        world.write(lambda tx, said=said: spaces.note_addresses(tx, machine, said))
    assert len(world.read(spaces.subnets)) == limits.SUBNETS


def test_payloads_are_a_units_own(world: TestController) -> None:
    for unit in ("web/0", "web/1"):
        assert (
            live.answer(world.ctx, world.model, unit, "payload-register", ["docker", "monitor", "1"])[0] == 0
        )
    assert live.answer(world.ctx, world.model, "web/1", "payload-unregister", ["monitor", "1"])[0] == 0
    assert (
        live.answer(world.ctx, world.model, "web/1", "payload-status-set", ["monitor", "1", "stopped"])[0]
        == 1
    )
    left = world.read(lambda tx: payloads.of_unit(tx, units.get(tx, "web/0")))
    assert [(item.id, item.status) for item in left] == [("1", "running")]


def test_live_calls_that_another_process_must_answer_stay_unanswered(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: Any) -> None:
        raise LeaseLost("x")

    monkeypatch.setattr(live.units, "get", lost)
    with pytest.raises(LeaseLost):
        live.answer(world.ctx, world.model, "web/0", "leader-set", ["a=b"])


# --- whose operation --------------------------------------------------------------------------------------


async def test_nothing_is_told_of_operations_of_other_machines(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Operation(
        id="theirs", model=world.model, machine="0", unit="web/0", name="juju-exec", state="committed",
        document={"request": {"id": "r1-1"}}, result={"error": "a secret of machine 0"},
        prepared=world.clock.now(),
    )  # fmt: skip
    world.write(lambda tx: tx.insert("operation", row))
    played = world.played("1")
    runtime = PlayedRuntime(world)
    spy = PlayedSession(played)
    spy.hello["journal"] = [{"id": "theirs", "done": True}]

    async def session(_: Any) -> Any:
        return spy

    monkeypatch.setattr(runtime, "session", session)
    await worker(runtime, "1")
    assert not [item for item in played.answered if "secret" in item[1]]


async def test_an_open_operation_of_another_machine_is_neither_fetched_nor_forgotten(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatch = world.until("update-status", "web/0")
    played, runtime = world.played("1"), PlayedRuntime(world)
    spy = PlayedSession(played)
    spy.hello["journal"] = [{"id": dispatch.id, "done": True}]
    played.results[dispatch.id] = ok(writes={"state": {"forged": "yes"}})

    async def session(_: Any) -> Any:
        return spy

    monkeypatch.setattr(runtime, "session", session)
    await worker(runtime, "1")
    assert [item.id for item in world.open_operations()] == [dispatch.id]
    assert state(world, "web/0") == {}


async def test_requests_for_a_unit_of_another_machine_are_not_run(world: TestController) -> None:
    played = world.played("1")
    played.requests["r1-1"] = {"id": "r1-1", "unit": "web/0", "script": "id"}
    await worker(PlayedRuntime(world), "1")
    assert not [frame for frame in (*played.frames, *world.played("0").frames) if frame.get("script") == "id"]
    played.requests.clear()


def test_results_that_a_machine_swaps_between_its_units_write_for_the_unit_of_the_row_alone(
    world: TestController, stage: RewindController
) -> None:
    """web/0 and db/0 share a machine, so root there may give each the result of the other."""
    web, db = world.until("update-status", "web/0"), world.until("update-status", "db/0")
    of_web = {"relations": {"0": {"unit": {"a": "web"}, "app": {"b": "web"}}}, "state": {"k": "web"}}
    of_db = {"relations": {"1": {"unit": {"a": "db"}}}, "state": {"k": "db"}}
    before = stage.tables()
    assert world.commit(
        db, ok(id=web.id, unit="web/0", writes=of_web)
    ).ok  # what db/0 may not write is passed over
    assert not strangers(before, stage.tables(), "db/0")
    before = stage.tables()
    assert world.commit(web, ok(id=db.id, unit="db/0", writes=of_db)).ok
    assert not strangers(before, stage.tables(), "web/0")
    assert (state(world, "web/0"), state(world, "db/0")) == ({"k": "db"}, {"k": "web"})
    assert bag(world, PEERS, "web") == {}
    assert "a" not in bag(world, PEERS, "web/0")


def test_an_old_result_that_is_given_for_a_new_operation_has_the_rights_of_now(
    world: TestController, stage: RewindController
) -> None:
    """What a result says of its age or operation is not believed: the row decides whose it is, and when."""
    first = world.until("update-status", "web/0")
    old = ok(id=first.id, writes={"state": {"k": "old"}, "relations": {"0": {"app": {"a": "old"}}}})
    assert world.commit(first, old).ok
    assert bag(world, PEERS, "web") == {"a": "old"}
    lead(world, "web/1")
    again = world.prepared("web/0")
    before = stage.tables()
    done = world.commit(again, old)
    assert 'web/0" is not leader of "web"' in done.message
    assert not strangers(before, stage.tables(), "web/0")


def test_a_result_counts_once(world: TestController, stage: RewindController) -> None:
    dispatch = world.until("update-status", "web/1")
    world.commit(dispatch, ok(writes={"state": {"k": "1"}}))
    before = stage.tables()
    again = world.commit(
        dispatch, ok(writes={"state": {"k": "2"}}, events=[event(9, "version", version="2")])
    )
    assert (again.message, stage.tables()) == ("committed before", before)


async def test_a_machine_that_never_reboots_is_given_up(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contact, "BOOT_POLL_S", 0.0)
    monkeypatch.setattr(contact, "BOOT_WAIT_S", -1.0)
    with pytest.raises(PushjujuError, match="machine 1 does not reboot"):
        await contact.come_back(PlayedRuntime(world), world.machine("1"), world.played("1").boot_id)


# --- how much ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("writes", "fault"),
    [
        ({"state": {"k" * 257: "v"}}, "max allowed key length (256) exceeded"),
        ({"state": {"k": "v" * 65537}}, "max allowed value length (65536) exceeded"),
        ({"state": {f"k{n}": "v" * 65000 for n in range(33)}}, "max allowed size (2097152) exceeded"),
        ({"relations": {"0": {"unit": {"k": "v" * limits.BAG}}}}, "writing relation 0: max allowed size"),
        (opens(*range(1, limits.PORTS + 2)), "writes.ports.open has more than 1000 entries"),
        ({"relations": {f"{n}": {} for n in range(limits.RELATIONS + 1)}}, "has more than 10000 entries"),
        ({"state": dict.fromkeys(map(str, range(limits.SETTINGS + 1)))}, "writes.state has more than"),
        (
            {"relations": {"0": {"unit": dict.fromkeys(map(str, range(limits.SETTINGS + 1)))}}},
            "writes.relations.unit has more than",
        ),
        ({"action": {"results": {"a": "b" * (limits.ACTION_RESULTS + 1)}}}, "action.results is larger than"),
    ],
    ids=["state key", "state value", "state", "bag", "ports", "relations", "keys", "bag keys", "results"],
)  # fmt: skip
def test_what_a_unit_keeps_in_the_model_has_limits(
    world: TestController, writes: dict[str, Any], fault: str
) -> None:
    done = world.hook("update-status", ok(writes=writes), "web/1")
    assert not done.ok
    assert fault in done.message
    assert (state(world, "web/1"), ports(world, "web/1")) == ({}, [])
    assert "k" not in bag(world, PEERS, "web/1")


def test_ports_of_many_hooks_count_together(world: TestController) -> None:
    half = limits.PORTS // 2
    assert world.hook("update-status", ok(writes=opens(*range(1, half + 2))), "web/1").ok
    world.clock.advance(4000)
    done = world.hook("update-status", ok(writes=opens(*range(5000, 5000 + half))), "web/1")
    assert "more than 1000 port ranges" in done.message


def test_leader_settings_and_payloads_have_limits(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get(tx: Any) -> Any:
        return units.get(tx, "web/0")

    with pytest.raises(NotValid, match="max allowed size"):
        world.write(lambda tx: leadership.set_settings(tx, get(tx), {"a": "x" * limits.BAG}))
    monkeypatch.setattr(limits, "PAYLOADS", 1)
    world.write(lambda tx: payloads.register(tx, get(tx), "docker", "monitor", "1", []))
    with pytest.raises(NotValid, match="1 payloads already"):
        world.write(lambda tx: payloads.register(tx, get(tx), "docker", "monitor", "2", []))
    with pytest.raises(NotFound, match="not found in metadata"):
        world.write(lambda tx: payloads.register(tx, get(tx), "docker", "other", "2", []))
    with pytest.raises(NotPermitted):
        world.write(lambda tx: leadership.set_settings(tx, units.get(tx, "web/1"), {"a": "b"}))


def test_texts_are_cut_at_their_limit(world: TestController) -> None:
    long = "x" * (limits.MESSAGE + 10)
    items = [
        event(1, "log", level="ERROR", module="m" * 1000, message=long),
        status_event(2, "active", long),
        event(3, "version", version=long),
    ]
    world.hook("update-status", ok(events=items), "web/1")
    cut = "x" * limits.MESSAGE + "[... 10 more characters]"
    assert world.workload("web/1") == ("active", cut)
    assert world.application().workload_version == cut
    assert ("unit-web-1", cut) in log(world)
    assert all(len(item.module) < 300 for item in logs.after(world.ctx.store, world.model, 0))


def test_messages_of_one_operation_have_a_limit(
    world: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "EVENTS", 1000)
    dispatch = world.until("update-status", "web/1")
    before = len(log(world))
    world.commit(
        dispatch, ok(events=[event(n, "log", level="ERROR", module="m", message="x") for n in range(1, 500)])
    )
    assert len(log(world)) - before < 20


def test_output_has_a_limit(world: TestController) -> None:
    dispatch = world.until("update-status", "web/1")
    assert "stdout has more than" in world.commit(dispatch, ok(stdout="x" * (limits.OUTPUT + 1))).message


def test_what_an_honest_machine_keeps_fits_into_what_is_taken() -> None:
    share = max(limits.EVENT_COST / output.LINE_COST, 4)  # of a short line, and of one that is not ASCII
    assert share * (output.EVENT_LIMIT + 2 * output.TAIL + 1.5 * host.LOG_LIMIT) < limits.EVENTS
    events = (output.EVENT_LIMIT + host.LOG_LIMIT) // output.LINE_COST + 2 * output.TAIL_LINES
    line = {"k": "output", "stream": "stdout", "line": "", "time": 1.5}
    entry = {"k": "log", "level": "INFO", "module": "m", "message": "", "time": 1.5}
    longest = max(len(re.findall("[,:{[]", json.dumps({"seq": 1, "e": item}))) for item in (line, entry))
    assert events * (longest + 1) < limits.FRAME_MARKS
    assert (output.CAPTURE_LIMIT + output.TAIL + 100) * 4 / 3 < limits.OUTPUT
    assert (state_tools.MAX_KEY, state_tools.MAX_VALUE) == (limits.STATE_KEY, limits.STATE_VALUE)
    assert payload_tools.STATUSES == payloads.STATUSES
    assert action_tools.MAX_LEVELS == limits.DEPTH


# --- what is shown and told -------------------------------------------------------------------------------


def test_a_machine_that_says_odd_things_shows_it_in_status(world: TestController) -> None:
    error = BadAnswer("the facts of machine 1 are not valid: nics is not a list")
    contact.note_failure(world.ctx, world.machine("1"), error)
    assert world.status(StatusKind.INSTANCE, "1") == ("running", error.message)
    assert world.machine("1").unreachable_since is None
    assert ("machine-1", error.message) in log(world)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("", ("", 0)),
        ("192.0.2.1 50022 10.0.0.2 22", ("192.0.2.1", 22)),
        ("fe80::7%eth0 50022 fe80::1%eth0 2222", ("fe80::7", 2222)),
        ("192.0.2.1 50022 10.0.0.2 0", None),
        ("192.0.2.1 50022 10.0.0.2 65536", None),
        ("192.0.2.1 50022 10.0.0.2", None),
        ("192.0.2.1/0 50022 10.0.0.2 22", None),
        ("192.0.2.1 50022 10.0.0.2 22}", None),
        ("192.0.2.1,0.0.0.0/0 50022 10.0.0.2 22", None),
        ("} 1 2 3", None),
        (" ", None),
    ],
)
def test_what_a_machine_says_of_its_connection_is_an_address_and_a_port(
    said: str, found: tuple[str, int] | None
) -> None:
    """It becomes part of a rule: nothing else may get into one."""
    if found is not None:
        assert intake.ssh_reached(said) == found
        return
    with pytest.raises(wire.BadFrame):
        intake.ssh_reached(said)


def test_a_snapshot_holds_nothing_of_others(world: TestController) -> None:
    url = world.application().charm_url
    world.hook("update-status", ok(writes={"state": {"k": "mark-of-web"}}), "web/0")
    world.write(lambda tx: leadership.set_settings(tx, units.get(tx, "web/0"), {"a": "mark-of-web"}))
    peers = world.read(lambda tx: relations.of_application(tx, "web"))[0]
    world.write(lambda tx: relations.update_bag(tx, peers, "web", {"k": "mark-of-web"}))
    world.write(lambda tx: charms.put_settings(tx, "web", url, {"title": "mark-of-web"}))
    told = json.dumps(dict(world.until("update-status", "db/0").frame))
    assert "mark-of-web" not in told
    assert "mark-of-web" in json.dumps(dict(world.prepared("web/1").frame))
