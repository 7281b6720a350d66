"""The durable work queue: "look again at this key". Layer: state.

A touch never carries what to do, only where to look; the worker decides from a fresh snapshot. One key is
worked by one worker at a time: a claim is a lease with a heartbeat, and the lease of a dead process is free.
`WorkQueue` is the seam for a distributed job engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from sqlite3 import Row
from typing import Protocol

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.state.store import Store, Tx

LEASE_S = 30.0  # a claim that is not renewed for this long is free for others
HEARTBEAT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A key that this owner may work on until the lease ends."""

    key: str
    owner: str
    generation: int
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """A row of the queue as people see it; `due` None: nothing planned."""

    key: str
    due: datetime | None
    owner: str | None
    attempts: int
    reason: str


class WorkQueue(Protocol):
    """Where work waits: touch, claim, heartbeat, finish."""

    def touch(self, tx: Tx, key: str, due: datetime, reason: str = "") -> None:
        """Make a key due; an earlier due time stays."""
        ...

    def claim(self, prefix: str, now: datetime) -> Claim | None:
        """Take the key that is due the longest, if any is free."""
        ...

    def heartbeat(self, claim: Claim, now: datetime) -> bool:
        """Renew a lease; False: it was lost."""
        ...

    def finish(
        self, claim: Claim, now: datetime, due: datetime | None, *, attempts: int = 0, reason: str = ""
    ) -> None:
        """Give a key back, due again at `due` (None: when touched)."""
        ...


def machine_key(model: str, machine: str) -> str:
    """Return the key of a machine's lane."""
    return f"{model}/machine/{machine}"


def model_key(model: str, loop: str) -> str:
    """Return the key of one of a model's loops."""
    return f"{model}/loop/{loop}"


def touch(tx: Tx, key: str, due: datetime, reason: str = "") -> None:
    """Make a key due inside the caller's transaction; an earlier due time stays."""
    tx.run("work_touch", key=key, due=to_iso(due), reason=reason)


def process_owner() -> str:
    """Return the name of this process: host, pid and start time, so that a reused pid is told apart."""
    return f"{os.uname().nodename}:{os.getpid()}:{_started(os.getpid())}"


def owner_alive(owner: str) -> bool:
    """Tell whether the process of a claim may still live; unknown hosts count as alive."""
    host, _, rest = owner.rpartition(":")
    host, _, pid = host.rpartition(":")
    if host != os.uname().nodename or not pid.isdigit():
        return True
    return _started(int(pid)) == rest


def _started(pid: int) -> str:
    """Return when a process started, in ticks; empty when it is gone, or dead and not yet buried."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if len(fields) < 20 or fields[0] in "ZX" else fields[19]


class SqliteWorkQueue:
    """The queue in the store itself."""

    def __init__(self, store: Store, owner: str, alive: Callable[[str], bool] = owner_alive) -> None:
        self._store = store
        self._owner = owner
        self._alive = alive

    def touch(self, tx: Tx, key: str, due: datetime, reason: str = "") -> None:
        """Make a key due; an earlier due time stays."""
        touch(tx, key, due, reason)

    def claim(self, prefix: str, now: datetime) -> Claim | None:
        """Take the key that is due the longest, if any is free."""
        with self._store.read() as tx:
            if not any(
                self._free(row["owner"], row["leased_until"], now) for row in self._due(tx, prefix, now)
            ):
                return None
        with self._store.write() as tx:
            for row in self._due(tx, prefix, now):
                if self._free(row["owner"], row["leased_until"], now):
                    return self._take(tx, row, now)
        return None

    def _due(self, tx: Tx, prefix: str, now: datetime) -> list[Row]:
        return tx.rows("work_due", prefix=prefix, now=to_iso(now))

    def _free(self, owner: str | None, leased_until: str | None, now: datetime) -> bool:
        if owner is None or leased_until is None:
            return True
        if owner == self._owner:
            return False
        return from_iso(leased_until) <= now or not self._alive(owner)

    def _take(self, tx: Tx, row: Row, now: datetime) -> Claim:
        tx.run(
            "work_claim",
            key=row["key"],
            owner=self._owner,
            previous=row["owner"],
            generation=row["generation"],
            leased_until=to_iso(now + timedelta(seconds=LEASE_S)),
        )
        return Claim(
            key=row["key"],
            owner=self._owner,
            generation=row["generation"],
            attempts=row["attempts"],
            reason=row["reason"],
        )

    def heartbeat(self, claim: Claim, now: datetime) -> bool:
        """Renew a lease; False: it was lost."""
        with self._store.write() as tx:
            until = to_iso(now + timedelta(seconds=LEASE_S))
            return bool(tx.run("work_heartbeat", key=claim.key, owner=claim.owner, leased_until=until))

    def finish(
        self, claim: Claim, now: datetime, due: datetime | None, *, attempts: int = 0, reason: str = ""
    ) -> None:
        """Give a key back, due again at `due` (None: when touched)."""
        with self._store.write() as tx:
            tx.run(
                "work_finish",
                key=claim.key,
                owner=claim.owner,
                generation=claim.generation,
                now=to_iso(now),
                due=to_iso(due) if due else None,
                attempts=attempts,
                reason=reason,
            )

    def items(self, prefix: str) -> list[WorkItem]:
        """Return what the queue holds below a prefix."""
        with self._store.read() as tx:
            return [
                WorkItem(
                    key=row["key"],
                    due=from_iso(row["due"]) if row["due"] else None,
                    owner=row["owner"],
                    attempts=row["attempts"],
                    reason=row["reason"],
                )
                for row in tx.rows("work_list", prefix=prefix)
            ]
