"""Ctrl-C in a command says whether what was asked for is recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pushjuju.cli.terminal.console import Console
from pushjuju.cli.work import drive
from pushjuju.services.supply import charm_places
from pushjuju.workers import driver
from tests.world.commandline import Home, ok

RECORDED = "Interrupted. What was asked for is recorded"
UNRECORDED = "\nInterrupted before anything was recorded.\n"


def interrupted(*_: Any, **__: Any) -> NoReturn:
    raise KeyboardInterrupt


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path, env={"PUSHJUJU_WAIT": "1"})
    ok(made("bootstrap", "local", "c"))
    ok(made("add-model", "m"))
    return made


@pytest.fixture
def charm(tmp_path: Path) -> str:
    made = tmp_path / "web"
    made.mkdir()
    (made / "metadata.yaml").write_text("name: web\nsummary: s\ndescription: d\nseries: [jammy]\n")
    (made / "dispatch").write_text("#!/bin/sh\n")
    (made / "dispatch").chmod(0o755)
    return str(made)


def applications(home: Home) -> list[str]:
    return list(json.loads(ok(home("status", "--format", "json")))["applications"])


def test_ctrl_c_at_a_question_says_that_nothing_was_recorded(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Console, "_ask", interrupted)
    ended = home("destroy-model", "m")
    assert (ended.status, ended.err.endswith(UNRECORDED)) == (130, True), ended.err
    models = json.loads(ok(home("models", "--format", "json")))["models"]
    assert ("m", "alive") in [(model["short-name"], model["life"]) for model in models]


def test_ctrl_c_before_a_charm_is_packed_says_that_nothing_was_recorded(
    home: Home, charm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "settle", lambda *_, **__: None)
    monkeypatch.setattr(charm_places, "pack", interrupted)
    ended = home("deploy", charm)
    assert (ended.status, ended.err.endswith(UNRECORDED)) == (130, True), ended.err
    assert applications(home) == []


def test_ctrl_c_after_a_change_says_how_it_goes_on(
    home: Home, charm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "settle", interrupted)
    ended = home("deploy", charm)
    assert (ended.status, RECORDED in ended.err) == (130, True), ended.err
    assert applications(home) == ["web"]


def test_ctrl_c_in_work_without_a_change_says_how_it_goes_on(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver.Driver, "settle", interrupted)
    ended = home("update-status")
    assert (ended.status, RECORDED in ended.err) == (130, True), ended.err


def test_several_ctrl_c_end_a_command_without_a_trace(home: Home) -> None:
    line = "from pushjuju.cli.entry import main; main()"
    waits = ["wait-for", "model", "m", "--query", 'life=="dead"', "--timeout", "60s"]
    env = {**os.environ, "PUSHJUJU_DATA": str(home.folder / "data"), "HOME": str(home.folder)}
    with subprocess.Popen(
        [sys.executable, "-c", line, *waits],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        while "found, waiting" not in process.stdout.readline():
            assert process.poll() is None
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        shown = process.stdout.read()
    assert process.returncode in (130, -signal.SIGINT), shown
    assert "Traceback" not in shown
