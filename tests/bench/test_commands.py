"""Commands from a cold process: how long they take, and what they import."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.services.views.status.document import document
from tests.bench.figures import Report
from tests.bench.models import populate
from tests.bench.processes import cpu_note, pushjuju, runs
from tests.bench.statements import counted
from tests.world.charms import Charms
from tests.world.controller import TestController

UNITS = 20
MANY = 2000
MANY_LINES = 1_000_000
STATUS = (("status",), ("status", "--format", "json"), ("status", "--format", "yaml"))
PICTURES = (("status", "--format", "svg"), ("status", "--format", "svg", "--machines"))
MAX_STATEMENTS = 20  # of `status`, whatever the size of the model
# Each of these costs more than a whole `status` may.
HEAVY = (
    "_hashlib", "asyncio", "asyncssh", "cryptography", "dis", "importlib.metadata", "jsonschema", "libcloud",
    "pluggy", "rich", "tomlkit", "yaml",
)  # fmt: skip
_IMPORTED = """
import io, os, sys
from pushjuju.cli import lazy_imports
main = lazy_imports.import_lazily("pushjuju.cli.app.main")  # as the entry point does
out = io.StringIO()
status = main.run(sys.argv[1:], stdin=io.StringIO(), stdout=out, stderr=sys.stderr, env=os.environ)
assert status == 0, status
print(*sorted(sys.modules))
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A model of 20 units that ran all their hooks; no machine is behind it. Yield the environment."""
    folder = tmp_path_factory.mktemp("shop")
    made = TestController.build(folder, Charms(folder / "charms"))
    made.active("web", UNITS // 2)
    made.active("store", UNITS - UNITS // 2)
    yield focus(made)
    made.ctx.close()


def focus(world: TestController) -> dict[str, str]:
    """Let commands mean this world's model; return their environment."""
    world.ctx.datadir.set_current_controller("home")
    world.ctx.controller.set("current-model", world.resolve_model().qualified)
    return {"PUSHJUJU_DATA": str(world.ctx.datadir.root)}


def imported(env: dict[str, str], *words: str) -> list[str]:
    """Return the modules that a command imports."""
    argv = [sys.executable, "-c", _IMPORTED, *words]
    done = subprocess.run(
        argv, env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["status"],
        ["status", "--format", "json"],
        ["status", "--format", "yaml"],
        ["machines"],
        ["status", "--format", "svg"],
    ],
    ids=" ".join,
)
def test_commands_that_only_look_import_nothing_heavy(shop: dict[str, str], words: list[str]) -> None:
    found = imported(shop, *words)
    assert [name for name in found if name in HEAVY or name.partition(".")[0] in HEAVY] == []


@pytest.mark.bench
def test_help_and_status(report: Report, shop: dict[str, str]) -> None:
    for words in (("--help",), *STATUS):
        name = f"`pushjuju {' '.join(words)}`" + (f", {UNITS} units" if words[0] == "status" else "")
        samples, modules = runs(pushjuju(*words), times=10, env=shop), imported(shop, *words)
        own = sum(module.startswith("pushjuju") for module in modules)
        note = f"{cpu_note(samples)}; {len(modules)} modules, {own} of pushjuju"
        target = "<= 80 ms" if words[0] == "status" else "<= 70 ms"
        report.add(name, [run.wall for run in samples], target=target, note=note)
    for words in PICTURES:
        samples = runs(pushjuju(*words), times=10, env=shop)
        name, note = f"`pushjuju {' '.join(words)}`, {UNITS} units", cpu_note(samples)
        report.add(name, [run.wall for run in samples], target="<= 90 ms", note=note)


@pytest.mark.bench
def test_status_of_many(report: Report, world: TestController) -> None:
    populate(world, MANY)
    env = focus(world)
    for words in STATUS:
        samples = runs(pushjuju(*words), times=7, env=env)
        name, note = f"`pushjuju {' '.join(words)}`, {MANY} units", f"{cpu_note(samples)}; as many machines"
        report.add(name, [run.wall for run in samples], target="<= 200 ms", note=note)
    for words in PICTURES:
        samples = runs(pushjuju(*words), times=7, env=env)
        name, note = f"`pushjuju {' '.join(words)}`, {MANY} units", f"{cpu_note(samples)}; as many machines"
        report.add(name, [run.wall for run in samples], target="<= 250 ms", note=note)


@pytest.mark.bench
def test_debug_log_of_a_million_lines(report: Report, world: TestController) -> None:
    world.active("web", 2)
    env = focus(world)
    write_log(world, MANY_LINES)
    for words in (("--replay",), (), ("--level", "ERROR"), ("--include", "web/0")):
        argv = pushjuju("debug-log", *words, "--no-tail")
        times = [first_line(argv, env) for _ in range(6)][1:]
        name = f"first line of `pushjuju debug-log {' '.join(words)}`, {MANY_LINES:,} lines"
        report.add(name, times, target="<= 200 ms")


def write_log(world: TestController, count: int) -> None:
    """Fill the log: hooks of many units, one error in a thousand lines."""
    row = "INSERT INTO log (model, time, entity, level, module, message) VALUES (?, ?, ?, ?, ?, ?)"
    connection = world.ctx.store._connection
    connection.execute("BEGIN")
    connection.executemany(
        row,
        (
            (
                world.model, f"2025-03-01T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.250000Z",
                f"unit-web-{at % 50}", "INFO" if at % 1000 else "ERROR", "juju.worker.uniter.operation",
                'ran "config-changed" hook (via hook dispatching script: dispatch)',
            )
            for at in range(count)
        ),
    )  # fmt: skip
    connection.execute("COMMIT")


def first_line(argv: list[str], env: dict[str, str]) -> float:
    """Return how long a command takes to print its first line, in ms; the reader then goes away."""
    begun = time.perf_counter()
    with subprocess.Popen(argv, env={"PATH": "/usr/bin:/bin", **env}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        took = time.perf_counter() - begun
        process.stdout.close()
    assert process.returncode == 0
    return took * 1000


def test_status_takes_as_many_statements_for_many_units_as_for_few(tmp_path: Path) -> None:
    found = []
    for name, units in (("few", 10), ("many", 300)):
        made = TestController.build(tmp_path / name, Charms(tmp_path / "charms"))
        populate(made, units)
        with counted(made.ctx.store) as statements:
            document(made.ctx, made.resolve_model())
        found.append(len(statements))
        made.ctx.close()
    assert found[0] == found[1] <= MAX_STATEMENTS


@pytest.mark.bench
def test_bootstrap(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    numbers = itertools.count()
    samples = runs(
        pushjuju("bootstrap", "local"),
        times=10,
        env={"PUSHJUJU_DATA": str(folder)},
        before=lambda: _move(folder, next(numbers)),
    )
    note = f"{cpu_note(samples)}; no data directory"
    report.add("`pushjuju bootstrap local`", [run.wall for run in samples], target="< 500 ms", note=note)


def _move(folder: Path, number: int) -> None:
    """Put the data directory of the run before out of the way."""
    if folder.exists():
        folder.rename(folder.with_name(f"data{number}"))


def test_the_model_is_as_told(shop: dict[str, str]) -> None:
    done = subprocess.run(
        pushjuju("status", "--format", "json"), env=shop, capture_output=True, text=True, check=True
    )
    applications = json.loads(done.stdout)["applications"]
    assert sum(len(item["units"]) for item in applications.values()) == UNITS
