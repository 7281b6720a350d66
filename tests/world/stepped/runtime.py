"""The runtime of a stepped controller, and a machine worker that waits for the test."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from pushjuju.core.errors import Unreachable
from pushjuju.plugins.api.firewalls import Firewall
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.leases import LeasedStore
from pushjuju.store.queue import Claim
from pushjuju.store.rows.records import Machine
from pushjuju.workers.events import Event, Observer
from pushjuju.workers.machine.machine_run import MachineRun
from pushjuju.workers.machine.machine_worker import MachineWorker
from pushjuju.workers.machine.running_operations import RunningOperations
from pushjuju.workers.runtime import Runtime
from tests.world.stepped.cloud import SteppedCloud, SteppedFirewall
from tests.world.stepped.machine import SteppedSession, pause

if TYPE_CHECKING:
    from tests.world.stepped.controller import SteppedController


@cache
def plugins() -> PluginHost:
    """Return the provider types."""
    return PluginHost(environ={})


class SteppedRuntime:
    """What the machine workers share."""

    session_type: type[SteppedSession] = SteppedSession
    serves = False
    observer = Observer()
    asked: Any = Runtime.asked  # pushjuju itself removes what is left of a claim
    generation: Any = Runtime.generation
    questions: Any = Runtime.questions
    note_routine: Any = Runtime.note_routine
    loud_hooks: Any = Runtime.loud_hooks

    def __init__(self, fleet: SteppedController, ctx: Context) -> None:
        self.fleet = fleet
        self.ctx = self.base_ctx = ctx
        self.leases = (0, 0)
        self._claim: Claim | None = None
        self.sessions: dict[str, SteppedSession] = {}
        self._loud: dict[tuple[str, str], set[str]] = {}
        self.reconnects = asyncio.Semaphore()  # no connection is lost at rest

    def holding(self, claim: Claim) -> Self:
        """Return the runtime for the holder of a claim."""
        held = copy.copy(self)
        held.ctx = replace(self.base_ctx, store=LeasedStore(self.base_ctx.store, claim))
        held.leases = (claim.lease, claim.previous)
        held._claim = claim
        return held

    def tell(self, event: Event) -> None:
        self.fleet.told.append(f"{event.entity}: {event.text}")

    warn = checkpoint = staticmethod(lambda text: None)

    host = property(lambda _: plugins())
    answered: Mapping[str, Any] = MappingProxyType({})

    @staticmethod
    async def within(_seconds: float, call: Awaitable[Any]) -> Any:
        """Call a cloud, which always answers, without a time limit."""
        return await call

    @asynccontextmanager
    async def starts(self, machine: Any) -> Any:
        """Do not limit the number of starts."""
        yield

    def features(self, kind: str) -> frozenset[str]:
        """Return no features: the cloud has no LXD profiles."""
        del kind
        return frozenset()

    def kind_of(self, machine: Any) -> str:
        """Return the type of the only cloud."""
        return self.cloud_type(machine.model)

    def provider(self, model: str, cloud: str | None = None) -> SteppedCloud:
        return self.fleet.cloud

    def provider_of(self, machine: Machine) -> SteppedCloud:
        return self.fleet.cloud

    def cloud_type(self, model: str) -> str:
        """Return a cloud type other than `manual`."""
        return "local"

    def firewall(self, machine: Machine) -> Firewall | None:
        return SteppedFirewall() if self.fleet.guarded else None

    async def session(self, machine: Machine) -> SteppedSession:
        played = self.fleet.cloud.played_machines.get(machine.instance_id)
        if played is None or played.down:
            raise Unreachable("the machine does not answer")
        found = self.sessions.get(machine.instance_id)
        if found is None or found.played is not played or found.hello["boot_id"] != played.hello()["boot_id"]:
            found = self.sessions[machine.instance_id] = self.session_type(self.fleet, played)
        return found

    def attached(self, machine: Machine) -> SteppedSession | None:
        """Return the connection to a machine, if there is one."""
        return self.sessions.get(machine.instance_id)

    def is_attached(self, machine: Machine) -> bool:
        """Return True when there is a connection and the machine answers."""
        found = self.sessions.get(machine.instance_id)
        played = self.fleet.cloud.played_machines.get(machine.instance_id)
        return found is not None and found.played is played and not found.played.down

    async def drop(self, machine: Machine) -> None:
        """Close a connection."""
        self.sessions.pop(machine.instance_id, None)


class SteppedOperations(RunningOperations):
    """Running operations: in each turn of the machine the oldest goes on to its next wait."""

    def __init__(self) -> None:
        self._open: dict[str, Coroutine[Any, Any, None]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._open

    def __bool__(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def start(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        self._open[key] = work

    async def some_end(self) -> None:
        """Step one operation, in each call another."""
        key, work = next(iter(self._open.items()))
        del self._open[key]
        try:
            work.send(None)
        except StopIteration:
            return
        self._open[key] = work
        await pause()

    async def close(self) -> None:
        """End all operations."""
        for work in self._open.values():
            work.close()
        self._open = {}


class SteppedRun(MachineRun):
    """A machine run whose waits the test controls."""

    operations_type = SteppedOperations

    async def _run(self, dispatch: Any, plan: Sequence[Any] = ()) -> dict[str, Any]:
        behind = [item.frame for item in plan]
        return await self.session.run(dispatch.frame, None, self._answering(dispatch.unit), behind)


class SteppedWorker(MachineWorker):
    """A machine worker whose waits the test controls."""

    run_type = SteppedRun
