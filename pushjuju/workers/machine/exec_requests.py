"""What `juju-exec` asks for on machines that are attached.

A session knows what waits on its machine; nothing of it is kept in the store until it is run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial

from pushjuju.core.errors import StoreError
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Machine, Operation
from pushjuju.uniter.requests import Refusal, Request, error_of, read_request
from pushjuju.workers.runtime import Runtime

AGAIN_S = 1.0  # when to touch the worker again after the store was busy


def of_unit(session: MachineSession, unit: str) -> list[Request]:
    """Return what waits for a unit, oldest first; what cannot be read is refused."""
    found = []
    for name, document in sorted(session.requests.items()):
        if document.get("unit") != unit:
            continue
        try:
            found.append(read_request(document))
        except (KeyError, TypeError, ValueError, OverflowError):
            session.answer(name, "the request cannot be read")
    return found


def waiting(runtime: Runtime, machine: Machine) -> bool:
    """Return True when requests wait on a machine, as far as an open session knows."""
    session = runtime.attached(machine)
    return session is not None and bool(session.requests)


def refuse(session: MachineSession, refused: Iterable[Refusal]) -> None:
    """Tell the machine what is not run, and why."""
    for item in refused:
        session.answer(item.request, item.error)


def tell_again(session: MachineSession, found: Operation | None) -> None:
    """Tell the error of a request whose operation an earlier controller committed."""
    refusal = error_of(found) if found is not None else None
    if refusal is not None:
        session.answer(refusal.request, refusal.error)


def listen(ctx: Context, session: MachineSession, machine: Machine) -> None:
    """Let the worker of a machine look again whenever something new is asked for there."""
    session.on_requests = partial(_touch, ctx, machine.model, machine.id)


def _touch(ctx: Context, model: str, machine: str) -> None:
    try:
        with ctx.write(model) as tx:
            wake.machine(tx, machine, "juju-exec")
    except StoreError:  # busy for a moment
        asyncio.get_running_loop().call_later(AGAIN_S, _touch, ctx, model, machine)
