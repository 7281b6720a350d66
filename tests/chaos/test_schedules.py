"""A fixed part of the random fault schedules on played machines; `make chaos` runs two thousand others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pushjuju.core.errors import LeaseLost
from pushjuju.store.leases import LeasedStore
from pushjuju.store.tx import Tx
from tests.chaos import schedules
from tests.chaos.schedules import draw_plan, run, summary
from tests.chaos.storm import ELSEWHERE, FAULTS, WAITS, Fault, Rig, checkpoints, moments
from tests.world.charms import Charms

PARTS = 6
PART = 10  # schedules


@pytest.mark.parametrize("part", range(PARTS))
def test_everything_comes_to_rest_and_nothing_is_lost_or_doubled(
    empty_controller: Path, packs: Charms, part: int
) -> None:
    reports = [run(empty_controller, packs, seed) for seed in range(part, PARTS * PART * 37, PARTS * 37)]
    bad = [f"seed {report.seed}\n{report.problem}" for report in reports if report.problem]
    assert not bad, "\n".join([*bad, summary(reports, 0)])


@pytest.mark.parametrize("first", [100, 107])
def test_processes_with_connections_of_their_own_lose_and_double_nothing_either(
    postgres_host: str, first: int
) -> None:
    """Each process has its own cache of PostgreSQL's rows; `make chaos-postgres` runs two thousand others."""
    reports = schedules.run_some(list(range(first, first + 7 * 211, 211)), postgres_host)
    bad = [f"seed {report.seed}\n{report.problem}" for report in reports if report.problem]
    assert not bad, "\n".join([*bad, summary(reports, 0)])


def test_schedule_tells_the_same_story_again(empty_controller: Path, packs: Charms) -> None:
    first, again = (run(empty_controller, packs, 11) for _ in range(2))
    assert (first.struck, first.hooks) == (again.struck, again.hooks)


def test_every_fault_is_drawn_for_every_moment() -> None:
    every = moments()
    drawn = Counter(
        (plan[0].what, plan[0].moment)
        for plan in (draw_plan(seed, Random(seed)) for seed in range(2000))
    )  # fmt: skip
    assert set(drawn) == {(what, moment) for what in FAULTS for moment in every}


def test_every_named_step_of_the_product_is_a_moment() -> None:
    """A new `checkpoint` is met by schedules without further ado."""
    steps = {"prepared", "charm-pushed", "result", "committed", "saved", "acknowledged", "attached"}
    assert steps < set(checkpoints())
    assert len(moments()) == len(set(moments())) == len(WAITS) + len(checkpoints()) - len(ELSEWHERE)


def test_schedules_let_controllers_write_after_their_lease(
    empty_controller: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is the store's look at the lease that keeps them well."""
    refused: list[int] = []
    checked = LeasedStore.write

    @contextmanager
    def write(self: Any, *model: str, **options: bool) -> Iterator[Tx]:
        try:
            with checked(self, *model, **options) as tx:
                yield tx
        except LeaseLost:
            refused.append(seed)
            raise

    monkeypatch.setattr(LeasedStore, "write", write)
    for seed in range(420, 470):
        assert not run(empty_controller, packs, seed).problem
    assert len(set(refused)) > 3


def test_machine_that_does_not_check_leases_is_noticed(
    empty_controller: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rig, "lease", property(lambda self: 0, lambda self, value: None), raising=False)

    def draw(*_: Any) -> list[Fault]:
        return [Fault("freeze", "send", 3), Fault("full", "begun", 0)]

    # An operation was given up because the disk was full, and who was frozen sends it all the same.
    monkeypatch.setattr(schedules, "draw_plan", draw)
    assert any(run(empty_controller, packs, seed).problem for seed in range(2, 30, 2))


def test_failure_is_told_with_its_seed(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    def break_it(*args: Any) -> None:
        raise AssertionError("something was lost")

    monkeypatch.setattr(schedules, "finish", break_it)
    assert schedules.main(["--count", "1", "--first", "3", "--workers", "1"]) == 1
    told = capsys.readouterr().out
    assert "something was lost" in told
    assert "python -m tests.chaos.schedules --seed 3" in told
    assert schedules.main(["--seed", "3"]) == 1
    assert "something was lost" in capsys.readouterr().out


def test_schedules_do_not_say_all_is_well_over_a_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgotten() -> None:
        """Nobody awaits this."""

    def end(*args: Any) -> None:
        left: list[Any] = [forgotten()]
        left.append(left)  # it is collected late

    monkeypatch.setattr(schedules, "finish", end)
    assert schedules.main(["--count", "1", "--first", "3", "--workers", "1"]) == 1
    told = capsys.readouterr().out
    assert "RuntimeWarning: coroutine" in told
    assert "was never awaited" in told
    assert "FAILED: [3]" in told
    assert "all is well" not in told
