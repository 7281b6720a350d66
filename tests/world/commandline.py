"""Runs command lines in this process, and replaces the work that commands wait for."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from pushjuju.cli.app import main
from pushjuju.cli.work import drive, waiting
from pushjuju.core.problems import Problem


class Ended(NamedTuple):
    """The result of a command line."""

    status: int
    out: str
    err: str


Run = Callable[..., Ended]


def call(
    folder: Path,
    *argv: str,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    program: str = "pushjuju",
) -> Ended:
    """Run a command line for a user with the home `folder` and the data directory `folder/data`."""
    out, err = io.StringIO(), io.StringIO()
    plain = {"PUSHJUJU_DATA": str(folder / "data"), "HOME": str(folder)}
    status = main.run(
        argv, stdin=io.StringIO(stdin), stdout=out, stderr=err, env={**plain, **(env or {})}, program=program
    )
    return Ended(status, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Home:
    """The home directory of a user who types command lines.

    Attributes:
        folder: The home directory, with the data directory `data`.
        env: Further environment variables.
    """

    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *argv: str, env: Mapping[str, str] | None = None, **more: Any) -> Ended:
        """Run a command line."""
        return call(self.folder, *argv, env={**self.env, **(env or {})}, **more)

    def kept(self, controller: str) -> list[str]:
        """Return all that the store (see `rows_kept`) and the files of a controller contain, as text."""
        data = self.folder / "data"
        root = data / "controllers" / controller
        rows = rows_kept(root / "state.db")
        return [*rows, (root / "controller.toml").read_text(), (data / "pushjuju.toml").read_text()]


def rows_kept(path: Path) -> list[str]:
    """Return the rows of a store, without the lines of the audit log that only tell of refused changes."""
    with closing(sqlite3.connect(path)) as connection:
        return [row for row in connection.iterdump() if '"answers":[]' not in row]


def ok(ended: Ended) -> str:
    """Return the output of a command line, which must have succeeded."""
    assert ended.status == 0, ended.err
    return ended.out


class PlayedDrive:
    """Replaces the workers: a test decides what happens while a command waits.

    Attributes:
        background: How often a command started background work while it waited for the user.
    """

    background = 0

    def take_place(self, monkeypatch: pytest.MonkeyPatch) -> Self:
        """Replace the workers in commands from now on."""
        monkeypatch.setattr(drive, "settle", lambda *_, **__: None)
        monkeypatch.setattr(drive, "background", self._background)
        monkeypatch.setattr(waiting, "work", self.work)
        monkeypatch.setattr(waiting, "attend", self.foreground)
        return self

    def _background(self, *_: Any) -> None:
        self.background += 1

    def work(self, cli: Any, opened: Any, look: Callable[[], bool]) -> None:
        """Run the test's events until the command has seen what it waits for."""
        raise NotImplementedError

    def foreground(self, cli: Any, opened: Any, look: Callable[[], bool], **_: Any) -> Sequence[Problem]:
        """Run the test's events; return the problems."""
        raise NotImplementedError
