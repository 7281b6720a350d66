"""Hooks far away: what each costs alone, and in a plan that goes out at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.push.packer import pack
from pushjuju.runner.session import MachineSession, open_session
from pushjuju.runner.target import MachineTarget
from tests.bench.figures import Report
from tests.ssh.conftest import Machine, Sshd
from tests.ssh.test_plan import plan_of

pytestmark = [pytest.mark.sshd, pytest.mark.bench]
ROUND_TRIP_S = 0.05
NAMES = ("install", "relation-created", "leader-elected", "config-changed", "start")
TIMES = 20


@asynccontextmanager
async def far_away(port: int, seconds: float) -> AsyncIterator[int]:
    """Yield a port behind which another one is, half a round trip away each way."""
    writers: list[asyncio.StreamWriter] = []
    tasks: list[asyncio.Task[None]] = []

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while data := await reader.read(1 << 16):
            loop.call_later(seconds / 2, writer.write, data)

    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writers.extend((writer, back))
        tasks.append(asyncio.create_task(carry(reader, back)))
        tasks.append(asyncio.create_task(carry(there, writer)))

    server = await asyncio.start_server(joined, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


async def alone(session: MachineSession, ops: list[dict[str, Any]]) -> None:
    """Run hooks one after the other."""
    for op in ops:
        await session.run({key: value for key, value in op.items() if key not in ("after", "then")})


async def together(session: MachineSession, ops: list[dict[str, Any]]) -> None:
    """Run hooks as a plan."""
    await session.run(ops[0], plan=ops[1:])
    for op in ops[1:]:
        assert (await session.run(op))["outcome"] == "ok"


async def test_hooks_far_away(sshd: Sshd, tmp_path: Path, report: Report) -> None:
    root = tmp_path / "machine"
    root.mkdir()
    async with far_away(sshd.port, ROUND_TRIP_S) as port:
        target = MachineTarget(
            host="127.0.0.1", port=port, user="root", identity_files=(sshd.key,),
            known_hosts=tmp_path / "known_hosts", use_ssh_config=False,
        )  # fmt: skip
        machine = Machine(root=root, target=target, program=pack())
        machine.write_charm(dispatch=":")
        async with open_session(target, program=pack(), root=str(root), options={"linger": 0.3}) as session:
            for name, way in (("alone", alone), ("in a plan", together)):
                figures = [await _each(session, way) for _ in range(TIMES)]
                target_text = "<= 58 ms" if way is alone else f"<= {50 / len(NAMES) + 3:.0f} ms"
                report.add(
                    f"a hook, round trip 50 ms, {name}", figures, "ms", target=target_text,
                    note=f"{len(NAMES)} hooks that do nothing, warm connection",
                )  # fmt: skip


async def _each(session: MachineSession, way: Any) -> float:
    ops = plan_of(*NAMES)
    begin = time.perf_counter()
    await way(session, ops)
    spent = time.perf_counter() - begin
    for op in ops:
        await session.ack(op["id"])
    return spent * 1000 / len(ops)
