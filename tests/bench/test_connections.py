"""Connections to a real sshd: how many a second, what each costs the controller, and what it keeps of one."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.runner.push.packer import Program, pack
from pushjuju.runner.session import open_session
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.workers.runtime import HANDSHAKES
from tests.bench.figures import Report
from tests.ssh.conftest import Sshd

pytestmark = [pytest.mark.sshd, pytest.mark.bench]
MANY = 100
ROUNDS = 3
OPTIONS = {"linger": 0.3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What it cost to attach to many machines at once, for each; memory in KiB."""

    wall_ms: float
    cpu_ms: float
    kib: float


class Fleet:
    """Many machines behind one sshd: each has a root of its own, and a process that serves it."""

    def __init__(self, sshd: Sshd, root: Path) -> None:
        self.roots = [root / str(number) for number in range(MANY)]
        for path in self.roots:
            path.mkdir(parents=True)
        self.target = MachineTarget(
            host="127.0.0.1", port=sshd.port, user="root", identity_files=(sshd.key,),
            known_hosts=root / "known_hosts", use_ssh_config=False,
        )  # fmt: skip
        self.program: Program = pack()
        self.connector = Connector()

    @asynccontextmanager
    async def attached(self, count: int) -> AsyncIterator[Opened]:
        """Attach to machines at once, as many logins under way as a controller allows itself."""
        gate = asyncio.Semaphore(HANDSHAKES)
        async with AsyncExitStack() as stack:

            async def one(root: Path) -> None:
                async with gate:
                    opening = open_session(
                        self.target, program=self.program, connector=self.connector, root=str(root),
                        options=OPTIONS,
                    )  # fmt: skip
                    await stack.enter_async_context(opening)

            gc.collect()
            before, wall, cpu = resident_kib(), time.perf_counter(), time.process_time()
            await asyncio.gather(*(one(root) for root in self.roots[:count]))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            gc.collect()
            kept = resident_kib() - before
            yield Opened(wall_ms=wall / count * 1000, cpu_ms=cpu / count * 1000, kib=kept / count)

    def sweep(self) -> None:
        """End what still serves these machines."""
        roots = {str(path).encode() for path in self.roots}
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if roots & set(entry.read_bytes().split(b"\0")):
                    os.kill(int(entry.parent.name), signal.SIGKILL)


def resident_kib() -> float:
    """Return the memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


async def test_connections(report: Report, sshd: Sshd, tmp_path: Path) -> None:
    fleet = Fleet(sshd, tmp_path / "machines")
    try:
        async with fleet.attached(1):
            pass  # what the first connection imports and loads
        first = None
        found = []
        for _ in range(ROUNDS):
            async with fleet.attached(MANY) as opened:
                first = first or opened
                found.append(opened)
    finally:
        fleet.sweep()
    assert first is not None
    around = f"{MANY} machines behind one sshd, {HANDSHAKES} logins at once"
    cpu = [item.cpu_ms for item in found]
    report.add(
        "a connection, processor time of the controller", cpu, target="<= 2.5 ms",
        note=f"until the machine's first message; {around}",
    )  # fmt: skip
    report.add("connections a second and core", [1000 / value for value in cpu], "/s", target=">= 400 /s")
    note = "both sides, sshd and the runners' starts share the cores"
    report.add("connections a second, wall", [1000 / item.wall_ms for item in found], "/s", note=note)
    report.add(
        "memory for each connection", [first.kib], "KiB", target="<= 100 KiB", note="of the first round"
    )
