"""A controller process that drives one model to rest, and may be told to die on the way.

    drive.py DATA MODEL [--die-file FILE [--steps NAME,...]] [--die-after-commit N] [--die-before-commit N]
             [--lease SECONDS] [--name-operations] [--commit-first] [--strikes SEED:MOST FOLDER]

`--die-file`: SIGKILL at every step that the file does not list yet, once each; a step is its name and the
hook that it belongs to, if any. `--die-...-commit`: SIGKILL around the N-th write to the store. `--lease`:
how long a claim holds without a heartbeat. `--name-operations`: hooks find the id of their operation in
JUJU_CONTEXT_ID. `--commit-first`: before a death at a step, PostgreSQL has the commit of what writers share,
though not on its disk, as after some milliseconds. `--strikes`: kill the PostgreSQL of a folder at random
(`strikes.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis import clock_jumps
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.store import queue
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from pushjuju.store.tx import Tx
from pushjuju.workers import heartbeat
from pushjuju.workers.driver import Driver
from pushjuju.workers.events import Event
from tests.chaos.strikes import Strikes

OF_HOOKS = ("prepared", "charm-pushed", "promoted", "result", "committed", "saved", "acknowledged")


def die() -> None:
    """End as a process ends that is killed: at once."""
    os.kill(os.getpid(), signal.SIGKILL)


class Steps:
    """Dies at each step once."""

    def __init__(self, path: Path, names: str, before: Callable[[], object]) -> None:
        self._path = path
        self._before = before
        self._names = names.split(",") if names else []
        self._doing = ""

    def tell(self, event: Event) -> None:
        """Remember which operation runs."""
        print(event.entity, event.text, flush=True)
        if event.text.endswith(": running"):
            self._doing = event.text.removesuffix(": running")

    def checkpoint(self, name: str) -> None:
        """Die here, unless a process before us did."""
        step = f"{name} {self._doing}" if name in OF_HOOKS else name
        known = self._path.read_text().splitlines() if self._path.exists() else []
        if (self._names and name not in self._names) or step in known:
            return
        with self._path.open("a") as stream:
            stream.write(step + "\n")
        self._before()
        die()


class DyingStore(Store):
    """Dies before or after its N-th write is kept."""

    before = 0
    after = 0
    writes = 0

    @contextmanager
    def write(self, *model: str, **options: bool) -> Iterator[Tx]:
        """Open the writing transaction."""
        type(self).writes += 1
        with super().write(*model, **options) as tx:
            yield tx
            if self.writes == self.before:
                die()
        if self.writes == self.after:
            die()


def shorten_leases(seconds: float) -> None:
    """Let a claim end soon after its last heartbeat."""
    queue.LEASE_S, heartbeat.LEASE_S, heartbeat.HEARTBEAT_S = seconds, seconds, seconds / 4
    clock_jumps.LEASE_S = seconds


def name_operations() -> None:
    """Let each hook know the id of its operation."""
    run = MachineSession.run

    def name(op: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**op, "env": {**op["env"], "JUJU_CONTEXT_ID": op["id"]}} if op.get("kind") == "hook" else op

    async def named(
        self: MachineSession, op: Mapping[str, Any], on_event: Any = None, on_live: Any = None, plan: Any = ()
    ) -> dict[str, Any]:
        return await run(self, name(op), on_event, on_live, [name(item) for item in plan])

    MachineSession.run = named  # type: ignore[method-assign]


def main() -> int:
    """Drive to rest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("model")
    parser.add_argument("--die-file", type=Path)
    parser.add_argument("--steps", default="")
    parser.add_argument("--die-after-commit", type=int, default=0)
    parser.add_argument("--die-before-commit", type=int, default=0)
    parser.add_argument("--lease", type=float)
    parser.add_argument("--name-operations", action="store_true")
    parser.add_argument("--commit-first", action="store_true")
    parser.add_argument("--strikes", nargs=2, metavar=("SEED:MOST", "FOLDER"))
    options = parser.parse_args()
    if options.lease:
        shorten_leases(options.lease)
    if options.name_operations:
        name_operations()
    ctx = open_context(DataDir(options.data), "local", environ=dict(os.environ))
    DyingStore.before, DyingStore.after = options.die_before_commit, options.die_after_commit
    if DyingStore.before or DyingStore.after:
        ctx.store.__class__ = DyingStore
    return asyncio.run(_drive(ctx, options))


async def _drive(ctx: Context, options: argparse.Namespace) -> int:
    if options.die_file:
        before = partial(ctx.store.group().joins, "") if options.commit_first else bool
        steps = Steps(options.die_file, options.steps, before)
        driver = Driver(ctx, options.model, tell=steps.tell, warn=print, checkpoint=steps.checkpoint)
    elif options.strikes:
        strikes = Strikes(ctx.store.engine, Path(options.strikes[1]), options.strikes[0])
        driver = Driver(ctx, options.model, tell=strikes.tell, warn=print)
    else:
        driver = Driver(ctx, options.model, tell=lambda event: print(event.entity, event.text, flush=True))
    settled = await driver.settle()
    print(*settled.problems, sep="\n")
    return 1 if settled.problems else 0


if __name__ == "__main__":
    sys.exit(main())
