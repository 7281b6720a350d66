"""Machines simulated in this process below the real driver, machine workers and sessions.

All of the controller is real except SSH: frames are packed, compressed, cut and checked. The cost of the
simulation is measured separately, so that a benchmark can subtract it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.providers import Instance, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.runner.push import bootstrap
from pushjuju.runner.push.packer import Program, pack
from pushjuju.runner.remote.base import wire
from pushjuju.runner.session import MachineSession
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Machine
from pushjuju.workers.driver import Driver
from pushjuju.workers.runtime import Runtime
from tests.world.machine import hello, result

_ACTIVE = [{"seq": 1, "e": {"k": "status", "scope": "unit", "status": "active", "message": "", "time": None}}]


@dataclass(slots=True)
class Tally:
    """What was sent, and the cost of the simulated machines.

    Attributes:
        seconds: Processor time of the simulated machines.
        hooks: The number of hooks that ran.
        turns: Round trips: requests with an answer.
    """

    seconds: float = 0.0
    hooks: int = 0
    turns: int = 0
    frames_out: int = 0
    frames_in: int = 0
    bytes_out: int = 0
    bytes_in: int = 0


@dataclass(slots=True)
class WireMachine:
    """A machine on which each operation succeeds at once.

    Attributes:
        loud: Operations that wrote something, or did not begin: the next operation of the plan does not
            begin.
        charms: Units with a charm on the machine, in the order in which the charms arrived.
    shared: True when other processes play the machine, too: then it does not tell what it has.
    """

    number: int
    tally: Tally
    results: set[str] = field(default_factory=set)
    loud: set[str] = field(default_factory=set)
    blobs: list[str] = field(default_factory=list)
    charms: dict[str, None] = field(default_factory=dict)
    shared: bool = False

    @property
    def address(self) -> str:
        """The machine's address."""
        return f"10.{self.number // 62500}.{self.number // 250 % 250}.{self.number % 250 + 1}"

    def hello(self) -> dict[str, Any]:
        """Return what the machine reports at each contact."""
        has = {} if self.shared else {"units": [*self.charms], "charms": [*self.charms]}
        return hello(
            f"box-{self.number}", "boot", self.address, self.results, prefix=8, program="",
            protocol=wire.PROTOCOL, pid=1, parts={}, blobs=self.blobs, **has,
        )  # fmt: skip

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Process a message; return the answer, or None when the message has no answer."""
        if message["t"] == "put":
            self.blobs.append(message["sha256"])
            return {"t": "ok", "sha256": message["sha256"]}
        if message["t"] == "ack":
            self.results.discard(message["id"])
        if message["t"] != "op":
            return None
        if message.get("after") in self.loud:
            self.loud.add(message["id"])
            return {"t": "result", "id": message["id"], "outcome": "not-begun", "events": [], "code": "plan"}
        self.tally.turns += "after" not in message
        self.results.add(message["id"])
        found = {**result(message), "started": 1e9, "ended": 1e9}
        if message["kind"] == "hook":
            self.tally.hooks += 1
            self._run(message, found)
        if message["kind"] == "deploy":
            self.charms[message["unit"]] = None
        if message["kind"] == "remove-unit":
            self.charms.pop(message["unit"], None)
        if found["writes"]:
            self.loud.add(message["id"])
        return found

    def _run(self, message: dict[str, Any], found: dict[str, Any]) -> None:
        found["via"] = hook = message["hook"]
        about = message["context"]["relation"]
        if hook == "start":
            found["events"] = _ACTIVE
        elif about is not None and hook.endswith("-created"):
            said = {"host": message["unit"], "port": "80"}
            found["writes"] = {"relations": {str(about["id"]): {"unit": said}}}


class Channel:
    """Replaces the SSH channel of a session."""

    def __init__(self, played: WireMachine, link: bootstrap.Link) -> None:
        self._machine = played
        self._link = link
        self._reader = wire.Reader()
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> None:
        """Send bytes to the machine; its answers arrive in a later turn of the event loop."""
        tally, begin = self._machine.tally, time.process_time()
        tally.bytes_out += len(data)
        for flag, payload in self._reader.feed(data):
            tally.frames_out += 1
            answer = None if flag == wire.BLOB else self._machine.answer(wire.unpack(flag, payload))
            if answer is not None:
                reply = wire.pack(answer)
                tally.frames_in += 1
                tally.bytes_in += len(reply)
                self._loop.call_soon(self._link.data_received, reply, None)
        tally.seconds += time.process_time() - begin

    def write_eof(self) -> None:
        """Accept the end of the data."""
        self._link.connection_lost(None)

    def close(self) -> None:
        self._link.connection_lost(None)


@cache
def _program() -> Program:
    """Return the program for machines, packed once in a process, as `Runtime` packs it."""
    return pack()


class WireSession(MachineSession):
    """A session with a machine in this process."""

    def __init__(self, played: WireMachine) -> None:
        super().__init__(
            MachineTarget(host=played.address), program=_program(), connector=Connector(), root="",
            options={}, reattach=0.0,
        )  # fmt: skip
        self._machine = played

    async def _attach(self) -> bootstrap.Link:
        if self._link is not None and not self._link.lost.done():
            return self._link
        link = bootstrap.Link()
        link.channel = Channel(self._machine, link)  # type: ignore[assignment]
        link._reader = wire.Reader()
        begin = time.process_time()
        said = wire.pack(self._machine.hello())
        self._machine.tally.seconds += time.process_time() - begin
        link.data_received(said, None)
        link.hello = self._hello(link)
        link.on_message = self._on_message
        self._link = link
        self._blobs = set(link.hello["blobs"])
        self._beat(link)
        return link


class SharedMachines(dict[str, WireMachine]):
    """Machines that several processes play: each makes its own of those that another process has started."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def __missing__(self, name: str) -> WireMachine:
        made = self[name] = WireMachine(int(name.removeprefix("i-")), self._tally, shared=True)
        return made


class WireCloud:
    """A provider whose machines start at once.

    Args:
        first: The number of the first machine, of a process that shares its machines with others; else None.
    """

    def __init__(self, first: int | None = None) -> None:
        self.tally = Tally()
        shared = first is not None
        self.played_machines: dict[str, WireMachine] = SharedMachines(self.tally) if shared else {}
        self._shared = shared
        self._next = first or 0

    async def start(self, request: StartRequest) -> Started:
        """Make a machine."""
        played = WireMachine(number=self._next, tally=self.tally, shared=self._shared)
        self._next += 1
        self.played_machines[f"i-{played.number}"] = played
        instance = Instance(
            id=f"i-{played.number}", status=InstanceStatus.RUNNING, machine_id=request.machine_id
        )
        return Started(instance=instance, base=request.base, nonce=request.nonce)

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the address of a machine."""
        return SSHTarget(host=self.played_machines[instance.id].address)

    async def get(self, ids: Sequence[str]) -> list[Instance | None]:
        return [Instance(id=name, status=InstanceStatus.RUNNING) for name in ids]

    async def stop(self, ids: Iterable[str]) -> None:
        """End machines."""
        for name in ids:
            self.played_machines.pop(name, None)


class WireRuntime(Runtime):
    """A runtime with simulated cloud and connections."""

    cloud: WireCloud

    def provider(self, model: str, cloud: str | None = None) -> Any:
        return self.cloud

    @asynccontextmanager
    async def opening(self, machine: Machine) -> AsyncIterator[MachineSession]:
        """Attach to a played machine."""
        session = WireSession(self.cloud.played_machines[machine.instance_id])
        try:
            yield await session.open()
        finally:
            await session.close()


def driver(ctx: Context, model: str, cloud: WireCloud) -> Driver:
    """Return a driver of a model with simulated machines."""
    made = Driver(ctx, model)
    made.runtime = shop = WireRuntime(ctx)
    shop.cloud = cloud
    return made
