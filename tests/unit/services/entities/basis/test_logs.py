"""The log of a model: reading some of very much, and forgetting what is old or too much."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotValid
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.model import model_config
from pushjuju.store.tx import ModelTx
from tests.bench.statements import effort
from tests.world.controller import TestController

LEVELS = ("DEBUG", "INFO", "INFO", "WARNING", "ERROR")


def _fill(world: TestController, count: int, *, start: int = 0, step_s: float = 1.0) -> None:
    def write(tx: ModelTx) -> None:
        for number in range(start, start + count):
            world.clock.advance(step_s)
            entity, level = f"unit-web-{number % 3}", LEVELS[number % len(LEVELS)]
            now = world.clock.now()
            logs.append(tx, entity, level, "juju.worker", str(number), now=now)

    world.write(write)


def test_pages_hold_everything_once_and_in_order(runtime: TestController) -> None:
    _fill(runtime, 300)
    pages = list(logs.pages_after(runtime.ctx.store, runtime.model, 0))
    assert len(pages[0]) < len(pages[1])
    assert [int(record.message) for page in pages for record in page] == list(range(300))
    backwards = list(logs.newest_first(runtime.ctx.store, runtime.model))
    assert [int(record.message) for record in backwards] == list(range(299, -1, -1))


def test_the_store_leaves_out_what_is_not_wanted(runtime: TestController) -> None:
    _fill(runtime, 200)
    among = logs.Among(levels=("WARNING", "ERROR", "CRITICAL"), entities=("unit-web-1",))
    found = [int(record.message) for record in logs.newest_first(runtime.ctx.store, runtime.model, among)]
    assert found == [number for number in range(199, -1, -1) if number % 3 == 1 and number % 5 > 2]
    assert (
        logs.newest(runtime.ctx.store, runtime.model)
        == logs.after(runtime.ctx.store, runtime.model, 0)[-1].id
    )


@pytest.mark.parametrize("way", ["newest", "replay", "level"])
def test_the_first_lines_cost_the_same_whatever_there_is(runtime: TestController, way: str) -> None:
    def first() -> int:
        store, model = runtime.ctx.store, runtime.model
        with effort(store) as done:
            if way == "replay":
                next(logs.pages_after(store, model, 0))
            else:
                among = logs.Among(levels=("ERROR",)) if way == "level" else logs.ALL
                walk = logs.newest_first(store, model, among)
                assert len([next(walk) for _ in range(10)]) == 10
        return done.steps

    _fill(runtime, 400)
    few = first()
    _fill(runtime, 8000, start=400)
    assert first() <= few * 1.1


def prune(*args: Any, **limits: Any) -> None:
    asyncio.run(logs.prune(*args, **limits))


def test_lines_go_by_age_but_never_the_newest(runtime: TestController) -> None:
    _fill(runtime, 100)
    before = to_iso(runtime.clock.now())
    runtime.clock.advance(10)
    _fill(runtime, 3, start=100)
    prune(runtime.ctx.store, runtime.model, before=before, most_bytes=1 << 30)
    left = [record.message for record in logs.after(runtime.ctx.store, runtime.model, 0)]
    assert left == ["99", "100", "101", "102"]
    last = logs.newest(runtime.ctx.store, runtime.model)
    prune(runtime.ctx.store, runtime.model, before="~", most_bytes=1 << 30)
    assert [record.id for record in logs.after(runtime.ctx.store, runtime.model, 0)] == [last]


def test_lines_go_by_size_in_batches(runtime: TestController) -> None:
    _fill(runtime, 5000, step_s=0.01)
    prune(runtime.ctx.store, runtime.model, before="", most_bytes=100 * 90)
    left = [int(record.message) for record in logs.after(runtime.ctx.store, runtime.model, 0)]
    assert 80 < len(left) < 120
    assert left == list(range(5000 - len(left), 5000))


def test_forgetting_what_is_old_does_not_walk_through_the_rest(runtime: TestController) -> None:
    _fill(runtime, 300)

    def cost() -> int:
        with effort(runtime.ctx.store) as done:
            prune(runtime.ctx.store, runtime.model, before="2001", most_bytes=1 << 30)
        return done.steps

    few = cost()
    _fill(runtime, 9000, start=300)
    assert cost() < few * 12  # a batch at most, not thirty times as much


@pytest.mark.parametrize("text", ["lots", "-1G", "5Q"])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(NotValid, match="invalid max status history size in model configuration"):
        model_config.parse_value("max-status-history-size", text)
    assert model_config.parse_value("max-status-history-size", "20M") == "20M"
