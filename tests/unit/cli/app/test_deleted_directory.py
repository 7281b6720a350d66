"""Commands in a working directory that was deleted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.commandline import Home, ok


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A user with a model, whose working directory is gone."""
    made = Home(tmp_path)
    ok(made("bootstrap", "manual", "c"))
    ok(made("add-model", "m"))
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    return made


def test_commands_that_name_no_file_work(home: Home) -> None:
    assert 'Model "admin/m" is empty.' in home("status").err
    ok(home("model-config", "logging-config=<root>=DEBUG"))
    without_settings = {"PUSHJUJU_DATA": "", "XDG_DATA_HOME": str(home.folder / "none")}
    assert "No controllers registered" in home("status", env=without_settings).err


def test_a_file_of_that_directory_is_refused_with_the_reason(home: Home) -> None:
    ended = home("models", "--format", "json", "-o", "out.json")
    text = "ERROR the working directory was deleted: files cannot be named from there\n"
    assert ended.status == 1
    assert ended.err == f"{text}cd somewhere else, then run 'pushjuju' again\n"
    assert home("create-backup").err == ended.err


def test_a_charm_of_that_directory_is_not_found(home: Home) -> None:
    # A process of its own: Python 3.13.0 itself fails there when it imports from the working directory.
    words = [sys.executable, "-P", "-m", "pushjuju.cli", "deploy", "./web"]
    environ = {**os.environ, "PUSHJUJU_DATA": str(home.folder / "data")}
    ended = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert ended.stderr.startswith('ERROR no charm was found at "./web"')
