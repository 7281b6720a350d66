"""What the tests of the command line share: running one command line in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.work import drive
from tests.world.commandline import Ended, Home, Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command line with a fresh data directory."""
    monkeypatch.chdir(tmp_path)
    return Home(tmp_path)


@pytest.fixture
def unworked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands record what is asked for, and leave it."""
    monkeypatch.setattr(drive, "settle", lambda *_args, **_more: None)
    monkeypatch.setattr(drive, "background", lambda *_args: None)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let commands record what is asked for; return what they would have worked."""
    calls: list[Any] = []

    def settle(cli: Any, ctx: Any, model: str, *, touched: Any = None, no_wait: bool = False) -> None:
        calls.append("no-wait" if no_wait else touched)

    monkeypatch.setattr(drive, "settle", settle)
    return calls


@pytest.fixture
def cached(run: Run, tmp_path: Path) -> Run:
    """Return `run` with a cache of charms of its own."""

    def typed(*argv: str, **more: Any) -> Ended:
        env = {"PUSHJUJU_CACHE": str(tmp_path / "cache"), **more.pop("env", {})}
        return run(*argv, env=env, **more)

    return typed


@pytest.fixture
def lab(run: Run) -> Run:
    """Return `run` with a controller and a model in focus."""
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    return run
