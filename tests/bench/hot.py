"""A unit on a real machine whose hooks do nothing, and the path of one hook, step by step."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushjuju.charms.archive.pack import pack
from pushjuju.core.base import Base
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup
from pushjuju.plugins.providers.nspawn.layout import Layout
from pushjuju.runner.session import MachineSession, open_session
from pushjuju.services.entities.basis import context
from pushjuju.services.entities.machine import machines
from pushjuju.services.requests.application import new_application, settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.controller import new_controllers
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.store.datadir import DataDir
from pushjuju.store.rows.records import LogRecord
from pushjuju.uniter.commit import commit
from pushjuju.uniter.turn import take_turn
from pushjuju.workers.driver import Driver
from pushjuju.workers.events import silent
from pushjuju.workers.machine.machine_worker import MachineWorker
from pushjuju.workers.runtime import Runtime

CHARM = Path(__file__).parent / "charms" / "quick"
UNIT = "quick/0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """What one hook cost, in milliseconds.

    Attributes:
        wall: From the decision to the acknowledgement.
        turn: Of it, deciding and preparing.
        run: Of it, from the request to the result.
        machine: Of that, from the machine's first note of the operation to its last; the hook's run is in it.
        commit: Of it, taking the result in.
        cpu: Processor time of the controller.
        frames: Frames sent and received from the request to the result.
    """

    wall: float
    turn: float
    run: float
    machine: float
    commit: float
    cpu: float
    frames: tuple[int, int]


class Hot:
    """A controller with one unit on one machine."""

    def __init__(self, data: Path, base: Base) -> None:
        datadir = DataDir(data)
        clock = context.SystemClock()
        new_controllers.bootstrap(datadir, "local", "local", now=clock.now())
        self.base = base
        self.ctx = context.open_context(datadir, "local", environ=dict(os.environ), clock=clock)
        self.ctx.store.remember()  # as every process that works the queue does
        self.model = add_model(self.ctx, AddModelOptions(name="bench")).uuid
        self._shop = Runtime(self.ctx, silent)
        self._round = 0

    def deploy(self, charm: Path, work: Path) -> None:
        """Record a deploy; nothing runs yet."""
        packed = pack(charm, work / f"{charm.name}.charm")
        request = new_application.NewApplication(application=charm.name, packed=packed, base=self.base)
        new_application.add(self.ctx, self.model, request)

    async def settle(self) -> None:
        """Drive to rest."""
        settled = await Driver(self.ctx, self.model).settle()
        assert not settled.problems, settled.problems

    @contextlib.asynccontextmanager
    async def session(self, **options: Any) -> AsyncIterator[MachineSession]:
        """Attach to the machine."""
        with self.ctx.read(self.model) as tx:
            machine = machines.get(tx, "0")
        target = self._shop.target(machine)
        shared = {"program": self._shop.program, "connector": self._shop.connector}
        async with open_session(target, options=options, **shared) as session:
            yield session

    def change(self) -> None:
        """Change a setting, so that config-changed is due."""
        self._round += 1
        settings.set_config(
            self.ctx, self.model, ConfigOptions(application="quick", values={"round": str(self._round)})
        )

    async def hook(self, session: MachineSession) -> Hook:
        """Run the hook that is due, with everything that belongs to it."""
        frames, cpu, begin = (session.frames_out, session.frames_in), time.process_time(), time.perf_counter()
        turn = take_turn(self.ctx, self.model, UNIT)
        assert turn.dispatch is not None, turn.reason
        prepared = time.perf_counter()
        result = await session.run(turn.dispatch.frame)
        back = time.perf_counter()
        exchanged = (session.frames_out - frames[0], session.frames_in - frames[1])
        done = commit(self.ctx, turn.dispatch.id, result)
        committed = time.perf_counter()
        await session.ack(turn.dispatch.id)
        end, cpu = time.perf_counter(), time.process_time() - cpu
        assert done.ok, done.message
        await asyncio.sleep(0)
        return Hook(
            wall=(end - begin) * 1000,
            turn=(prepared - begin) * 1000,
            run=(back - prepared) * 1000,
            machine=(result["ended"] - result["started"]) * 1000,
            commit=(committed - back) * 1000,
            cpu=cpu * 1000,
            frames=exchanged,
        )

    def rest(self) -> None:
        """Let the unit see that nothing is left to do."""
        while take_turn(self.ctx, self.model, UNIT).dispatch is not None:
            raise AssertionError("more than one hook was due")

    async def timed(self, session: MachineSession) -> Mapping[str, list[float]]:
        """Run the hook that measures on the machine: name -> milliseconds."""
        unit_requests.make_due(self.ctx, self.model, [UNIT])
        turn = take_turn(self.ctx, self.model, UNIT)
        assert turn.dispatch is not None, turn.reason
        # The figures are lines of output, which the log of this model would not keep.
        result = await session.run({**turn.dispatch.frame, "logging": "<root>=DEBUG"})
        assert commit(self.ctx, turn.dispatch.id, result).ok, self.logs()
        await session.ack(turn.dispatch.id)
        lines = [item["e"]["line"].split() for item in result["events"] if item["e"]["k"] == "output"]
        return {words[0]: [float(word) for word in words[1:]] for words in lines}

    def logs(self) -> list[str]:
        """Return all log lines."""
        with self.ctx.read(self.model) as tx:
            found = tx.list(LogRecord, "log_after", after=0, limit=10_000, levels="", entities="")
        return [f"{line.level} {line.message}" for line in found]

    @contextlib.asynccontextmanager
    async def shop(self) -> AsyncIterator[Runtime]:
        """Open what lanes share; its connections stay open in between."""
        async with AsyncExitStack() as stack:
            made = Runtime(self.ctx, silent)
            stack.push_async_callback(made.close)
            yield made

    async def visit(self, shop: Runtime) -> float:
        """Work the machine's lane once; return its milliseconds."""
        begin = time.perf_counter()
        outcome = await MachineWorker(shop, self.model, "0", 0).work()
        assert not outcome.failed, outcome.reason
        return (time.perf_counter() - begin) * 1000

    def processes(self, name: str) -> list[int]:
        """Return the processes on the machine whose name begins so."""
        layout = Layout.of(self.ctx.controller.machines)
        record = next(iter(layout.records()))
        return [pid for pid in Cgroup.of(layout.cgroup(record.id)).pids() if _comm(pid).startswith(name)]

    def close(self) -> None:
        """Close the store."""
        self.ctx.close()


def _comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def memory(pid: int) -> tuple[float, float]:
    """Return MiB of a process: resident, and of that its own alone."""
    fields = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, value = line.partition(":")
        fields[name] = int(value.split()[0]) / 1024
    return fields["Rss"], fields["Private_Clean"] + fields["Private_Dirty"]
