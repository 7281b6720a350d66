"""Follows the open session of a machine at rest: requests of `juju-exec` arrive, or its connection is lost.

Both wake the machine's worker, which may belong to another process: the worker contacts the machine anew, and
so learns of the requests that wait there, and of a reboot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from pushjuju.core.errors import ConnectionLost, PushjujuError, StoreError, Unreachable
from pushjuju.core.status import Life
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
    wake = partial(_wake, runtime.base_ctx, machine.model, machine.id)
    session.on_requests = partial(wake, "juju-exec")
    if runtime.serves:
        session.on_loss = partial(_connect_again, runtime, session, machine, partial(wake, "connected again"))


async def _connect_again(
    runtime: Runtime, session: MachineSession, machine: Machine, wake: Callable[[], None], lasted_s: float
) -> None:
    """Connect again until the machine answers; the next work on a machine that stays silent says so."""
    pause = max(AGAIN_S, RECONNECT_S - lasted_s)
    while True:
        await asyncio.sleep(pause)
        try:
            if session.connected or not _is_alive(runtime.base_ctx, machine):
                return  # work needed the machine meanwhile, or another process removes it
            async with runtime.reconnects:
                await session.connect()
        except (Unreachable, ConnectionLost, StoreError):
            pause = min(2 * pause, RECONNECT_MOST_S)
        except PushjujuError:  # as before: the next work says so
            return
        else:
            wake()
            return


def _is_alive(ctx: Context, machine: Machine) -> bool:
    with ctx.read(machine.model) as tx:
        found = tx.find(Machine, "machine_get", id=machine.id)
    return found is not None and found.life == Life.ALIVE


def _wake(ctx: Context, model: str, machine: str, reason: str) -> None:
    try:
        with ctx.write(model) as tx:
            machines.see_again(tx, machine, reason)
    except StoreError:  # a busy store: try again
        asyncio.get_running_loop().call_later(AGAIN_S, _wake, ctx, model, machine, reason)
