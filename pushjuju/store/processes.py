"""The processes that own keys of the work queue, and the controller processes that take what becomes due.

The lease of a key names the process that works on it. A process that waits for due work holds no lease, so it
has a row of its own; the row counts as long as the process lives.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.core.values import dataclass

if TYPE_CHECKING:
    from pushjuju.store.tx import Tx

TRACE: ContextVar[str] = ContextVar("trace", default="")
"""The span that asks for what this process makes due, as `traceparent`; empty without traces."""

CAUSE: ContextVar[str] = ContextVar("cause", default="")
"""The request that asks for what is done now, as lines of the audit log have it; empty without a request."""

_EVERYWHERE = ("127.", "localhost:", "[::1]:")  # begin addresses of a host itself

Lives = Callable[[str], bool | None]
"""Tells of a process whether it lives; None when that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A controller process."""

    owner: str  # host, pid and start, as the leases name the process
    version: str
    started: datetime
    draining: bool  # True when the process has been asked to give back its keys and to end
    pools: str  # names of pools, separated by commas: the process works models of these pools and of no pool
    api: str  # addresses at which the process serves the API, HOST:PORT, separated by commas

    def works(self, pool: str) -> bool:
        """Return True when the process works models of a pool; "" is the pool of all other models."""
        return not pool or pool in self.pools.split(",")


def pool_here(data: Path) -> str:
    """Return the pool of what only processes with a data directory of this host can reach."""
    return f"{os.uname().nodename}:{data}"


def own_pools(data: Path, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the pools that this process works: those of its host and data directory, and more."""
    return frozenset((os.uname().nodename, pool_here(data), *more))


def enlist(
    tx: Tx, now: datetime, version: str, lives: Lives, pools: Iterable[str] = (), api: Iterable[str] = ()
) -> None:
    """Add the row of this process, and delete the rows of other computers, which a restored file has."""
    for process in tx.list(Process, "process_list"):
        if lives(process.owner) is None:
            tx.run("process_forget", owner=process.owner)
    names = ",".join(sorted(pools))
    tx.run(
        "process_enlist", owner=process_owner(), version=version, started=now, pools=names, api=",".join(api)
    )


def gone(tx: Tx, lives: Lives) -> list[str]:
    """Return the controller processes that are known to have died."""
    return [process.owner for process in tx.list(Process, "process_list") if lives(process.owner) is False]


def living(tx: Tx, lives: Lives) -> list[Process]:
    """Return the controller processes that live; a restored file names processes of another computer."""
    return [process for process in tx.list(Process, "process_list") if lives(process.owner)]


def waiting(tx: Tx, lives: Lives, pool: str = "") -> str:
    """Return the name of a process that does the work that becomes due in a pool, or ""."""
    found = (item.owner for item in living(tx, lives) if not item.draining and item.works(pool))
    return next(found, "")


def served(tx: Tx, lives: Lives) -> list[str]:
    """Return the addresses at which living processes serve the API, as HOST:PORT.

    Of other hosts, those are left out that every host has, such as 127.0.0.1.
    """
    here = os.uname().nodename
    return [
        word
        for item in living(tx, lives)
        for word in item.api.split(",")
        if word
        and not item.draining
        and (place_of(item.owner)[0] == here or not word.startswith(_EVERYWHERE))
    ]


def own(tx: Tx) -> Process | None:
    """Return the row of this process, or None when another process took it for dead."""
    return tx.find(Process, "process_get", owner=process_owner())


def process_owner() -> str:
    """Return the name of this process: host, pid, and start time, since pids are reused."""
    return f"{os.uname().nodename}:{os.getpid()}:{_started(os.getpid())}"


def place_of(owner: str) -> tuple[str, str]:
    """Return host and pid of a process."""
    host, _, pid = owner.rpartition(":")[0].rpartition(":")
    return host, pid


def lives_here(owner: str) -> bool | None:
    """Return whether a process of this computer lives; None for a process of another computer."""
    host, pid = place_of(owner)
    if host != os.uname().nodename or not pid.isdigit():
        return None
    return _started(int(pid)) == owner.rpartition(":")[2]


def _started(pid: int) -> str:
    """Return the start time of a process in clock ticks, or "" when it has ended or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if len(fields) < 20 or fields[0] in "ZX" else fields[19]
