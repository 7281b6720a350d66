"""What a machine says in vain, and what it asks: how much of it there may be."""

from __future__ import annotations

import asyncio
import time

import pytest

from pushjuju.core import limits
from pushjuju.runner.remote.base import wire
from pushjuju.runner.trust.waste import Answers, Waste


class Clock:
    """A clock that stands still."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_waste_is_forgiven_with_time() -> None:
    clock = Clock()
    waste = Waste(clock)
    waste.add(limits.WASTE, 0.0)
    with pytest.raises(wire.BadFrame, match="too many useless messages"):
        waste.add(limits.WASTE_EACH_S, 0.0)
    assert waste.over_s() == pytest.approx(1.0)
    clock.now += 1.5
    assert waste.over_s() == 0.0
    clock.now += 1e9
    waste.add(limits.WASTE, 0.0)  # no more than that is saved up


def test_processor_time_counts_as_well() -> None:
    waste = Waste(Clock())
    with pytest.raises(wire.BadFrame):
        waste.add(1, limits.WASTE_CPU + 0.1)
    assert waste.over_s() > 10


async def test_answers_take_their_own_time_alone() -> None:
    answers = Answers(Clock())

    def busy(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    async def slow() -> int:
        busy(0.02)
        others.call_soon(busy, 0.2)
        others.call_soon(done.set)
        await done.wait()
        busy(0.02)
        return 7

    others, done = asyncio.get_running_loop(), asyncio.Event()
    assert await answers.give(slow) == 7
    answers._seconds.add(limits.LIVE_CPU - 0.1)
    assert answers._seconds.over_s() == 0.0  # what others did meanwhile is not counted


async def test_a_fault_and_a_cancellation_reach_the_answer() -> None:
    seen = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def broken() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    with pytest.raises(KeyError):
        await Answers().give(broken)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(Answers().give(work), 0.01)
    assert seen == ["cancelled"]
