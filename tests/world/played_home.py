"""A user's home in which command lines work on machines that are simulated in this process.

All of pushjuju is real but the machines and SSH: the command line, the store, the queue, the workers. A
function says what hooks do. The clock moves only between commands, so the same lines print the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from pushjuju.cli.app import main
from pushjuju.cli.syntax.command import Cli
from pushjuju.services.entities.basis.context import Context
from pushjuju.workers import driver
from pushjuju.workers.provision import precheck
from pushjuju.workers.runtime import no_checkpoint
from tests.world.clock import FakeClock
from tests.world.commandline import Ended, call
from tests.world.machine import PlayedMachine
from tests.world.runtime import PlayedRuntime

Hook = Callable[[Mapping[str, Any]], Mapping[str, Any]]
STEP_S = 7.0  # how far the clock moves before each command


class _Machine(PlayedMachine):
    """A machine whose hooks do what its home says."""

    home: PlayedHome

    def hello(self) -> dict[str, Any]:
        """Return what a machine of the base that is asked for reports."""
        return {**super().hello(), "os": {"id": "ubuntu", "version_id": "24.04"}}

    def _do(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._do(frame), **(self.home.does(frame) if frame["kind"] == "hook" else {})}


class PlayedHome:
    """The home of a user whose machines are simulated.

    Attributes:
        folder: The home directory, with the data directory `data`.
        does: Returns what a hook does, from the frame that starts the hook: keys of its result.
        env: Further environment variables.
    """

    def __init__(self, folder: Path, does: Hook = lambda frame: {}) -> None:
        self.folder = folder
        self.does = does
        self.env: Mapping[str, str] = {}
        self.ctx: Any = None
        self.clock = FakeClock()
        self.played_machines: dict[str, PlayedMachine] = _Machines(self)
        self.gone: list[PlayedMachine] = []

    def __call__(self, *argv: str, stdin: str = "") -> Ended:
        """Run a command line."""
        self.clock.advance(STEP_S)
        with self._played():
            return call(self.folder, *argv, stdin=stdin, env=self.env)

    @contextmanager
    def _played(self) -> Iterator[None]:
        made = functools.partial(Cli, clock=self.clock)
        with (
            mock.patch.object(main, "Cli", made),
            mock.patch.object(driver, "Runtime", self._runtime),
            mock.patch.object(precheck, "Runtime", self._runtime),
        ):
            yield

    def _runtime(
        self, ctx: Context, tell: Any = None, warn: Any = None, checkpoint: Any = no_checkpoint, **more: Any
    ) -> PlayedRuntime:
        self.ctx = ctx
        ctx.random.seed(7)  # retries are due at the same moments each time
        made = PlayedRuntime(self, checkpoint)  # type: ignore[arg-type]
        made.tell = tell or made.tell
        made.warn = warn or made.warn
        made.watched = bool(more.get("watched"))
        return made


class _Machines(dict[str, PlayedMachine]):
    """The machines of a home; a new one does what the home says."""

    def __init__(self, home: PlayedHome) -> None:
        super().__init__()
        self._home = home

    def __setitem__(self, name: str, played: PlayedMachine) -> None:
        made = _Machine(id=played.id, address=played.address)
        made.home = self._home
        super().__setitem__(name, made)
