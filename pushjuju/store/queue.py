"""The durable work queue: "look again at this key".

A wake never says what to do, only where to look; the worker decides from a fresh snapshot. One worker at a
time works a key: a claim is a lease with a heartbeat, and the lease of a dead process is free. Each claim has
its own number, so that a worker that lost its lease without noticing cannot write (`leases.py`).
`WorkQueue` is the seam for a distributed job engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Row
from typing import Protocol

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.problems import Problem, dumps, loads, sentence
from pushjuju.store.db import Store
from pushjuju.store.tx import Tx

LEASE_S = 30.0  # a claim that is not renewed for this long is free for others
HEARTBEAT_S = 10.0
_LOOK_AT = 8  # rows of the queue that are read at least
ROUTINE = "update-status"  # the reason of a machine on which nothing else is left to do
_CONTROLLER = ""  # scope of numbers that belong to no model
_CLOCK = "clock"  # the sequence that keeps the latest moment at which work was taken, in milliseconds


Resting = Mapping[str, int]
"""Keys that are left alone until they are touched again, with the generation at which they came to rest."""

_NOTHING: Resting = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A key that this owner may work on until the lease ends.

    Attributes:
        lease: Its number; a later claim of the same key has a higher one (see `LeasedStore`).
        previous: The number of the claim before.
    """

    key: str
    owner: str
    lease: int
    generation: int
    attempts: int
    reason: str
    previous: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """A row of the queue as users see it.

    Attributes:
        due: When a worker shall work the key, or None to wait until the key is woken.
        owner: The process that holds the lease, which may be dead already.
        leased_until: When the lease ends unless it is renewed.
        failed: True when the last worker could not do what the key asks for.
    """

    key: str
    due: datetime | None
    owner: str | None
    attempts: int
    reason: str
    failed: bool = False
    leased_until: datetime | None = None

    def worked_by(self, now: datetime) -> str:
        """Return the process that works it; empty when its owner is dead, or its lease is over."""
        if self.owner is None or self.leased_until is None or self.leased_until <= now:
            return ""
        return self.owner if owner_alive(self.owner) else ""


class WorkQueue(Protocol):
    """Where work waits: wake a key, claim it, renew the claim, finish."""

    def touch(self, tx: Tx, key: str, due: datetime, reason: str = "") -> None:
        """Make a key due; an earlier due time stays."""
        ...

    def claim(self, prefix: str, now: datetime, busy: Container[str] = ()) -> Claim | None:
        """Take the key that is due the longest, if any is free; never one of those that are `busy`."""
        ...

    def claim_some(
        self,
        prefix: str,
        now: datetime,
        most: int,
        *,
        busy: Container[str] = (),
        left: Resting = _NOTHING,
        later: bool = False,
    ) -> list[Claim]:
        """Take some keys at once, those first that are due the longest."""
        ...

    def anything_due(self, prefix: str, now: datetime) -> bool:
        """Return True when a key is due, whether a worker holds it or not."""
        ...

    def anything_asked(self, prefix: str, now: datetime, since: datetime, left: Resting) -> bool:
        """Return True when a key is due for a reason other than a due time that has come since a moment."""
        ...

    def heartbeat(self, claim: Claim, now: datetime) -> bool:
        """Renew a lease; return False when the lease was lost."""
        ...

    def finish(
        self,
        claim: Claim,
        now: datetime,
        due: datetime | None,
        *,
        attempts: int = 0,
        reason: str = "",
        problems: Sequence[Problem] = (),
    ) -> None:
        """Give a key back, due again at `due`, or when it is woken if `due` is None."""
        ...


def machine_key(model: str, machine: str) -> str:
    """Return the key of a machine's worker."""
    return f"{model}/machine/{machine}"


def model_key(model: str, loop: str) -> str:
    """Return the key of one of a model's loops."""
    return f"{model}/loop/{loop}"


def touch(tx: Tx, key: str, due: datetime, reason: str = "") -> None:
    """Make a key due inside the caller's transaction; an earlier due time stays."""
    tx.run("work_touch", key=key, due=to_iso(due), reason=reason)


def lease_at_least(now: datetime) -> int:
    """Return the least number of a lease of this moment: a store that was restored does not fall behind."""
    return int(now.timestamp() * 1000)


def skip_leases(tx: Tx, at_least: int) -> int:
    """Draw the next number of a lease, not below this number."""
    return tx.next(_CONTROLLER, "lease", at_least)


def next_lease(tx: Tx) -> int:
    """Return a number that no claim has yet; each claim from now on has it or a higher one."""
    return int(tx.scalar("sequence_get", scope=_CONTROLLER, name="lease") or 0)


def latest_moment(tx: Tx) -> datetime | None:
    """Return the latest moment at which any process took work since `clock_is_right`, or None."""
    latest = tx.scalar("sequence_get", scope=_CONTROLLER, name=_CLOCK)
    return None if latest is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(latest))


def clock_is_right(tx: Tx, now: datetime) -> None:
    """Forget the moments later than this moment: the clock was wrong when they were noted."""
    tx.run("sequence_forget", scope=_CONTROLLER, name=_CLOCK)
    tx.run("sequence_set", scope=_CONTROLLER, name=_CLOCK, number=lease_at_least(now))


def failed_since(tx: Tx, prefix: str, since: int) -> dict[str, tuple[Problem, ...]]:
    """Return the keys whose last work failed, each with what failed.

    Args:
        prefix: The beginning of the keys.
        since: The lowest number of a claim that counts.
    """
    rows = tx.rows("work_failed", prefix=prefix, since=since)
    return {row["key"]: loads(row["reason"]) for row in rows}


def _reason(row: Row) -> str:
    """Return why a key waits, as users read it."""
    return sentence(loads(row["reason"])) if row["failed"] else str(row["reason"])


def work_item(row: Row) -> WorkItem:
    """Return a row of `work_get`, `work_list` or `work_failing` as users see it."""
    reason = _reason(row)
    return WorkItem(
        key=row["key"],
        due=from_iso(row["due"]) if row["due"] else None,
        owner=row["owner"],
        attempts=row["attempts"],
        reason="" if reason == ROUTINE else reason,
        failed=bool(row["failed"]),
        leased_until=from_iso(row["leased_until"]) if row["leased_until"] else None,
    )


def process_owner() -> str:
    """Return the name of this process: host, pid and start time (a pid may be used again)."""
    return f"{os.uname().nodename}:{os.getpid()}:{_started(os.getpid())}"


def owner_alive(owner: str) -> bool:
    """Return True when the process of a claim may still run; a process on another host counts as running."""
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

    def claim(self, prefix: str, now: datetime, busy: Container[str] = ()) -> Claim | None:
        """Take the key that is due the longest, if any is free.

        Args:
            busy: Keys that this process still works on, with or without a lease.
        """
        found = self.claim_some(prefix, now, 1, busy=busy)
        return found[0] if found else None

    def claim_some(
        self,
        prefix: str,
        now: datetime,
        most: int,
        *,
        busy: Container[str] = (),
        left: Resting = _NOTHING,
        later: bool = False,
    ) -> list[Claim]:
        """Take some keys in one transaction, those first that are due the longest.

        Args:
            most: The greatest number of claims.
            busy: Keys that this process still works on, with or without a lease.
            left: Keys that are left alone until they are touched again.
            later: The claims may become durable with the next shared commit; no other process sees them
                before.
        """
        with self._store.read() as tx:
            if not self._next(tx, prefix, now, 1, busy, left):
                return []
        with self._store.write(later=later) as tx:
            return [self._take(tx, row, now) for row in self._next(tx, prefix, now, most, busy, left)]

    def anything_due(self, prefix: str, now: datetime) -> bool:
        """Return True when a key is due, whether a worker holds it or not."""
        with self._store.read() as tx:
            return tx.row("work_any_due", prefix=prefix, now=to_iso(now)) is not None

    def anything_asked(
        self, prefix: str, now: datetime, since: datetime, left: Resting, *, routine: bool = False
    ) -> bool:
        """Return True when a key is due, but for update-status and machines whose time came since a moment.

        A machine that was touched names a reason; one that came to rest and is due again later does not.

        Args:
            left: Keys that are left alone until they are touched again.
            routine: An update-status that was due at that moment counts as well.
        """
        asked = {"prefix": prefix, "now": to_iso(now), "since": to_iso(since), "owner": self._owner}
        with self._store.read() as tx:
            rows = tx.rows(
                "work_asked", **asked, routine=ROUTINE, routine_since=to_iso(since) if routine else ""
            )
            return any(left.get(row["key"]) != row["generation"] for row in rows)

    def anything_free(self, prefix: str, now: datetime, busy: Container[str], left: Resting) -> bool:
        """Return True when a key is due that no process works on."""
        with self._store.read() as tx:
            return bool(self._next(tx, prefix, now, 1, busy, left))

    def _next(
        self, tx: Tx, prefix: str, now: datetime, most: int, busy: Container[str], left: Resting
    ) -> list[Row]:
        """Return the rows of the next free keys; of a long queue only its beginning is read."""
        asked, read = {"prefix": prefix, "now": to_iso(now), "owner": self._owner}, 2 * most + _LOOK_AT
        while True:
            due = tx.rows("work_due", **asked, most=read)
            free = (
                row for row in due if row["key"] not in busy and left.get(row["key"]) != row["generation"]
            )
            found = [row for row in free if self._free(row["owner"], row["leased_until"], now)]
            if len(found) >= most or len(due) < read:
                return found[:most]
            read *= 4

    def _free(self, owner: str | None, leased_until: str | None, now: datetime) -> bool:
        if owner is None or leased_until is None or from_iso(leased_until) <= now:
            return True
        return owner != self._owner and not self._alive(owner)

    def _take(self, tx: Tx, row: Row, now: datetime) -> Claim:
        lease = skip_leases(tx, lease_at_least(now))
        tx.run("sequence_raise", scope=_CONTROLLER, name=_CLOCK, number=lease_at_least(now))
        tx.run(
            "work_claim",
            key=row["key"],
            lease=lease,
            owner=self._owner,
            previous=row["owner"],
            generation=row["generation"],
            leased_until=to_iso(now + timedelta(seconds=LEASE_S)),
            routine=ROUTINE,
        )
        return Claim(
            key=row["key"],
            owner=self._owner,
            lease=lease,
            generation=row["generation"],
            attempts=row["attempts"],
            reason=_reason(row),
            previous=row["lease"],
        )

    def heartbeat(self, claim: Claim, now: datetime) -> bool:
        """Renew a lease; return False when the lease was lost."""
        with self._store.write() as tx:
            until = to_iso(now + timedelta(seconds=LEASE_S))
            return bool(tx.run("work_heartbeat", key=claim.key, lease=claim.lease, leased_until=until))

    def finish(
        self,
        claim: Claim,
        now: datetime,
        due: datetime | None,
        *,
        attempts: int = 0,
        reason: str = "",
        problems: Sequence[Problem] = (),
        later: bool = False,
    ) -> None:
        """Give a key back, due again at `due`, or when it is woken if `due` is None.

        Args:
            reason: What the worker waits for.
            problems: Why the worker could not do what the key asks for, in place of a reason.
            later: True when the write may wait for the next shared commit; until then other processes see the
                key as held.
        """
        with self._store.write(later=later) as tx:
            tx.run(
                "work_finish",
                key=claim.key,
                lease=claim.lease,
                generation=claim.generation,
                now=to_iso(now),
                due=to_iso(due) if due else None,
                attempts=attempts,
                reason=dumps(problems) if problems else reason,
                failed=bool(problems),
            )

    def items(self, prefix: str) -> list[WorkItem]:
        """Return what the queue holds below a prefix."""
        with self._store.read() as tx:
            return [work_item(row) for row in tx.rows("work_list", prefix=prefix)]
