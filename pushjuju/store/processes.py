"""The controller processes that take what becomes due.

The lease of a key names the process that works on it. A process that waits for due work holds no lease, so it
has a row of its own; the row counts as long as the process lives.
"""

from __future__ import annotations

import os
from datetime import datetime

from pushjuju.core.values import dataclass
from pushjuju.store.queue import owner_alive, place_of, process_owner
from pushjuju.store.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A controller process.

    Attributes:
        owner: Host, pid and start, as the leases name the process.
        draining: True when the process has been asked to give back its keys and to end.
    """

    owner: str
    version: str
    started: datetime
    draining: bool


def enlist(tx: Tx, now: datetime, version: str) -> None:
    """Add the row of this process, and delete the rows of processes that have ended."""
    for process in tx.list(Process, "process_list"):
        if not _lives(process):
            tx.run("process_forget", owner=process.owner)
    tx.run("process_enlist", owner=process_owner(), version=version, started=now)


def living(tx: Tx) -> list[Process]:
    """Return the controller processes that have not ended."""
    return [process for process in tx.list(Process, "process_list") if _lives(process)]


def _lives(process: Process) -> bool:
    """Return True for a living process of this computer; a restored store names those of another computer."""
    return place_of(process.owner)[0] == os.uname().nodename and owner_alive(process.owner)


def waiting(tx: Tx) -> str:
    """Return the name of a process that does the work that becomes due, or ""."""
    return next((process.owner for process in living(tx) if not process.draining), "")


def drains(tx: Tx) -> bool:
    """Return True when this process has been asked to end."""
    found = tx.find(Process, "process_get", owner=process_owner())
    return found is not None and found.draining
