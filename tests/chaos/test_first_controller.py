"""A first `deploy`, `add-machine` or `bootstrap` that is killed leaves no half controller behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pushjuju.services.requests.controller import controllers
from pushjuju.store.datadir import DataDir

Run = Callable[..., "subprocess.CompletedProcess[str]"]
GONE = 'Controller "{}" was removed: the command that made it was cut off\n'
DEPLOY = ("deploy", "./web")
EARLY = "before:pushjuju.services.requests.controller.new_controllers:_prepare"
# Where the process dies: before anything is on the controller.
EMPTY = (
    "after:pushjuju.services.requests.controller.new_controllers:bootstrap",
    "before:pushjuju.services.requests.model.add_model:add_model",
    "after:pushjuju.services.requests.model.add_model:add_model",
    "after:pushjuju.services.entities.model.sessions:focus",
)


@pytest.fixture
def call(tmp_path: Path) -> Run:
    """Run a command that dies at a step, or one that does not (an empty step)."""
    root = tmp_path / "web"
    (root / "hooks").mkdir(parents=True)
    (root / "hooks/install").write_text("#!/bin/sh\n")
    (root / "metadata.yaml").write_text("name: web\nsummary: s\ndescription: d\n")
    (root / "manifest.yaml").write_text('bases: [{name: ubuntu, channel: "24.04"}]\n')
    (tmp_path / "tmp").mkdir()  # what is killed leaves its temporary folders
    environ = {
        **os.environ,
        "PUSHJUJU_DATA": str(tmp_path / "data"),
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }

    def run(step: str, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "tests.chaos.first", step, *words]
        return subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    return run


def names(call: Run) -> list[str]:
    done = call("", "controllers", "--format", "json")
    return sorted(json.loads(done.stdout)["controllers"] or {}) if done.returncode == 0 else []


@pytest.mark.parametrize(
    "step", [*EMPTY, "before:pushjuju.services.requests.application.new_application:add"]
)
def test_the_next_command_takes_an_empty_controller_away(call: Run, step: str) -> None:
    assert call(step, *DEPLOY).returncode == -signal.SIGKILL
    done = call("", "status")
    assert done.stderr.startswith(GONE.format("local")), done.stderr
    assert "No controllers registered" in done.stderr
    done = call("", *DEPLOY)
    assert (done.returncode, "gone" in done.stderr) == (0, False), done.stderr
    assert "web" in call("", "status").stdout


@pytest.mark.parametrize("step", [EARLY, *EMPTY])
def test_the_same_command_again_does_it_all(call: Run, step: str) -> None:
    assert call(step, *DEPLOY).returncode == -signal.SIGKILL
    done = call("", *DEPLOY)
    assert done.returncode == 0, done.stderr
    assert "web" in call("", "status").stdout
    assert names(call) == ["local"]


def test_what_was_recorded_stays(call: Run) -> None:
    assert (
        call("after:pushjuju.services.requests.application.new_application:add", *DEPLOY).returncode
        == -signal.SIGKILL
    )
    done = call("", "status")
    assert ("web" in done.stdout, "gone" in done.stderr) == (True, False)
    assert names(call) == ["local"]


def test_a_refused_deploy_after_a_killed_one_leaves_nothing(call: Run) -> None:
    assert call(EMPTY[0], *DEPLOY).returncode == -signal.SIGKILL
    assert call("", "deploy", "./web", "--config", "no=1").returncode == 1
    assert names(call) == []


@pytest.mark.parametrize("step", EMPTY)
def test_a_bootstrap(call: Run, step: str) -> None:
    words = ("bootstrap", "local", "lab", "--add-model", "shop")
    assert call(step, *words).returncode == -signal.SIGKILL
    assert GONE.format("lab") in call("", "models").stderr
    assert call("", *words).returncode == 0
    assert names(call) == ["lab"]


def test_a_bootstrap_of_a_name_that_is_taken_touches_nothing(call: Run) -> None:
    assert call("", "bootstrap", "local", "lab").returncode == 0
    assert (
        call(
            "before:pushjuju.services.requests.controller.new_controllers:_prepare",
            "bootstrap",
            "local",
            "lab",
        ).returncode
        == 1
    )
    assert names(call) == ["lab"]


def test_a_controller_that_is_being_made_is_left_alone(tmp_path: Path, call: Run) -> None:
    assert call("", "bootstrap", "local", "lab").returncode == 0
    folder = DataDir(tmp_path / "data")
    mark = controllers.marked(folder, "lab")
    assert names(call) == ["lab"]
    assert controllers.sweep(folder) == []
    mark.close()
    mark.close()
    assert not list((tmp_path / "data/controllers").glob(".making-*"))


def test_one_whose_store_cannot_be_read_stays(tmp_path: Path, call: Run) -> None:
    assert call(EMPTY[-1], *DEPLOY).returncode == -signal.SIGKILL
    store = tmp_path / "data/controllers/local/state.db"
    for path in store.parent.glob("state.db-*"):
        path.unlink()
    store.write_bytes(b"no store")
    done = call("", "status")
    assert (done.returncode, done.stderr.startswith("ERROR ")) == (1, True), done.stderr
    assert str(store) in done.stderr
    assert store.read_bytes() == b"no store"


def test_one_that_dies_while_it_asks_the_store(call: Run) -> None:
    step = "before:pushjuju.services.supply.store_charms:resolve_one"
    assert call(step, "deploy", "ch:web").returncode == -signal.SIGKILL
    assert names(call) == []
