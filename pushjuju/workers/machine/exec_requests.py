"""Requests of `juju-exec` on attached machines.

A session has the requests that wait on its machine; the store has a request only after it was started.
"""

from __future__ import annotations

from collections.abc import Iterable

from pushjuju.runner.session import MachineSession
from pushjuju.store.rows.records import Machine, Operation
from pushjuju.uniter.requests import Refusal, Request, error_of, read_request
from pushjuju.workers.runtime import Runtime


def of_unit(session: MachineSession, unit: str) -> list[Request]:
    """Return the requests that wait for a unit, oldest first; refuse requests that cannot be read."""
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
    """Return True when an open session with a machine has waiting requests."""
    session = runtime.attached(machine)
    return session is not None and bool(session.requests)


def refuse(session: MachineSession, refused: Iterable[Refusal]) -> None:
    """Send the machine the errors of refused requests."""
    for item in refused:
        session.answer(item.request, item.error)


def tell_again(session: MachineSession, found: Operation | None) -> None:
    """Send the error of a request whose operation an earlier controller process committed."""
    refusal = error_of(found) if found is not None else None
    if refusal is not None:
        session.answer(refusal.request, refusal.error)
