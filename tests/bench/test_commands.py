"""Commands from a cold process: how long they take, and what they import."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.figures import Report
from tests.bench.processes import pushjuju, wall
from tests.unit.services.world import World

UNITS = 20
MANY = 2000
# Each of these costs more than a whole `status` may.
HEAVY = (
    "asyncio", "asyncssh", "cryptography", "importlib.metadata", "jsonschema", "libcloud", "pluggy", "rich",
    "tomlkit", "yaml",
)  # fmt: skip
_IMPORTED = """
import io, sys
from pushjuju.cli import main
import os
out = io.StringIO()
status = main.run(sys.argv[1:], stdin=io.StringIO(), stdout=out, stderr=sys.stderr, env=os.environ)
assert status == 0, status
print(*sorted(sys.modules))
"""


@pytest.fixture
def shop(world: World) -> dict[str, str]:
    """A model of 20 units that ran all their hooks; no machine is behind it. Return the environment."""
    world.active("web", UNITS // 2)
    world.active("store", UNITS - UNITS // 2)
    return focus(world)


def focus(world: World) -> dict[str, str]:
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
    [["--help"], ["status"], ["status", "--format", "json"], ["status", "--format", "yaml"], ["machines"]],
    ids=" ".join,
)
def test_commands_that_only_look_import_nothing_heavy(shop: dict[str, str], words: list[str]) -> None:
    found = imported(shop, *words)
    assert [name for name in found if name in HEAVY or name.partition(".")[0] in HEAVY] == []


@pytest.mark.bench
def test_help_and_status(report: Report, shop: dict[str, str]) -> None:
    for words in (("--help",), ("status",), ("status", "--format", "json"), ("status", "--format", "yaml")):
        name = f"`pushjuju {' '.join(words)}`" + (f", {UNITS} units" if words[0] == "status" else "")
        modules = imported(shop, *words)
        own = sum(module.startswith("pushjuju") for module in modules)
        note = f"cold process; {len(modules)} modules, {own} of them ours"
        report.add(name, wall(pushjuju(*words), times=10, env=shop), target="<= 150 ms", note=note)


@pytest.mark.bench
def test_status_of_many(report: Report, world: World) -> None:
    world.deploy("web", MANY // 2)
    world.deploy("store", MANY - MANY // 2)
    samples = wall(pushjuju("status"), times=5, env=focus(world))
    report.add(f"`pushjuju status`, {MANY} units", samples, note="cold process; each unit on its own machine")


@pytest.mark.bench
def test_bootstrap(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    numbers = itertools.count()
    argv = pushjuju("bootstrap", "local")
    samples = wall(
        argv, times=10, env={"PUSHJUJU_DATA": str(folder)}, before=lambda: _move(folder, next(numbers))
    )
    report.add(
        "`pushjuju bootstrap local`", samples, target="< 500 ms", note="cold process, no data directory"
    )


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
