"""Follows the open session of a machine at rest: requests of `juju-exec` arrive, or its connection is lost.

Both wake the machine's worker, which may belong to another process: the worker contacts the machine anew, and
so learns of the requests that wait there, and of a reboot.
"""

from __future__ import annotations

import asyncio

from pushjuju.core.errors import ConnectionLost, PushjujuError, StoreError, Unreachable
from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.store.rows.records import Machine
from pushjuju.workers.runtime import Runtime

AGAIN_S = 1.0  # seconds until the next attempt, of a busy store or of a silent machine at first
RECONNECT_S = 30.0  # least seconds between the starts of two connections that are lost at rest
RECONNECT_MOST_S = 60.0  # most seconds between two attempts to connect again


def listen(runtime: Runtime, session: MachineSession, machine: Machine) -> None:
    """Wake a machine's worker when a request arrives there; a service also connects again after a loss."""
    standby = _Standby(
        ctx=runtime.base_ctx, model=machine.model, machine=machine.id, session=session,
        reconnects=runtime.reconnects,
    )  # fmt: skip
    session.on_requests = standby.take_request
    if runtime.serves:
        session.on_loss = standby.connect_again


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standby:
    ctx: Context
    model: str
    machine: str
    session: MachineSession
    reconnects: asyncio.Semaphore

    def take_request(self) -> None:
        self._wake("juju-exec")

    async def connect_again(self, lasted_s: float) -> None:
        """Connect again until the machine answers; the next work on a machine that stays silent says so."""
        pause = max(AGAIN_S, RECONNECT_S - lasted_s)
        while True:
            await asyncio.sleep(pause)
            try:
                async with self.reconnects:  # the wait may take long: what is checked behind it is present
                    if self.session.connected or not self._is_alive():
                        return  # work needed the machine meanwhile, or another process removes it
                    await self.session.connect()
                self._wake("connected again")
                return
            except (Unreachable, ConnectionLost, StoreError):
                pause = min(2 * pause, RECONNECT_MOST_S)
            except PushjujuError:  # as before: the next work says so
                return

    def _is_alive(self) -> bool:
        with self.ctx.read(self.model) as tx:
            found = tx.find(Machine, "machine_get", id=self.machine)
        return found is not None and found.life == Life.ALIVE

    def _wake(self, reason: str) -> None:
        try:
            with self.ctx.write(self.model) as tx:
                machines.see_again(tx, self.machine, reason)
        except StoreError:  # a busy store: try again
            asyncio.get_running_loop().call_later(AGAIN_S, self._wake, reason)
