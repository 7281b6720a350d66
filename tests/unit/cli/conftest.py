"""What the tests of the command line share: running one command line in this process."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.app import main
from pushjuju.cli.work import drive
from tests.world.commandline import Ended, Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command line with a fresh data directory."""
    monkeypatch.chdir(tmp_path)

    def call(
        *argv: str, stdin: str = "", env: Mapping[str, str] | None = None, program: str = "pushjuju"
    ) -> Ended:
        out, err = io.StringIO(), io.StringIO()
        status = main.run(
            argv,
            stdin=io.StringIO(stdin),
            stdout=out,
            stderr=err,
            env={"PUSHJUJU_DATA": str(tmp_path / "data"), "HOME": str(tmp_path), **(env or {})},
            program=program,
        )
        return Ended(status, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def unworked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands record what is asked for, and leave it."""
    monkeypatch.setattr(drive, "settle", lambda *_args, **_more: None)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let commands record what is asked for; return what they would have worked."""
    calls: list[Any] = []

    def settle(cli: Any, ctx: Any, model: str, *, touched: Any = None, no_wait: bool = False) -> None:
        calls.append("no-wait" if no_wait else touched)

    monkeypatch.setattr(drive, "settle", settle)
    return calls


@pytest.fixture
def lab(run: Run) -> Run:
    """Return `run` with a controller and a model in focus."""
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    return run
