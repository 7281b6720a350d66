"""A bundle of 20 applications and 60 units: how long until it is planned, recorded, and found to be there."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
import yaml

from pushjuju.services.bundles import planning
from pushjuju.services.bundles.planning import Wishes
from pushjuju.services.bundles.read.load import load
from tests.bench.figures import Report
from tests.bench.processes import pushjuju, wall
from tests.bench.test_commands import focus
from tests.world.controller import TestController

pytestmark = pytest.mark.bench

APPLICATIONS, UNITS = 20, 3
ROUNDS = 5
PLANNED_MS, RECORDED_MS, AGAIN_MS = 300, 1000, 1000


def shelf(root: Path) -> Path:
    """Write a bundle with its charms; return its file."""
    applications, relations = [], []
    for number in range(APPLICATIONS):
        folder = root / f"charm{number}"
        (folder / "hooks").mkdir(parents=True)
        side = {"requires" if number % 2 else "provides": {"db": {"interface": "sql"}}}
        metadata = {"name": f"charm{number}", "summary": "s", "description": "d", "series": ["jammy"], **side}
        (folder / "metadata.yaml").write_text(yaml.safe_dump(metadata))
        (folder / "config.yaml").write_text("options: {port: {type: int, default: 80}}\n")
        (folder / "hooks" / "install").write_text("#!/bin/sh\n")
        (folder / "hooks" / "install").chmod(0o755)
        applications.append(
            f"  app{number}: {{charm: ./charm{number}, num_units: {UNITS}, options: {{port: {number}}}}}"
        )
        if number % 2:
            relations.append(f"- [app{number}:db, app{number - 1}:db]")
    text = ["default-base: ubuntu@22.04", "applications:", *applications, "relations:", *relations]
    path = root / "bundle.yaml"
    path.write_text("\n".join(text) + "\n")
    return path


def test_twenty_applications(world: TestController, tmp_path: Path, report: Report) -> None:
    path = shelf(tmp_path / "shelf")
    planned, recorded, again = [], [], []
    for round_ in range(ROUNDS):
        copy = TestController.copy(
            _closed(world, tmp_path / f"base{round_}"), tmp_path / f"round{round_}", world.charms
        )
        begin = time.perf_counter()
        prepared = planning.prepare(copy.ctx, copy.model, load(path), Wishes())
        middle = time.perf_counter()
        planning.carry_out(copy.ctx, copy.model, prepared)
        end = time.perf_counter()
        assert len(copy.units()) == APPLICATIONS * UNITS
        assert planning.prepare(copy.ctx, copy.model, load(path), Wishes()).changes == ()
        after = time.perf_counter()
        planned.append((middle - begin) * 1000)
        recorded.append((end - middle) * 1000)
        again.append((after - end) * 1000)
        copy.ctx.close()
    report.add("bundle of 20 applications: plan", planned, target=f"<= {PLANNED_MS}")
    report.add("bundle of 20 applications: record", recorded, target=f"<= {RECORDED_MS}")
    report.add("bundle of 20 applications: nothing to do", again, target=f"<= {AGAIN_MS}")


def _closed(world: TestController, target: Path) -> Path:
    shutil.copytree(world.ctx.datadir.root.parent / "data", target / "data")
    return target


def test_nothing_to_do_from_a_cold_process(world: TestController, tmp_path: Path, report: Report) -> None:
    path = shelf(tmp_path / "shelf")
    planning.carry_out(world.ctx, world.model, planning.prepare(world.ctx, world.model, load(path), Wishes()))
    times = wall(pushjuju("deploy", str(path), "--dry-run"), times=ROUNDS, env=focus(world))
    report.add("deploy of a bundle that is there, cold", times, target=f"<= {AGAIN_MS}")
