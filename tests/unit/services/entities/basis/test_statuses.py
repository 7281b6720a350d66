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
from pushjuju.services.lifecycle import removal
from tests.world.controller import World

UNIT = StatusKind.WORKLOAD


def _set(shop: World, *words: str, **more: Any) -> None:
    shop.write(
        lambda tx: statuses.set_status(tx, shop.model, UNIT, "u/0", *words, now=shop.clock.now(), **more)
    )


def _history(shop: World, **more: Any) -> list[tuple[str, str, str]]:
    found = shop.read(lambda tx: statuses.history(tx, shop.model, more.pop("kind", UNIT), "u/0", **more))
    return [(item.status, item.message, item.since.strftime("%H:%M:%S")) for item in found]


# --- history ----------------------------------------------------------------------------------------------


def test_history_appends_what_differs(shop: World) -> None:
    for words in (("active",), ("active", "ready"), ("blocked", "ready"), ("active",)):
        _set(shop, *words)
        shop.clock.advance(1)
    assert _history(shop) == [
        ("active", "", "09:00:00"),
        ("active", "ready", "09:00:01"),
        ("blocked", "ready", "09:00:02"),
        ("active", "", "09:00:03"),
    ]


def test_repetition_moves_the_newest_entry(shop: World) -> None:
    _set(shop, "active", "a")
    shop.clock.advance(60)
    _set(shop, "active", "a")
    assert _history(shop) == [("active", "a", "09:01:00")]
    info: StatusInfo = shop.read(lambda tx: statuses.get_status(tx, shop.model, UNIT, "u/0"))
    assert info.since == shop.clock.now()


def test_other_data_is_another_entry(shop: World) -> None:
    _set(shop, "error", "a", data={"hook": "x"})
    _set(shop, "error", "a", data={"hook": "y"})
    _set(shop, "error", "a", data={"hook": "y"})
    assert len(_history(shop)) == 2


def test_newest_entries_oldest_first(shop: World) -> None:
    for number in range(5):
        _set(shop, "active", str(number))
        shop.clock.advance(1)
    assert [message for _, message, _ in _history(shop, limit=2)] == ["3", "4"]
    since = shop.clock.now() - timedelta(seconds=3)
    assert [message for _, message, _ in _history(shop, since=since)] == ["2", "3", "4"]


def test_two_kinds_mixed_by_time(shop: World) -> None:
    _set(shop, "waiting")
    shop.clock.advance(1)
    agent = StatusKind.AGENT
    now = shop.clock.now()
    shop.write(lambda tx: statuses.set_status(tx, shop.model, agent, "u/0", Agent.EXECUTING, now=now))
    shop.clock.advance(1)
    _set(shop, "active")
    assert [word for word, _, _ in _history(shop, also=agent)] == ["waiting", "executing", "active"]
    assert [word for word, _, _ in _history(shop, kind=agent)] == ["executing"]


def test_no_history(shop: World) -> None:
    with pytest.raises(NotFound) as caught:
        _history(shop)
    assert caught.value.message == "no status history available"


def test_idle_keeps_its_since(shop: World) -> None:
    def idle() -> bool:
        now = shop.clock.now()
        return bool(
            shop.write(lambda tx: statuses.set_agent_status(tx, shop.model, "u/0", Agent.IDLE, now=now))
        )

    assert idle()
    shop.clock.advance(100)
    assert not idle()
    assert _history(shop, kind=StatusKind.AGENT) == [("idle", "", "09:00:00")]


def test_what_is_forgotten(shop: World) -> None:
    _set(shop, "active")
    shop.write(lambda tx: statuses.forget(tx, shop.model, "u/0", [UNIT]))
    assert shop.status(UNIT, "u/0") == ("", "")
    with pytest.raises(NotFound):
        _history(shop)


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


def _lead(shop: World, unit: str, **changes: str) -> None:
    shop.write(
        lambda tx: leadership.set_settings(tx, units.get(tx, shop.model, unit), changes, shop.clock.now())
    )


def _version(shop: World) -> int:
    return int(shop.read(lambda tx: applications.get(tx, shop.model, "web").leader_settings_version + 1))


def test_first_unit_that_is_ready_leads(shop: World) -> None:
    shop.deploy(count=2)
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "web")) is None
    shop.box("1")
    shop.turn("web/1")
    shop.settle()
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "web")) == "web/1"
    assert "leader-elected" not in shop.of("web/0")


def test_dying_unit_claims_nothing(shop: World) -> None:
    shop.active()
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    now = shop.clock.now()
    shop.write(lambda tx: leadership.revoke(tx, units.get(tx, shop.model, "web/0"), now))
    shop.turn()
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "web")) is None


def test_leader_settings_merge(shop: World) -> None:
    shop.active(count=2)
    _lead(shop, "web/0", a="1", b="2")
    _lead(shop, "web/0", b="", c="3")
    assert shop.read(lambda tx: leadership.settings(tx, shop.model, "web")) == {"a": "1", "c": "3"}


def test_leader_settings_count_changes_only(shop: World) -> None:
    shop.active(count=2)
    shop.clear()
    assert _version(shop) == 1
    shop.forget_work()
    _lead(shop, "web/0", a="1")
    assert (_version(shop), shop.touched()) == (2, ["machine/1"])
    shop.forget_work()
    _lead(shop, "web/0", a="1", gone="")
    assert (_version(shop), shop.touched()) == (2, [])
    shop.settle()
    assert (shop.of("web/0"), shop.of("web/1")) == ([], ["leader-settings-changed"])


def test_only_the_leader_writes(shop: World) -> None:
    shop.active(count=2)
    before = shop.dump()
    with pytest.raises(NotPermitted) as caught:
        _lead(shop, "web/1", a="1")
    text = "cannot write leadership settings: cannot write settings: not the leader"
    assert caught.value.message == text
    assert shop.dump() == before


# --- the log ----------------------------------------------------------------------------------------------


def test_log_is_read_both_ways(shop: World) -> None:
    def fill(tx: Any) -> None:
        for number in range(1200):
            logs.append(tx, shop.model, "unit-web-0", "INFO", "m", str(number), now=shop.clock.now())

    shop.write(fill)
    found = logs.after(shop.ctx.store, shop.model, 0)
    assert [item.message for item in found] == [str(number) for number in range(1200)]
    assert logs.after(shop.ctx.store, shop.model, found[-2].id)[0].message == "1199"
    back = logs.newest_first(shop.ctx.store, shop.model)
    assert [item.message for item in back] == [str(number) for number in reversed(range(1200))]
    assert logs.after(shop.ctx.store, "other", 0) == []


# --- touch ------------------------------------------------------------------------------------------------


def test_touches(shop: World) -> None:
    shop.deploy("a", 2)
    shop.deploy("b", packed=shop.charms.make("b"))
    now = shop.clock.now()
    for act, keys in (
        (lambda tx: wake.application(tx, shop.model, "a", now, "r"), ["machine/0", "machine/1"]),
        (lambda tx: wake.unit(tx, units.get(tx, shop.model, "b/0"), now, "r"), ["machine/2"]),
        (lambda tx: wake.all_units(tx, shop.model, now, "r"), ["machine/0", "machine/1", "machine/2"]),
        (lambda tx: wake.cleaner(tx, shop.model, now, "r"), ["loop/cleanup"]),
        (lambda tx: wake.machine(tx, shop.model, "7", now, "r"), ["machine/7"]),
    ):
        shop.forget_work()
        shop.write(act)
        assert shop.touched() == keys


# --- relations --------------------------------------------------------------------------------------------


def _bag(shop: World, entity: str, **changes: Any) -> bool:
    now = shop.clock.now()
    relation = shop.read(lambda tx: relations.of_application(tx, shop.model, "web"))[0]
    return bool(shop.write(lambda tx: relations.update_bag(tx, relation, entity, changes, now)))


def test_bags_count_their_changes(shop: World) -> None:
    shop.active(count=3)
    shop.forget_work()
    assert _bag(shop, "web/0", a="1", b="2")
    assert shop.touched() == ["machine/1", "machine/2"]
    assert not _bag(shop, "web/0", a="1", c=None, d="")
    assert _bag(shop, "web/0", a=None)
    found = shop.read(lambda tx: relations.bags(tx, shop.model, 0))["web/0"]
    assert found.version == 2
    assert "a" not in found.data
    assert found.data["b"] == "2"


def test_last_member_of_a_dying_relation_removes_it(shop: World) -> None:
    shop.active(count=2)
    now = shop.clock.now()
    relation = shop.read(lambda tx: relations.of_application(tx, shop.model, "web"))[0]
    shop.write(lambda tx: relations.destroy(tx, relation, now))
    for unit in ("web/0", "web/1"):
        assert shop.dump()["relation"]
        shop.write(lambda tx, unit=unit: relations.leave_scope(tx, shop.model, 0, unit, now))
    dump = shop.dump()
    assert [dump[table] for table in ("relation", "relation_endpoint", "relation_bag")] == [[], [], []]
    assert shop.status(StatusKind.RELATION, "0") == ("", "")


def test_relation_without_members_goes_at_once(shop: World) -> None:
    shop.deploy()
    relation = shop.read(lambda tx: relations.of_application(tx, shop.model, "web"))[0]
    shop.write(lambda tx: relations.destroy(tx, relation, shop.clock.now()))
    assert shop.dump()["relation"] == []


def test_peer_relation_is_joined_when_the_leader_entered(shop: World) -> None:
    shop.deploy()
    assert shop.status(StatusKind.RELATION, "0") == ("joining", "")
    shop.settle()
    assert shop.status(StatusKind.RELATION, "0") == ("joined", "")
