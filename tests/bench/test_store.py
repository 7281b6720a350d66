"""The controller without machines: transactions, decisions, and what a unit's turn costs in a large model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import logs, statuses
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.store.db import Store
from pushjuju.store.leases import DeferredStore
from pushjuju.store.rows.records import Operation
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.dispatch import prepared_operation, read_operation
from pushjuju.uniter.input.snapshot import read_view
from tests.bench.figures import Report
from tests.bench.statements import counted
from tests.world.controller import TestController

OTHERS = (10, 100, 1000)
UNIT = "web/0"
ROUNDS = 200
SHARED = 20  # writers of one commit
MAX_STATEMENTS = {"turn": 60, "commit": 45, "idle": 30}


def rate(work: Callable[[], object], *, times: int = ROUNDS, series: int = 5) -> list[float]:
    """Return how often something can be done in a second, measured some times."""
    found = []
    for _ in range(series):
        begin = time.perf_counter()
        for _ in range(times):
            work()
        found.append(times / (time.perf_counter() - begin))
    return found


async def shared_rate(store: Store, work: Callable[[Store], object], *, times: int = ROUNDS) -> float:
    """Return how often something can be done in a second by writers who wait together for the disk."""

    async def writer() -> None:
        mine = DeferredStore(store)
        for _ in range(times // SHARED):
            work(mine)
            await mine.durable()

    begin = time.perf_counter()
    await asyncio.gather(*(writer() for _ in range(SHARED)))
    return times / (time.perf_counter() - begin)


def milliseconds(work: Callable[[], object], *, times: int = ROUNDS) -> list[float]:
    """Return the milliseconds of each of some runs."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append((time.perf_counter() - begin) * 1000)
    return found


@pytest.fixture
def web(world: TestController) -> TestController:
    """One unit at rest, in a store that is written as in real life."""
    world.active("web")
    world.ctx.store._connection.execute("PRAGMA synchronous = FULL")
    return world


def change(world: TestController, number: int) -> None:
    """Make config-changed due."""
    settings.set_config(
        world.ctx, world.model, ConfigOptions(application="web", values={"port": str(number)})
    )


def surround(world: TestController, count: int) -> None:
    """Fill the model with units of other applications up to a number; nothing of them runs."""
    present = len(world.units()) - 1
    if count > present:
        world.deploy(f"other{count}", count - present)


def build(world: TestController) -> None:
    """Read all that a hook's frame is made from, and make it."""
    with world.ctx.read(world.model) as tx:
        view = read_view(tx, UNIT)
        assert view is not None
        operation = read_operation(_last_operation(tx, world))
        prepared_operation(tx, view, operation, "bench")


def _last_operation(tx: ModelTx, world: TestController) -> dict[str, object]:
    row = tx.list(Operation, "operation_of_unit", unit=UNIT, limit=1)[0]
    return dict(row.document)


def statements_of_a_hook(world: TestController, number: int) -> dict[str, int]:
    """Run one config-changed; return how many statements its steps took."""
    change(world, number)
    with counted(world.ctx.store) as turn:
        dispatch = world.prepared(UNIT)
    result = world.played().run(dispatch.frame)
    with counted(world.ctx.store) as committing:
        assert world.commit(dispatch, result).ok
    with counted(world.ctx.store) as idle:
        assert world.turn(UNIT).dispatch is None
    return {"turn": len(turn), "commit": len(committing), "idle": len(idle)}


def test_the_size_of_the_model_adds_no_statement(web: TestController) -> None:
    found = []
    for number, count in enumerate(OTHERS):
        surround(web, count)
        found.append(statements_of_a_hook(web, 1000 + number))
    assert found[0] == found[1] == found[2]
    assert all(found[0][step] <= most for step, most in MAX_STATEMENTS.items()), found[0]


def test_the_number_of_peers_adds_no_statement(world: TestController) -> None:
    found = []
    for number, more in enumerate((2, 3, 7)):
        if number:
            units.add_units(world.ctx, world.model, "web", more, [])
            world.settle()
        else:
            world.active("web", more)
        found.append(statements_of_a_hook(world, 2000 + number))
    assert found[0] == found[1] == found[2]


def test_no_statement_of_a_hook_walks_through_the_model(web: TestController) -> None:
    connection = web.ctx.store._connection
    change(web, 1)
    with counted(web.ctx.store) as statements:
        dispatch = web.prepared(UNIT)
        web.commit(dispatch, web.played().run(dispatch.frame))
        web.turn(UNIT)
    walks = []
    for statement in statements:
        plan = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        # Of no table; of a table that does not grow with the model.
        plan = [step for step in plan if step not in ("SCAN CONSTANT ROW", "SCAN notify_target")]
        # A model's own settings are few.
        walks += [
            (step, statement)
            for step in plan
            if step.startswith("SCAN") or (step.endswith("(model=?)") and "model_config" not in step)
        ]
    assert walks == []


@pytest.mark.bench
def test_store(report: Report, web: TestController) -> None:
    now = web.clock.now()

    def once(store: Store = web.ctx.store) -> None:
        with store.write() as plain:
            tx = web.ctx.of(plain, web.model)
            statuses.set_status(tx, StatusKind.WORKLOAD, UNIT, "active", str(next(numbers)))
            for _ in range(3):
                logs.append(tx, "unit-web-0", "INFO", "bench", "a line", now=now)
            tx.run("unit_set_resolved", name=UNIT, resolved="none")

    numbers = iter(range(10**9))
    note = "7 statements each, synchronous=FULL"
    report.add("transactions of the store", rate(once), "/s", note=note)
    note = f"the same, {SHARED} writers for each commit to the disk"
    rates = [asyncio.run(shared_rate(web.ctx.store, once)) for _ in range(5)]
    report.add("... with shared commits", rates, "/s", target=">= 5000 /s", note=note)
    with web.ctx.read(web.model) as tx:
        view = read_view(tx, UNIT)
    assert view is not None
    report.add("decisions (pure)", rate(lambda: decide(view.local, view.remote)), "/s")


@pytest.mark.bench
def test_turns(report: Report, web: TestController) -> None:
    for number, count in enumerate(OTHERS):
        surround(web, count)
        steps = statements_of_a_hook(web, 1000 + number)
        note = f"statements: turn {steps['turn']}, commit {steps['commit']}, turn after it {steps['idle']}"
        samples = milliseconds(lambda: build(web))
        report.add(f"snapshot and context of a unit, {count} other units", samples, note=note)
    turns, commits, idles = [], [], []
    for number in range(ROUNDS):
        change(web, number)
        begin = time.perf_counter()
        dispatch = web.prepared(UNIT)
        turns.append((time.perf_counter() - begin) * 1000)
        result = web.played().run(dispatch.frame)
        begin = time.perf_counter()
        web.commit(dispatch, result)
        commits.append((time.perf_counter() - begin) * 1000)
        begin = time.perf_counter()
        web.turn(UNIT)
        idles.append((time.perf_counter() - begin) * 1000)
    report.add("turn that leads to a hook", turns)
    report.add("commit of its result", commits)
    report.add("turn that finds nothing to do", idles)
