"""The command metrics."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.world.charms import Charms
from tests.world.commandline import Run, ok
from tests.world.controller import TestController


@pytest.fixture
def runtime(runtime: TestController, packs: Charms) -> TestController:
    """A model with a unit."""
    runtime.active("web", packed=packs.make("web"))
    runtime.focus()
    return runtime


def test_the_file_is_replaced_in_one_step_and_all_users_can_read_it(
    runtime: TestController, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "node" / "pushjuju.prom"
    path.parent.mkdir()
    path.write_text("old")
    with path.open() as old:
        assert ok(run("metrics", "-o", str(path))) == ""
        assert old.read() == "old"
    assert path.read_text().splitlines()[:3] == ok(run("metrics")).splitlines()[:3]
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_a_directory_that_is_missing_is_an_error(runtime: TestController, run: Run, tmp_path: Path) -> None:
    ended = run("metrics", "-o", str(tmp_path / "missing" / "pushjuju.prom"))
    assert ended.status == 1
    assert str(tmp_path / "missing") in ended.err


def test_promtool_accepts_the_text(runtime: TestController, run: Run) -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    done = subprocess.run(
        [tool, "check", "metrics"], input=ok(run("metrics")), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
