"""Hooks of a new unit that are decided together: what follows what, what each sees, what ends a plan."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views import hook_runs
from pushjuju.store.rows.records import Operation
from pushjuju.uniter.commit import Committed, commit
from pushjuju.uniter.dispatch import Dispatch, prepared_operation, read_operation
from pushjuju.uniter.input.snapshot import read_view
from pushjuju.uniter.turn import Turn, take_turn
from tests.world.controller import TestController
from tests.world.machine import failed, ok, status_event

UNIT = "web/0"
ALL = ["charm local:web-0", "install", "leader-elected", "config-changed", "start"]


def ahead(runtime: TestController, unit: str = UNIT) -> Turn:
    """Let a unit decide as far as it can."""
    runtime.played()
    return take_turn(runtime.ctx, runtime.model, unit, loud=())


def lone(runtime: TestController) -> None:
    """Deploy a unit without peers: nothing of the model changes on its way."""
    runtime.deploy(packed=runtime.charms.make(peers={}))


def titles(turn: Turn) -> list[str]:
    """Return what a turn came to, in its order."""
    assert turn.dispatch is not None
    return [item.title for item in (turn.dispatch, *turn.plan)]


def rows(runtime: TestController) -> list[tuple[str, str]]:
    """Return (name, state) of the unit's operations that are not over."""
    found = runtime.read(lambda tx: tx.list(Operation, "operation_of_unit", unit=UNIT, limit=99))
    return [(row.name, row.state) for row in reversed(found) if row.state != "committed"]


def ended(runtime: TestController, dispatch: Dispatch, result: dict[str, Any] | None = None) -> Committed:
    """Take a result in."""
    return commit(runtime.ctx, dispatch.id, result or ok())


def rebuilt(runtime: TestController, dispatch: Dispatch) -> dict[str, Any]:
    """Return the request for an operation as it is built now."""

    def build(tx: Any) -> Dispatch:
        view = read_view(tx, dispatch.unit)
        row = tx.get(Operation, "operation_get", "gone", id=dispatch.id)
        assert view is not None
        return prepared_operation(tx, view, read_operation(row.document), row.id)

    return dict(runtime.read(build).frame)


def test_a_new_unit_decides_as_far_as_it_can(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert titles(turn) == ALL
    assert rows(runtime) == [(ALL[0], "prepared"), *((name, "planned") for name in ALL[1:])]
    links = [(item.frame.get("after"), item.frame.get("then")) for item in (turn.dispatch, *turn.plan)]
    ids = [item.id for item in (turn.dispatch, *turn.plan)]
    assert links == [(None, True), (ids[0], True), (ids[1], True), (ids[2], True), (ids[3], None)]


def test_each_is_taken_up_when_the_one_before_it_is_committed(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert turn.dispatch is not None
    current, seen = turn.dispatch, []
    for following in turn.plan:
        done = ended(runtime, current)
        assert done.next == following.id
        seen.append(runtime.agent()[1])
        current = following
    assert seen == [f"running {name} hook" for name in ALL[1:]]
    assert ended(runtime, current).next == ""
    assert (rows(runtime), runtime.turn().dispatch) == ([], None)
    assert runtime.agent() == ("idle", "")


def test_each_sees_what_it_would_see_if_it_were_asked_for_then(runtime: TestController) -> None:
    packed = runtime.charms.make(
        peers={"cluster": {"interface": "x"}}, requires={"db": {"interface": "sql"}},
        config={"options": {"title": {"type": "string", "default": "a"}}},
    )  # fmt: skip
    runtime.deploy(packed=packed)
    runtime.deploy("db", packed=runtime.charms.make("db", provides={"server": {"interface": "sql"}}))
    integrate.integrate(runtime.ctx, runtime.model, "web", "db")
    plans = []
    while (turn := ahead(runtime)).dispatch is not None:
        plans.append(titles(turn))
        current: Dispatch = turn.dispatch
        ended(runtime, current)
        for following in turn.plan:
            sent = {key: value for key, value in following.frame.items() if key not in ("after", "then")}
            assert sent == rebuilt(runtime, following), following.title
            ended(runtime, following)
    assert plans[:2] == [
        ["charm local:web-0", "install"],
        ["cluster-relation-created", "db-relation-created", "leader-elected", "config-changed", "start"],
    ]


@pytest.mark.parametrize(
    "result", [failed(), ok(reboot="after"), ok(outcome="terminated", signal=9, exit=None)]
)
def test_a_hook_that_does_not_end_well_ends_the_plan(runtime: TestController, result: dict[str, Any]) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert turn.dispatch is not None
    assert ended(runtime, turn.dispatch).next == turn.plan[0].id
    assert ended(runtime, turn.plan[0], result).next == ""
    assert [name for name, state in rows(runtime) if state == "planned"] == []
    before = runtime.dump()
    assert ended(runtime, turn.plan[1]).message == "committed before"  # whatever its machine says
    assert runtime.dump() == before


def test_a_result_that_comes_before_its_turn_changes_nothing(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    before = runtime.dump()
    for item in turn.plan:
        result = ok(writes={"state": {"a": "b"}}, events=[status_event(1, "active")])
        assert ended(runtime, item, result).message == "committed before"
    assert runtime.dump() == before


def test_what_people_change_meanwhile_is_seen_by_the_hooks_after_the_plan(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert turn.dispatch is not None
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "new"}))
    for item in (turn.dispatch, *turn.plan):
        ended(runtime, item)
    again = runtime.prepared()
    assert again.title == "config-changed"
    assert again.frame["context"]["config"]["title"] == "new"


def test_a_unit_that_is_removed_meanwhile_stops_after_its_plan(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert turn.dispatch is not None
    ended(runtime, turn.dispatch)
    removals.remove_units(runtime.ctx, runtime.model, [UNIT])
    for item in turn.plan:
        ended(runtime, item)
    assert runtime.prepared().title == "stop"


def test_a_unit_that_is_gone_takes_its_plan_along(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    unit = runtime.unit(UNIT)
    runtime.write(lambda tx: removal.remove_unit(tx, unit))
    assert turn.dispatch is not None
    for item in (turn.dispatch, *turn.plan):
        assert (ended(runtime, item).next, ended(runtime, item).message) == ("", "committed before")


def test_a_status_that_a_hook_sets_stays_until_the_next_one_sets_another(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert turn.dispatch is not None
    ended(runtime, turn.dispatch)
    ended(
        runtime, turn.plan[0], ok(events=[status_event(1, "blocked", "no disk")], writes={"status_set": True})
    )
    for item in turn.plan[1:]:
        ended(runtime, item)
    assert runtime.workload() == ("blocked", "no disk")
    assert runtime.history(StatusKind.WORKLOAD, UNIT)[-1] == ("blocked", "no disk")


def started(runtime: TestController, **more: Any) -> None:
    """Deploy a unit and let it come to rest."""
    runtime.deploy(packed=runtime.charms.make(peers={}, **more))
    turn = ahead(runtime)
    for item in (turn.dispatch, *turn.plan):
        assert item is not None
        ended(runtime, item)
    assert ahead(runtime).dispatch is None


def as_built_then(runtime: TestController, turn: Turn) -> None:
    """Check that each hook of a plan is sent as it would be built when its turn comes."""
    assert turn.dispatch is not None
    ended(runtime, turn.dispatch)
    for item in turn.plan:
        sent = {key: value for key, value in item.frame.items() if key not in ("after", "then")}
        assert sent == rebuilt(runtime, item), item.title
        assert ended(runtime, item).ok


def test_ten_relations_of_a_unit_at_work_are_one_plan(runtime: TestController) -> None:
    ends = {f"e{number}": {"interface": "x"} for number in range(10)}
    started(runtime, requires=ends)
    runtime.deploy("sink", packed=runtime.charms.make("sink", provides={"all": {"interface": "x"}}), count=0)
    for name in ends:
        integrate.integrate(runtime.ctx, runtime.model, f"web:{name}", "sink:all")
    turn = ahead(runtime)
    assert titles(turn) == [f"{name}-relation-created" for name in ends]
    assert turn.dispatch is not None
    contexts = [item.frame["context"] for item in (turn.dispatch, *turn.plan)]
    for part in ("config", "network", "endpoints"):
        assert len({id(context[part]) for context in contexts}) == 1, f"the plan holds {part} ten times"
    of_first = {id(context["relations"][min(contexts[0]["relations"])]) for context in contexts}
    assert len(of_first) <= 2, "a relation is held again for each hook of other relations"
    as_built_then(runtime, turn)
    assert ahead(runtime).dispatch is None


def test_nothing_is_planned_behind_a_hook_that_wrote_the_last_time(runtime: TestController) -> None:
    lone(runtime)
    runtime.played()
    turn = take_turn(runtime.ctx, runtime.model, UNIT, loud={"leader-elected", "start"})
    assert titles(turn) == ["charm local:web-0", "install", "leader-elected"]
    assert turn.dispatch is not None
    assert not ended(runtime, turn.dispatch).loud
    assert not ended(runtime, turn.plan[0], ok(events=[status_event(1, "active")])).loud
    assert ended(runtime, turn.plan[1], ok(writes={"state": {"a": "b"}})).loud


def test_an_upgrade_and_its_hooks_are_one_plan(runtime: TestController) -> None:
    started(runtime, config={"options": {"title": {"type": "string", "default": "old"}}})
    newer = {"options": {"title": {"type": "string", "default": "new"}}}
    runtime.refresh(runtime.charms.make(peers={}, config=newer["options"], files={"a": "b"}))
    turn = ahead(runtime)
    assert titles(turn) == ["charm local:web-1", "upgrade-charm", "config-changed"]
    assert {item.frame["context"]["config"]["title"] for item in turn.plan} == {"new"}
    as_built_then(runtime, turn)
    assert ahead(runtime).dispatch is None
    assert runtime.agent() == ("idle", "")


def test_hooks_of_a_joining_unit_are_one_plan(runtime: TestController) -> None:
    started(runtime, requires={"db": {"interface": "sql"}})
    runtime.deploy(
        "db", packed=runtime.charms.make("db", peers={}, provides={"server": {"interface": "sql"}})
    )
    integrate.integrate(runtime.ctx, runtime.model, "web", "db")
    as_built_then(runtime, ahead(runtime))
    as_built_then(runtime, ahead(runtime, "db/0"))  # starts, and enters the scope after that
    as_built_then(runtime, ahead(runtime, "db/0"))
    turn = ahead(runtime)
    assert titles(turn) == ["db-relation-joined", "db-relation-changed"]
    as_built_then(runtime, turn)


def test_nothing_is_planned_behind_a_hook_that_is_tried_again(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert turn.dispatch is not None
    ended(runtime, turn.dispatch)
    ended(runtime, turn.plan[0], failed())
    assert ahead(runtime).dispatch is None  # it waits for its retry
    assert runtime.agent() == ("error", 'hook failed: "install"')
    runtime.clock.advance(400)
    turn = ahead(runtime)
    assert titles(turn)[0] == "install"
    assert ended(runtime, turn.dispatch or turn.plan[0]).ok


# --- what is told afterwards ------------------------------------------------------------------------------


def run_at(runtime: TestController, turn: Turn, clock: float) -> list[str]:
    """Let a machine run a plan while nobody hears of it, then take all in; return what hooks said.

    Args:
        clock: Seconds that the machine's clock is ahead.
    """
    assert turn.dispatch is not None
    begun, said = runtime.clock.now().timestamp() + clock, []
    runtime.clock.advance(60)
    for number, item in enumerate((turn.dispatch, *turn.plan)):
        start = begun + 10 * number
        told = status_event(1, "maintenance", f"{item.title} says")
        told["e"]["time"] = start + 5
        said.append(told["e"]["message"])
        events = [told] if number else []
        writes = {"status_set": bool(number)}
        ended(runtime, item, ok(events=events, writes=writes, started=start, ended=start + 9))
    return said[1:]


@pytest.mark.parametrize("clock", [0.0, -3600.0, 3600.0])
def test_statuses_are_listed_in_the_order_in_which_they_were_set(
    runtime: TestController, clock: float
) -> None:
    """Also of hooks whose results came together, and of machines whose clock is wrong."""
    lone(runtime)
    said = run_at(runtime, ahead(runtime), clock)
    entries = runtime.read(
        lambda tx: statuses.history(tx, StatusKind.WORKLOAD, UNIT, also=StatusKind.AGENT, limit=99)
    )
    assert [item.since for item in entries] == sorted(item.since for item in entries)
    texts = [item.message for item in entries if item.message.endswith((" says", " hook"))]
    hooks = [f"running {name} hook" for name in ALL[1:]]
    assert texts == [text for pair in zip(hooks, said, strict=True) for text in pair]
    assert (
        runtime.workload()[1] == said[-1] == [item.message for item in entries if item.kind == "workload"][-1]
    )
    if not clock:
        seconds = [(item.since - entries[0].since).total_seconds() for item in entries]
        assert seconds[texts.index("running start hook")] < 60


def test_each_hook_is_told_with_its_own_statuses(runtime: TestController) -> None:
    lone(runtime)
    run_at(runtime, ahead(runtime), 0.0)
    told = {
        run.hook: run.changes for run in hook_runs.history(runtime.ctx, runtime.model, hook_runs.Wanted())
    }
    assert told == {ALL[0]: {}, **{name: {"status": [f"maintenance: {name} says"]} for name in ALL[1:]}}


def test_a_failed_hook_is_told_with_the_statuses_that_it_set(runtime: TestController) -> None:
    lone(runtime)
    turn = ahead(runtime)
    assert turn.dispatch is not None
    ended(runtime, turn.dispatch)
    events = [status_event(1, "blocked", "no disk"), status_event(2, "blocked", "no disk")]
    ended(runtime, turn.plan[0], failed(events=events))
    run = hook_runs.history(runtime.ctx, runtime.model, hook_runs.Wanted())[-1]
    assert (run.hook, run.changes) == ("install", {"status": ["blocked: no disk"]})
