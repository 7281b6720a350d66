"""Statuses with their history, leadership, the log and who is touched."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.errors import NotFound, NotPermitted
from pushjuju.core.status import Agent, StatusInfo, StatusKind
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership, logs, statuses, wake
from pushjuju.services.entities.relation import relations
from pushjuju.services.requests import removals
from pushjuju.services.requests.model.model_config import ModelConfigOptions, set_model_config
from pushjuju.store.queue import machine_key
from pushjuju.store.rows.records import MachineFirewall
from tests.world.controller import TestController

UNIT = StatusKind.WORKLOAD


def _set(runtime: TestController, *words: str, **more: Any) -> None:
    runtime.write(lambda tx: statuses.set_status(tx, UNIT, "u/0", *words, **more))


def _history(runtime: TestController, **more: Any) -> list[tuple[str, str, str]]:
    found = runtime.read(lambda tx: statuses.history(tx, more.pop("kind", UNIT), "u/0", **more))
    return [(item.status, item.message, item.since.strftime("%H:%M:%S")) for item in found]


# --- history ----------------------------------------------------------------------------------------------


def test_history_appends_what_differs(runtime: TestController) -> None:
    for words in (("active",), ("active", "ready"), ("blocked", "ready"), ("active",)):
        _set(runtime, *words)
        runtime.clock.advance(1)
    assert _history(runtime) == [
        ("active", "", "09:00:00"),
        ("active", "ready", "09:00:01"),
        ("blocked", "ready", "09:00:02"),
        ("active", "", "09:00:03"),
    ]


def test_repetition_moves_the_newest_entry(runtime: TestController) -> None:
    _set(runtime, "active", "a")
    runtime.clock.advance(60)
    _set(runtime, "active", "a")
    assert _history(runtime) == [("active", "a", "09:01:00")]
    info: StatusInfo = runtime.read(lambda tx: statuses.get_status(tx, UNIT, "u/0"))
    assert info.since == runtime.clock.now()


def test_other_data_is_another_entry(runtime: TestController) -> None:
    _set(runtime, "error", "a", data={"hook": "x"})
    _set(runtime, "error", "a", data={"hook": "y"})
    _set(runtime, "error", "a", data={"hook": "y"})
    assert len(_history(runtime)) == 2


def test_newest_entries_oldest_first(runtime: TestController) -> None:
    for number in range(5):
        _set(runtime, "active", str(number))
        runtime.clock.advance(1)
    assert [message for _, message, _ in _history(runtime, limit=2)] == ["3", "4"]
    since = runtime.clock.now() - timedelta(seconds=3)
    assert [message for _, message, _ in _history(runtime, since=since)] == ["2", "3", "4"]


def test_two_kinds_mixed_by_time(runtime: TestController) -> None:
    _set(runtime, "waiting")
    runtime.clock.advance(1)
    agent = StatusKind.AGENT
    runtime.clock.now()
    runtime.write(lambda tx: statuses.set_status(tx, agent, "u/0", Agent.EXECUTING))
    runtime.clock.advance(1)
    _set(runtime, "active")
    assert [word for word, _, _ in _history(runtime, also=agent)] == ["waiting", "executing", "active"]
    assert [word for word, _, _ in _history(runtime, kind=agent)] == ["executing"]


def test_no_history(runtime: TestController) -> None:
    with pytest.raises(NotFound) as caught:
        _history(runtime)
    assert caught.value.message == "no status history available"


def test_idle_keeps_its_since(runtime: TestController) -> None:
    def idle() -> bool:
        now = runtime.clock.now()
        return bool(runtime.write(lambda tx: statuses.set_agent_status(tx, "u/0", Agent.IDLE, now=now)))

    assert idle()
    runtime.clock.advance(100)
    assert not idle()
    assert _history(runtime, kind=StatusKind.AGENT) == [("idle", "", "09:00:00")]


def test_what_is_forgotten(runtime: TestController) -> None:
    _set(runtime, "active")
    runtime.write(lambda tx: statuses.forget(tx, "u/0", [UNIT]))
    assert runtime.status(UNIT, "u/0") == ("", "")
    with pytest.raises(NotFound):
        _history(runtime)


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ("idle", [("active", "up"), ("idle", "")]),
        ("executing", [("active", "up"), ("executing", "")]),
        ("failed", [("active", "up"), ("failed", "")]),
        ("error", [("error", ""), ("idle", "")]),
    ],
)
def test_agent_error_is_shown_as_the_workloads(agent: str, shown: list[tuple[str, str]]) -> None:
    found = statuses.shown_unit(StatusInfo(status="active", message="up"), StatusInfo(status=agent))
    assert [(item.status, item.message) for item in found] == shown


# --- leadership -------------------------------------------------------------------------------------------


def _lead(runtime: TestController, unit: str, **changes: str) -> None:
    runtime.write(lambda tx: leadership.set_settings(tx, units.get(tx, unit), changes))


def _version(runtime: TestController) -> int:
    return int(runtime.read(lambda tx: applications.get(tx, "web").leader_settings_version + 1))


def test_first_unit_that_is_ready_leads(runtime: TestController) -> None:
    runtime.deploy(count=2)
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) is None
    runtime.played("1")
    runtime.turn("web/1")
    runtime.settle()
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) == "web/1"
    assert "leader-elected" not in runtime.of("web/0")


def test_dying_unit_claims_nothing(runtime: TestController) -> None:
    runtime.active()
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    runtime.clock.now()
    runtime.write(lambda tx: leadership.revoke(tx, units.get(tx, "web/0")))
    runtime.turn()
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) is None


def test_leader_settings_merge(runtime: TestController) -> None:
    runtime.active(count=2)
    _lead(runtime, "web/0", a="1", b="2")
    _lead(runtime, "web/0", b="", c="3")
    assert runtime.read(lambda tx: leadership.settings(tx, "web")) == {"a": "1", "c": "3"}


def test_leader_settings_count_changes_only(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clear()
    assert _version(runtime) == 1
    runtime.forget_work()
    _lead(runtime, "web/0", a="1")
    assert (_version(runtime), runtime.touched()) == (2, ["machine/1"])
    runtime.forget_work()
    _lead(runtime, "web/0", a="1", gone="")
    assert (_version(runtime), runtime.touched()) == (2, [])
    runtime.settle()
    assert (runtime.of("web/0"), runtime.of("web/1")) == ([], ["leader-settings-changed"])


def test_only_the_leader_writes(runtime: TestController) -> None:
    runtime.active(count=2)
    before = runtime.dump()
    with pytest.raises(NotPermitted) as caught:
        _lead(runtime, "web/1", a="1")
    text = "cannot write leadership settings: cannot write settings: not the leader"
    assert caught.value.message == text
    assert runtime.dump() == before


# --- the log ----------------------------------------------------------------------------------------------


def test_log_is_read_both_ways(runtime: TestController) -> None:
    def fill(tx: Any) -> None:
        for number in range(1200):
            logs.append(tx, "unit-web-0", "INFO", "m", str(number), now=runtime.clock.now())

    runtime.write(fill)
    found = logs.after(runtime.ctx.store, runtime.model, 0)
    assert [item.message for item in found] == [str(number) for number in range(1200)]
    assert logs.after(runtime.ctx.store, runtime.model, found[-2].id)[0].message == "1199"
    back = logs.newest_first(runtime.ctx.store, runtime.model)
    assert [item.message for item in back] == [str(number) for number in reversed(range(1200))]
    assert logs.after(runtime.ctx.store, "other", 0) == []


# --- touch ------------------------------------------------------------------------------------------------


def test_touches(runtime: TestController) -> None:
    runtime.deploy("a", 2)
    runtime.deploy("b", packed=runtime.charms.make("b"))
    now = runtime.clock.now()
    for act, keys in (
        (lambda tx: wake.application(tx, "a", "r"), ["machine/0", "machine/1"]),
        (lambda tx: wake.unit(tx, units.get(tx, "b/0"), "r"), ["machine/2"]),
        (lambda tx: wake.cleaner(tx, now, "r"), ["loop/cleanup"]),
        (lambda tx: wake.machine(tx, "7", "r"), ["machine/7"]),
    ):
        runtime.forget_work()
        runtime.write(act)
        assert runtime.touched() == keys


def test_only_machines_that_are_not_at_rest_see_a_change_of_the_model_config(runtime: TestController) -> None:
    runtime.active(count=6)
    runtime.deploy("new", packed=runtime.charms.make("new"))
    runtime.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, "web/1", Agent.ERROR, "hook failed"))
    runtime.forget_work()
    for machine, state in enumerate(
        (
            "reason = ''",
            "reason = ''",  # with a unit in error
            "failed = 1, reason = '[]'",
            "attempts = 2",
            "reason = 'it waits'",
            "owner = 'a process'",
        )
    ):
        runtime.write(lambda tx, machine=machine: wake.machine(tx, str(machine), ""))
        key = machine_key(runtime.model, str(machine))
        with runtime.ctx.store.write():
            runtime.ctx.store._connection.execute(f"UPDATE work SET {state} WHERE key = ?", (key,))
    before = _generations(runtime)
    set_model_config(
        runtime.ctx, runtime.resolve_model(), ModelConfigOptions(values={"automatically-retry-hooks": False})
    )
    now = _generations(runtime)
    assert [machine for machine in now if now[machine] != before.get(machine)] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
    ]


def _generations(runtime: TestController) -> dict[str, int]:
    with runtime.ctx.store.read() as tx:
        rows = {
            str(at): tx.row("work_generation", key=machine_key(runtime.model, str(at))) for at in range(7)
        }
    return {machine: row["generation"] for machine, row in rows.items() if row is not None}


@pytest.mark.parametrize(("key", "value", "marked"), [("ssh-allow", "10.0.0.0/8", 1), ("no-proxy", "a", 0)])
def test_only_settings_of_the_firewall_make_machines_compare_their_rules(
    runtime: TestController, key: str, value: str, marked: int
) -> None:
    runtime.active()
    runtime.write(lambda tx: tx.insert("machine_firewall", MachineFirewall(model=tx.model, machine="0")))
    runtime.forget_work()
    set_model_config(runtime.ctx, runtime.resolve_model(), ModelConfigOptions(values={key: value}))
    assert runtime.touched() == ["loop/firewall"] * marked


# --- relations --------------------------------------------------------------------------------------------


def _bag(runtime: TestController, entity: str, **changes: Any) -> bool:
    runtime.clock.now()
    relation = runtime.read(lambda tx: relations.of_application(tx, "web"))[0]
    return bool(runtime.write(lambda tx: relations.update_bag(tx, relation, entity, changes)))


def test_bags_count_their_changes(runtime: TestController) -> None:
    runtime.active(count=3)
    runtime.forget_work()
    assert _bag(runtime, "web/0", a="1", b="2")
    assert runtime.touched() == ["machine/1", "machine/2"]
    assert not _bag(runtime, "web/0", a="1", c=None, d="")
    assert _bag(runtime, "web/0", a=None)
    found = runtime.read(lambda tx: relations.bags(tx, 0))["web/0"]
    assert found.version == 2
    assert "a" not in found.data
    assert found.data["b"] == "2"


def test_last_member_of_a_dying_relation_removes_it(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clock.now()
    relation = runtime.read(lambda tx: relations.of_application(tx, "web"))[0]
    runtime.write(lambda tx: relations.destroy(tx, relation))
    for unit in ("web/0", "web/1"):
        assert runtime.dump()["relation"]
        runtime.write(lambda tx, unit=unit: relations.leave_scope(tx, 0, unit))
    dump = runtime.dump()
    assert [dump[table] for table in ("relation", "relation_endpoint", "relation_bag")] == [[], [], []]
    assert runtime.status(StatusKind.RELATION, "0") == ("", "")


def test_relation_without_members_goes_at_once(runtime: TestController) -> None:
    runtime.deploy()
    relation = runtime.read(lambda tx: relations.of_application(tx, "web"))[0]
    runtime.write(lambda tx: relations.destroy(tx, relation))
    assert runtime.dump()["relation"] == []


def test_peer_relation_is_joined_when_the_leader_entered(runtime: TestController) -> None:
    runtime.deploy()
    assert runtime.status(StatusKind.RELATION, "0") == ("joining", "")
    runtime.settle()
    assert runtime.status(StatusKind.RELATION, "0") == ("joined", "")
