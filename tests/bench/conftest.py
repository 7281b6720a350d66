"""One report for all figures of a run: printed at the end, kept as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.testing.machines import local_cloud  # noqa: F401
from tests.bench.figures import ROOT, Report, summary
from tests.ssh.conftest import SSHD, Sshd, new_sshd
from tests.world.charms import Charms
from tests.world.controller import TestController

_REPORT = pytest.StashKey[Report]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin an empty report."""
    config.stash[_REPORT] = Report()


@pytest.fixture
def report(pytestconfig: pytest.Config) -> Report:
    """Where the figures of this run go."""
    return pytestconfig.stash[_REPORT]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[TestController]:
    """A controller whose machines answer in this process."""
    made = TestController.build(tmp_path, Charms(tmp_path / "charms"))
    yield made
    made.ctx.close()


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    """An sshd of our own."""
    if not SSHD or os.geteuid():
        pytest.skip("this needs root and OpenSSH's sshd")
    (tmp_path / "sshd").mkdir()
    daemon = new_sshd(tmp_path / "sshd")
    yield daemon
    daemon.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the figures of this run, if there are any, and keep them."""
    found = config.stash[_REPORT]
    if not found.figures:
        return
    path = found.write()
    terminalreporter.section("figures")
    terminalreporter.write_line(found.table())
    terminalreporter.write_line("")
    terminalreporter.write_line(summary(json.loads(path.read_text())["machine"]))
    terminalreporter.write_line(f"kept in {path.relative_to(ROOT)}")
