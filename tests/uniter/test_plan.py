"""Hooks of a new unit that are decided together: what follows what, what each sees, what ends a plan."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import applications
from pushjuju.services.entities.basis import statuses
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import integrate
from pushjuju.services.views import hook_runs
from pushjuju.state.records import Operation
from pushjuju.uniter.commit import Committed, commit
from pushjuju.uniter.prepared import Prepared, prepared_operation, read_operation
from pushjuju.uniter.resolver import HookKind
from pushjuju.uniter.snapshot import look
from pushjuju.uniter.turn import Turn, take_turn
from tests.unit.services.world import World, failed, ok, status_event

UNIT = "web/0"
ALL = ["charm local:web-0", "install", "leader-elected", "config-changed", "start"]


def ahead(shop: World, unit: str = UNIT) -> Turn:
    """Let a unit decide as far as it can."""
    shop.box()
    return take_turn(shop.ctx, shop.model, unit, ahead=True)


def lone(shop: World) -> None:
    """Deploy a unit without peers: nothing of the model changes on its way."""
    shop.deploy(packed=shop.charms.make(peers={}))


def titles(turn: Turn) -> list[str]:
    """Return what a turn came to, in its order."""
    assert turn.prepared is not None
    return [item.title for item in (turn.prepared, *turn.plan)]


def rows(shop: World) -> list[tuple[str, str]]:
    """Return (name, state) of the unit's operations that are not over."""
    found = shop.read(
        lambda tx: tx.list(Operation, "operation_of_unit", model=shop.model, unit=UNIT, limit=99)
    )
    return [(row.name, row.state) for row in reversed(found) if row.state != "committed"]


def ended(shop: World, prepared: Prepared, result: dict[str, Any] | None = None) -> Committed:
    """Take a result in."""
    return commit(shop.ctx, prepared.id, result or ok())


def rebuilt(shop: World, prepared: Prepared) -> dict[str, Any]:
    """Return the request for an operation as it is built now."""

    def build(tx: Any) -> Prepared:
        view = look(tx, shop.model, prepared.unit)
        row = tx.get(Operation, "operation_get", "gone", id=prepared.id)
        assert view is not None
        return prepared_operation(tx, view, read_operation(row.document), row.id)

    return dict(shop.read(build).frame)


def test_a_new_unit_decides_as_far_as_it_can(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    assert titles(turn) == ALL
    assert rows(shop) == [(ALL[0], "prepared"), *((name, "planned") for name in ALL[1:])]
    links = [(item.frame.get("after"), item.frame.get("then")) for item in (turn.prepared, *turn.plan)]
    ids = [item.id for item in (turn.prepared, *turn.plan)]
    assert links == [(None, True), (ids[0], True), (ids[1], True), (ids[2], True), (ids[3], None)]


def test_each_is_taken_up_when_the_one_before_it_is_committed(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    assert turn.prepared is not None
    current, seen = turn.prepared, []
    for following in turn.plan:
        done = ended(shop, current)
        assert done.next == following.id
        seen.append(shop.agent()[1])
        current = following
    assert seen == [f"running {name} hook" for name in ALL[1:]]
    assert ended(shop, current).next == ""
    assert (rows(shop), shop.turn().prepared) == ([], None)
    assert shop.agent() == ("idle", "")


def test_each_sees_what_it_would_see_if_it_were_asked_for_then(shop: World) -> None:
    packed = shop.charms.make(
        peers={"cluster": {"interface": "x"}}, requires={"db": {"interface": "sql"}},
        config={"options": {"title": {"type": "string", "default": "a"}}},
    )  # fmt: skip
    shop.deploy(packed=packed)
    shop.deploy("db", packed=shop.charms.make("db", provides={"server": {"interface": "sql"}}))
    integrate.integrate(shop.ctx, shop.model, "web", "db")
    plans = []
    while (turn := ahead(shop)).prepared is not None:
        plans.append(titles(turn))
        current: Prepared = turn.prepared
        ended(shop, current)
        for following in turn.plan:
            sent = {key: value for key, value in following.frame.items() if key not in ("after", "then")}
            assert sent == rebuilt(shop, following), following.title
            ended(shop, following)
    assert plans[:2] == [
        ["charm local:web-0", "install"],
        ["cluster-relation-created", "db-relation-created", "leader-elected", "config-changed", "start"],
    ]


@pytest.mark.parametrize(
    "result", [failed(), ok(reboot="after"), ok(outcome="terminated", signal=9, exit=None)]
)
def test_a_hook_that_does_not_end_well_ends_the_plan(shop: World, result: dict[str, Any]) -> None:
    lone(shop)
    turn = ahead(shop)
    assert turn.prepared is not None
    assert ended(shop, turn.prepared).next == turn.plan[0].id
    assert ended(shop, turn.plan[0], result).next == ""
    assert [name for name, state in rows(shop) if state == "planned"] == []
    before = shop.dump()
    assert ended(shop, turn.plan[1]).message == "committed before"  # whatever its machine says
    assert shop.dump() == before


def test_a_result_that_comes_before_its_turn_changes_nothing(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    before = shop.dump()
    for item in turn.plan:
        result = ok(writes={"state": {"a": "b"}}, events=[status_event(1, "active")])
        assert ended(shop, item, result).message == "committed before"
    assert shop.dump() == before


def test_what_people_change_meanwhile_is_seen_by_the_hooks_after_the_plan(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    assert turn.prepared is not None
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "new"})
    for item in (turn.prepared, *turn.plan):
        ended(shop, item)
    again = shop.prepared()
    assert again.title == "config-changed"
    assert again.frame["context"]["config"]["title"] == "new"


def test_a_unit_that_is_removed_meanwhile_stops_after_its_plan(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    assert turn.prepared is not None
    ended(shop, turn.prepared)
    removal.remove_units(shop.ctx, shop.model, [UNIT])
    for item in turn.plan:
        ended(shop, item)
    assert shop.prepared().title == "stop"


def test_a_unit_that_is_gone_takes_its_plan_along(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    unit = shop.unit(UNIT)
    shop.write(lambda tx: removal.remove_unit(tx, unit, shop.clock.now()))
    assert turn.prepared is not None
    for item in (turn.prepared, *turn.plan):
        assert (ended(shop, item).next, ended(shop, item).message) == ("", "committed before")


def test_a_status_that_a_hook_sets_stays_until_the_next_one_sets_another(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    assert turn.prepared is not None
    ended(shop, turn.prepared)
    ended(shop, turn.plan[0], ok(events=[status_event(1, "blocked", "no disk")], writes={"status_set": True}))
    for item in turn.plan[1:]:
        ended(shop, item)
    assert shop.workload() == ("blocked", "no disk")
    assert shop.history(StatusKind.WORKLOAD, UNIT)[-1] == ("blocked", "no disk")


def test_a_unit_at_work_plans_nothing(shop: World) -> None:
    lone(shop)
    for item in (turn := ahead(shop)).plan and (turn.prepared, *turn.plan):
        assert item is not None
        ended(shop, item)
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "new"})
    turn = ahead(shop)
    assert titles(turn) == [HookKind.CONFIG_CHANGED]
    assert "then" not in (turn.prepared.frame if turn.prepared else {})


def test_nothing_is_planned_behind_a_hook_that_is_tried_again(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    assert turn.prepared is not None
    ended(shop, turn.prepared)
    ended(shop, turn.plan[0], failed())
    assert ahead(shop).prepared is None  # it waits for its retry
    assert shop.agent() == ("error", 'hook failed: "install"')
    shop.clock.advance(400)
    turn = ahead(shop)
    assert titles(turn)[0] == "install"
    assert ended(shop, turn.prepared or turn.plan[0]).ok


# --- what is told afterwards ------------------------------------------------------------------------------


def run_at(shop: World, turn: Turn, clock: float) -> list[str]:
    """Let a machine run a plan while nobody hears of it, then take all in; return what hooks said.

    Args:
        clock: Seconds that the machine's clock is ahead.
    """
    assert turn.prepared is not None
    begun, said = shop.clock.now().timestamp() + clock, []
    shop.clock.advance(60)
    for number, item in enumerate((turn.prepared, *turn.plan)):
        start = begun + 10 * number
        told = status_event(1, "maintenance", f"{item.title} says")
        told["e"]["time"] = start + 5
        said.append(told["e"]["message"])
        events = [told] if number else []
        writes = {"status_set": bool(number)}
        ended(shop, item, ok(events=events, writes=writes, started=start, ended=start + 9))
    return said[1:]


@pytest.mark.parametrize("clock", [0.0, -3600.0, 3600.0])
def test_statuses_are_listed_in_the_order_in_which_they_were_set(shop: World, clock: float) -> None:
    """Also of hooks whose results came together, and of machines whose clock is wrong."""
    lone(shop)
    said = run_at(shop, ahead(shop), clock)
    entries = shop.read(
        lambda tx: statuses.history(
            tx, shop.model, StatusKind.WORKLOAD, UNIT, also=StatusKind.AGENT, limit=99
        )
    )
    assert [item.since for item in entries] == sorted(item.since for item in entries)
    texts = [item.message for item in entries if item.message.endswith((" says", " hook"))]
    hooks = [f"running {name} hook" for name in ALL[1:]]
    assert texts == [text for pair in zip(hooks, said, strict=True) for text in pair]
    assert shop.workload()[1] == said[-1] == [item.message for item in entries if item.kind == "workload"][-1]
    if not clock:
        seconds = [(item.since - entries[0].since).total_seconds() for item in entries]
        assert seconds[texts.index("running start hook")] < 60


def test_each_hook_is_told_with_its_own_statuses(shop: World) -> None:
    lone(shop)
    run_at(shop, ahead(shop), 0.0)
    told = {run.hook: run.changes for run in hook_runs.history(shop.ctx, shop.model, hook_runs.Wanted())}
    assert told == {ALL[0]: {}, **{name: {"status": [f"maintenance: {name} says"]} for name in ALL[1:]}}


def test_a_failed_hook_is_told_with_the_statuses_that_it_set(shop: World) -> None:
    lone(shop)
    turn = ahead(shop)
    assert turn.prepared is not None
    ended(shop, turn.prepared)
    events = [status_event(1, "blocked", "no disk"), status_event(2, "blocked", "no disk")]
    ended(shop, turn.plan[0], failed(events=events))
    run = hook_runs.history(shop.ctx, shop.model, hook_runs.Wanted())[-1]
    assert (run.hook, run.changes) == ("install", {"status": ["blocked: no disk"]})
