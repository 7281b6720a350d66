"""The commands `controller processes` and `controller drain`, beside real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.commands.program.controller import DRAINED
from tests.bench.figures import ROOT
from tests.waiting import comes
from tests.world.charms import Charms
from tests.world.controller import TestController


@pytest.fixture
def environ(tmp_path: Path, packs: Charms) -> dict[str, str]:
    """The environment of commands on a data directory with a controller."""
    return {**os.environ, "PUSHJUJU_DATA": str(TestController.build(tmp_path, packs).keep())}


@pytest.fixture
def process(environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A `controller run`."""
    argv = [sys.executable, "-m", "pushjuju.cli", "controller", "run"]
    with subprocess.Popen(argv, env=environ, stderr=subprocess.DEVNULL) as running:
        try:
            yield running
        finally:
            running.kill()


def ran(environ: dict[str, str], words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pushjuju.cli", "controller", *words]
    return subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=60, check=False)


def listed(environ: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ran(environ, ["processes", "--format", "json"]).stdout)
    return found


def test_a_drained_process_ends_with_a_status_of_its_own(
    environ: dict[str, str], process: subprocess.Popen[bytes]
) -> None:
    comes(lambda: listed(environ))
    (shown,) = listed(environ)
    assert (shown["pid"], shown["host"], shown["state"]) == (process.pid, os.uname().nodename, "waiting")
    assert shown["seen"] >= shown["started"]
    assert ran(environ, ["processes"]).stdout.splitlines()[1].startswith(f"{shown['process']}  ")
    ended = ran(environ, ["drain", shown["host"]])
    assert ended.stderr == f"Process {shown['process']} gives back its work and ends\n"
    assert process.wait(timeout=30) == DRAINED
    assert listed(environ) == []


def test_systemd_starts_a_process_again_unless_it_was_drained_or_stopped() -> None:
    """The rules of systemd for an end by itself; after `systemctl stop` nothing is started."""
    lines = (ROOT / "contrib/systemd/pushjuju-controller.service").read_text().splitlines()
    assert "Restart=always" in lines
    assert f"RestartPreventExitStatus={DRAINED}" in lines
    assert f"SuccessExitStatus={DRAINED}" in lines


def test_a_killed_process_is_not_listed(environ: dict[str, str], process: subprocess.Popen[bytes]) -> None:
    comes(lambda: listed(environ))
    process.kill()
    process.wait()
    assert listed(environ) == []
    ended = ran(environ, ["processes"])
    assert (ended.stdout, ended.stderr) == (
        "",
        "No process works for the controller; next: pushjuju controller run\n",
    )


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["drain", "nowhere"], 1, 'ERROR no controller process runs on a host "nowhere"'),
        (["drain"], 2, "ERROR usage: controller drain HOST"),
        (["processes", "more"], 2, "ERROR usage: controller processes"),
        (["processes", "--api", ":1"], 2, "ERROR controller processes does not take that flag"),
        (["run", "--format", "json"], 2, "ERROR controller run does not take that flag"),
        (
            ["stop"],
            2,
            (
                'ERROR unknown subcommand "stop" of controller: '
                "it has run, processes, drain, move, key, join, renew-key"
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    environ: dict[str, str], words: list[str], status: int, said: str
) -> None:
    ended = ran(environ, words)
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (status, said)
