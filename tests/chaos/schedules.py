"""Run random fault schedules on a played fleet: each seed is one schedule, and tells its story again.

    python -m tests.chaos.schedules [--seed N] [--count 2000] [--first 0] [--workers 2] [--postgres]

A schedule: people change a model at random while controller processes, connections, machines, disks and
clocks fail at moments that were drawn before. Then the faults stop, and everything has to come to rest: no
hook lost, none run twice, no write lost, doubled or halved, no unit stuck. What Python itself warns of
(a coroutine that was never awaited, ...) is a failure as well.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from pushjuju.core.status import Agent
from pushjuju.services.requests.controller.new_controllers import Database
from pushjuju.store.datadir import DataDir
from pushjuju.workers import live
from pushjuju.workers.machine import contact
from tests.chaos.storm import FAULTS, Fault, Storm, moments
from tests.postgres import databases, server
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.memory import MEMORY
from tests.world.stepped.checks import check_nothing_left, check_rest
from tests.world.stepped.machine import pause
from tests.world.stepped.people import People

WORDS = (
    *("deploy", "relate", "relate", "add_unit", "remove_unit", "remove_application", "remove_relation"),
    *("config", "config", "refresh", "fail", "resolved", "run", "run", "suspend"),
)
ONE = (("deploy", 1, 0),)
PAIR = (("deploy", 0, 0), *ONE, ("relate", 0, 0))
MANY = (("deploy", 0, 1), *ONE, ("deploy", 2, 0), ("relate", 0, 0), ("relate", 2, 0))
FIRST = (ONE, ONE, ONE, PAIR, PAIR, PAIR, PAIR, MANY)
NO_FORCE = (0, 1, 2, 5, 6, 7, 10, 11)  # what `People` takes for an ordinary removal
AFTER_S = 7200.0  # more than any clock was wrong by


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How one schedule went.

    Attributes:
        struck: (moment, fault) -> times.
        hooks: How many ran.
        problem: What went wrong, with the story; empty when all is well.
    """

    seed: int
    struck: Counter[tuple[str, str]]
    hooks: int
    problem: str = ""


def draw_plan(seed: int, chance: Random) -> list[Fault]:
    """Draw what happens when: each moment in its turn, with each fault, and some at any moment."""
    every = moments()
    turn, at = divmod(seed, len(every))
    plan = [Fault(FAULTS[turn % len(FAULTS)], every[at], chance.choice((0, 0, 1, 2, 5, 9)))]
    anywhere = (("*", chance.randint(0, 250)) for _ in range(chance.randint(0, 5)))
    somewhere = ((chance.choice(every), chance.randint(0, 9)) for _ in range(chance.randint(0, 2)))
    plan += [Fault(chance.choice(FAULTS), moment, count) for moment, count in (*anywhere, *somewhere)]
    return plan


def tell(town: Storm, people: People, seed: int, chance: Random) -> None:
    """Let people do this and that while everything fails."""
    for word in chance.choice(FIRST):
        people.do(*word)
    town.plan, town.calm = draw_plan(seed, chance), False
    for _ in range(chance.choice((0, 0, 1, 1, 1, 2, 3)) and chance.randint(1, 3)):
        town._begin()
    for _ in range(chance.randint(1, 6)):
        for _ in range(chance.choice((0, 3, 20, 80))):
            town.step(chance.randint(0, 11))
        people.do(chance.choice(WORDS), chance.randint(0, 11), chance.choice(NO_FORCE))
    town.rest((chance.randint(0, 5), chance.randint(0, 5)))
    town.clock.advance(400)  # retries and update-status, still among faults
    town.rest((chance.randint(0, 5),))


def check_counts(town: Storm) -> None:
    """Check that each hook ran once, and that the model holds what the hooks that ran well wrote, once."""
    for machine in town.cloud.played_machines.values():
        twice = {name: count for name, count in machine.started.items() if count != 1}  # type: ignore[attr-defined]
        assert not twice, f"run twice: {twice}"
        assert not machine.results, f"the machine keeps {machine.results}"
        assert not machine.jobs, machine.jobs  # type: ignore[attr-defined]
    for unit in town.all_units():
        state = _state(town, unit.name)
        good = town.good.get(unit.name, [])
        wanted = {"count": str(len(good)), "last": good[-1]} if good else {}
        assert {key: state[key] for key in wanted} == wanted, f"{unit.name}: {state}, {len(good)} ran well"
        assert town.agent(unit.name)[0] == Agent.IDLE, f"{unit.name}: {town.agent(unit.name)}"
    assert town.open_operations() == []


def _state(town: Storm, unit: str) -> dict[str, str]:
    rows = town.read(lambda tx: tx.rows("charm_state_list", unit=unit))
    return {row["key"]: row["value"] for row in rows}


def finish(town: Storm, people: People) -> None:
    """Let the faults stop: everything comes to rest, and holds what it should."""
    town.witness.story.append("> the faults stop")
    town.stop_faults()
    town.rest()
    town.clock.advance(AFTER_S)
    people.mend()
    town.clock.advance(AFTER_S)  # one more contact: machines forget what the store has
    town.rest()
    town.hear()
    check_rest(town)
    check_counts(town)


def run(source: Path, packs: Charms, seed: int, *, story: bool = False, host: str = "") -> Report:
    """Run one schedule.

    Args:
        host: The folder of the socket of the PostgreSQL that has the source's database; empty for a file.
    """
    with complaints() as told, storm_of(source, packs, host) as town:
        chance = town.chance = Random(seed)
        people = People(town, packs)
        problem = ""
        try:
            tell(town, people, seed, chance)
            finish(town, people)
            if seed % 4 == 0:
                people.destroy()
                town.rest()
                check_nothing_left(town)
        except Exception:  # noqa: BLE001 - reported with its story
            problem = "\n".join([*town.witness.story[-60:], traceback.format_exc()])
        if story:
            print("\n".join(town.witness.story))
    problem = "\n".join(filter(None, [problem, *told]))
    return Report(seed=seed, struck=town.struck, hooks=town.witness.hooks, problem=problem)


@contextmanager
def complaints() -> Iterator[list[str]]:
    """Collect what Python warns of, and the errors that it could raise nowhere; they come at the end."""
    told: list[str] = []

    def take(args: Any) -> None:
        told.append(f"{args.err_msg or 'ignored'}: {args.object!r}: {args.exc_value!r}")

    with warnings.catch_warnings(record=True) as warned, mock.patch.object(sys, "unraisablehook", take):
        warnings.simplefilter("always")
        yield told
        gc.collect()  # what hangs in a cycle is told only when it is collected
    told += [warnings.formatwarning(w.message, w.category, w.filename, w.lineno) for w in warned]


@contextmanager
def storm_of(source: Path, packs: Charms, host: str = "") -> Iterator[Storm]:
    """Copy a controller to where writing is fast."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, _database_of(source, host) as url:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        if url:
            DataDir(Path(folder) / "data").controller("home").set("store", url)
        town = Storm.at(Path(folder), packs)
        assert isinstance(town, Storm)

        async def nap(seconds: float) -> None:
            town.clock.advance(max(seconds, 1.0))
            await pause()

        try:
            waits = SimpleNamespace(sleep=nap)
            with mock.patch.object(contact, "asyncio", waits), mock.patch.object(live, "asyncio", waits):
                yield town
        finally:
            town.calm = True
            town.crash()
            town.ctx.close()
            for store in town.stores:
                store.close()


@contextmanager
def _database_of(source: Path, host: str) -> Iterator[str]:
    """Yield the address of a copy of a controller's database; empty for a file."""
    if not host:
        yield ""
        return
    place = DataDir(source / "data").controller("home").settings()["store"]
    with databases.database(host, urlsplit(str(place)).path[1:]) as url:
        yield url


# --- many -------------------------------------------------------------------------------------------------


def run_some(seeds: list[int], host: str = "", *, story: bool = False) -> list[Report]:
    """Run schedules in this process."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, ExitStack() as stack:
        packs = Charms(Path(folder) / "charms")
        packs.root.mkdir()
        source = Path(folder) / "source"
        made = stack.enter_context(databases.database(host)) if host else ""
        database = Database(url=made, insecure=True) if made else None
        TestController.build(source, packs, database).ctx.close()
        return [run(source, packs, seed, story=story, host=host) for seed in seeds]


def run_many(seeds: Iterable[int], workers: int, host: str = "") -> Iterator[Report]:
    """Run schedules in several processes."""
    every = list(seeds)
    parts = [every[at : at + 25] for at in range(0, len(every), 25)]
    if workers < 2:
        for part in parts:
            yield from run_some(part, host)
        return
    with get_context("spawn").Pool(workers) as pool:
        for reports in pool.imap_unordered(partial(run_some, host=host), parts):
            yield from reports


@contextmanager
def _server(*, wanted: bool) -> Iterator[str]:
    """Yield the folder of the socket of a PostgreSQL server for this run; empty when none is wanted."""
    if not wanted:
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as host:
        yield host


def main(argv: list[str] | None = None) -> int:
    """Run what was asked for, and print what came of it."""
    parser = argparse.ArgumentParser(description="Run random fault schedules on a played fleet.")
    parser.add_argument("--seed", type=int, help="run this one, and print its story")
    parser.add_argument("--count", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 4))
    parser.add_argument("--postgres", action="store_true", help="with the store in PostgreSQL")
    options = parser.parse_args(argv)
    began, reports = time.monotonic(), []
    with _server(wanted=options.postgres) as host:
        if options.seed is not None:
            return _replay(options.seed, host)
        for report in run_many(range(options.first, options.first + options.count), options.workers, host):
            reports.append(report)
            if report.problem:
                print(f"seed {report.seed} FAILED\n{report.problem}", flush=True)
    print(summary(reports, time.monotonic() - began))
    return 1 if any(report.problem for report in reports) else 0


def _replay(seed: int, host: str) -> int:
    (report,) = run_some([seed], host, story=True)
    print(report.problem or f"seed {seed}: {report.hooks} hooks, all is well")
    return 1 if report.problem else 0


def summary(reports: list[Report], seconds: float) -> str:
    """Return what many schedules came to."""
    struck: Counter[tuple[str, str]] = sum((report.struck for report in reports), Counter())
    bad = sorted(report.seed for report in reports if report.problem)
    faults: Counter[str] = Counter()
    for (_, what), count in struck.items():
        faults[what] += count
    hooks, killed = (
        sum(report.hooks for report in reports),
        {moment for moment, what in struck if what == "kill"},
    )
    again = f"again with: python -m tests.chaos.schedules --seed {bad[0]}" if bad else ""
    lines = [
        f"{len(reports)} schedules in {seconds:.0f} s: {hooks} hooks, {struck.total()} faults",
        "  " + ", ".join(f"{what} {count}" for what, count in faults.most_common()),
        f"  killed at {len(killed)} of {len(moments())} moments",
        f"FAILED: {bad}; {again}" if bad else "all is well",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
