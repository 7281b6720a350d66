"""A controller process that is attacked: what it costs, measured from outside of the attack.

    python -m tests.fuzz.attacked SIZE... < kinds, one a line

Each attack runs in a process of its own, so that none finds memory that another one left.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pushjuju.runner.push import bootstrap
from pushjuju.runner.push.heard import Ahead, Pending
from pushjuju.runner.push.packer import pack
from pushjuju.runner.remote.base import wire
from pushjuju.runner.session import MachineSession
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from tests.fuzz import dear

PIECE = 32 * 1024  # bytes of an SSH packet
AHEAD = 64


def memory(name: str) -> int:
    """Return a figure of this process in bytes."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":")) * 1024


class _Channel:
    def write(self, data: bytes) -> None:
        """Take what is sent."""

    def close(self) -> None:
        """Be closed."""


async def _attack(stream: bytes) -> dict[str, Any]:
    """Let a session with operations under way hear something."""
    target = MachineTarget(host="10.0.0.2")
    session = MachineSession(
        target, program=pack(), connector=Connector(), root="", options={}, reattach=0.0
    )  # fmt: skip
    link = bootstrap.Link(session._waste)
    link.channel = _Channel()  # type: ignore[assignment]
    link.data_received(b"PJ1R" + wire.pack({"t": "hello"}), None)
    link.on_message = session._on_message
    session._link = link

    async def never(_: Any) -> Any:
        await asyncio.Event().wait()

    session._pending["op"] = pending = Pending(session._room, None, never)
    session._ahead = {f"ahead{n or ''}": Ahead(session._room, link) for n in range(AHEAD)}
    begun, longest = time.process_time(), 0.0
    for at in range(0, len(stream), PIECE):
        step = time.process_time()
        link.data_received(stream[at : at + PIECE], None)
        longest = max(longest, time.process_time() - step)
        if link.fault:
            break
        if at % (64 * PIECE) == 0:
            await asyncio.sleep(0)
    found = {"cpu": time.process_time() - begun, "longest": longest, "end": str(link.fault or "")}
    found.update(kept=memory("VmRSS"), peak=memory("VmHWM"), sent=len(stream))
    for task in session._tasks:
        task.cancel()
    del pending
    return found


def apart(work: Callable[[], bytes]) -> bytes:
    """Return what is made in a process of its own, which leaves no memory behind."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            said = file.read()
        os.waitpid(child, 0)
        return said
    try:
        with os.fdopen(writing, "wb") as file:
            file.write(work())
    finally:
        os._exit(0)


def measured(kind: str, size: int) -> dict[str, Any]:
    """Return what an attack costs: processor time, memory at most and afterwards."""
    stream = apart(lambda: dear.stream(kind, size))

    def attack() -> bytes:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text(
                "5", "ascii"
            )  # the highest figure is to be this attack's
        before = memory("VmRSS")
        found = asyncio.run(_attack(stream))
        found.update(kept=found["kept"] - before, peak=found["peak"] - before)
        return json.dumps(found).encode()

    return {"kind": kind, "size": size, **json.loads(apart(attack))}


def main() -> None:
    """Print a line of JSON for each attack and size."""
    for kind in sys.stdin.read().splitlines():
        for size in sys.argv[1:]:
            print(json.dumps(measured(kind, int(size))), flush=True)


if __name__ == "__main__":
    main()
