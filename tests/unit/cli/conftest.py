"""What the tests of the command line share: running one command line in this process."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.cli.app import main
from pushjuju.cli.work import drive


@dataclass(frozen=True)
class Ended:
    """How a command line ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Ended]


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
def lab(run: Run) -> Run:
    """Return `run` with a controller and a model in focus."""
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    return run
