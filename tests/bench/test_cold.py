"""What a person waits for at each command, and a shell at each TAB: cold processes against their limits."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from tests.bench.figures import Report
from tests.bench.models import crowd
from tests.bench.processes import Run, cpu_note, pushjuju, runs, weighed
from tests.bench.test_commands import focus
from tests.world.controller import TestController

UNITS, MACHINES, MODELS = 1000, 300, 100
FEW = 20


@pytest.fixture
def small(world: TestController) -> dict[str, str]:
    """A model of 20 units at rest; return its environment."""
    world.active("web", FEW)
    return focus(world)


def add(report: Report, name: str, samples: list[Run], target: str, note: str = "") -> None:
    """Take a figure in."""
    more = f"; {note}" if note else ""
    report.add(name, [run.wall for run in samples], target=target, note=f"{cpu_note(samples)}{more}")


@pytest.mark.bench
def test_completion(report: Report, small: dict[str, str]) -> None:
    for line in (("",), ("remove-unit", ""), ("config", "web", ""), ("deploy", "--")):
        samples = runs(pushjuju("__complete", "zsh", *line), times=10, env=small)
        add(report, f"TAB at `{' '.join(('pushjuju', *line))}`, {FEW} units", samples, "<= 30 ms")


@pytest.mark.bench
def test_small_commands(report: Report, small: dict[str, str]) -> None:
    for words in (("--help",), ("status",), ("machines",), ("explain",), ("hooks",)):
        samples = runs(pushjuju(*words), times=10, env=small)
        add(report, f"`pushjuju {' '.join(words)}`, cold, {FEW} units", samples, "<= 150 ms")


@pytest.mark.bench
def test_a_large_model(report: Report, world: TestController) -> None:
    crowd(world, UNITS, MACHINES)
    assert (len(world.units()), len(world.machine_ids())) == (UNITS, MACHINES)
    env = focus(world)
    where = f"{UNITS:,} units on {MACHINES} machines"
    samples = weighed(pushjuju("status", "--format", "json"), times=7, env=env)
    add(report, f"`pushjuju status --format json`, {where}", samples, "< 1000 ms")
    peak = statistics.median(run.peak for run in samples)
    report.add(f"its memory, {where}", [run.peak for run in samples], "MiB", target="<= 150 MiB")
    add(
        report,
        f"TAB at `remove-unit`, {where}",
        runs(pushjuju("__complete", "zsh", "remove-unit", ""), times=7, env=env),
        "<= 150 ms",
    )
    add(report, f"`pushjuju explain`, {where}", weighed(pushjuju("explain"), times=5, env=env), "< 1000 ms")
    assert peak <= 150


@pytest.mark.bench
def test_many_models(report: Report, world: TestController) -> None:
    for number in range(MODELS - 1):
        add_model(world.ctx, AddModelOptions(name=f"m{number}"))
    env = focus(world)
    samples = runs(pushjuju("models"), times=7, env=env)
    add(report, f"`pushjuju models`, {MODELS} models", samples, "< 250 ms")


@pytest.mark.bench
def test_plan(report: Report, world: TestController, tmp_path: Path) -> None:
    crowd(world, UNITS, MACHINES)
    world.forget_work()
    env = focus(world)
    argv = [
        "sh",
        "-c",
        '"$@" >/dev/null; test $? -eq 2',
        "sh",
        *pushjuju("plan", "--", "config", "app1", "title=x"),
    ]
    samples = runs(argv, times=3, env=env)
    name = f"`pushjuju plan -- config`, {UNITS:,} units on {MACHINES} machines, 100 of them touched"
    add(report, name, samples, "<= 5000 ms")
