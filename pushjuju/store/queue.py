"""The durable work queue. A key in the queue means "read this machine or model again".

A wake never says what to do, only what to read; the worker decides from a fresh snapshot. Only one worker
works on a key at a time: a claim is a lease with a heartbeat, and the lease of a dead process is free at
once. Each claim has its own number, so that a worker that lost its lease without noticing cannot write
(`leases.py`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.problems import Problem, dumps, loads, sentence
from pushjuju.core.values import dataclass
from pushjuju.store.db import Store
from pushjuju.store.engine import Row
from pushjuju.store.processes import CAUSE, TRACE, Lives
from pushjuju.store.tx import Tx

LEASE_S = 30.0  # seconds after which a claim that is not renewed is free for others
HEARTBEAT_S = 10.0
STEAL_AFTER = timedelta(seconds=0.1)  # a key is left so long to the process that works most on its model
_ALL = 1_000_000
_LOOK_AT = 8  # least number of rows that are read from the queue
ROUTINE = "update-status"  # reason of a machine that is due only for update-status
_CONTROLLER = ""  # scope of numbers that belong to no model
_CLOCK = "clock"  # sequence with the time of the latest claim, in ms

Resting = Mapping[str, int]  # keys that are not claimed until they wake -> generation when they came to rest
_NOTHING: Resting = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A key that this process may work until the lease ends."""

    key: str
    owner: str
    # number of the claim; later claims of the key have higher numbers (see `LeasedStore`). previous, former:
    # Number and dead owner ("" for none) of the claim before.
    lease: int
    generation: int
    attempts: int
    reason: str
    previous: int = 0
    due: str = ""
    former: str = ""
    # True when the lease of the former owner had ended. trace, cause: The span (`traceparent`) and the
    # newest request that asked for the work, or "".
    ended: bool = False
    trace: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """A row of the queue as users see it."""

    key: str
    due: datetime | None  # when a worker must work on the key, or None to wait until the key is woken
    owner: str | None  # the process with the lease, which may have died
    attempts: int
    noted: str  # why the key waits, or as JSON the problems of the work that failed
    failed: bool  # True when the last work on the key failed
    leased_until: datetime | None  # when the lease ends unless it is renewed

    @property
    def reason(self) -> str:
        """Why the key waits, as users read it."""
        return "" if self.noted == ROUTINE else _reason(self.noted, failed=self.failed)

    def worked_by(self, now: datetime, lives: Lives) -> str:
        """Return the process that works on the key, or "" when the owner is dead or its lease has ended."""
        if self.owner is None or self.leased_until is None or self.leased_until <= now:
            return ""
        return "" if lives(self.owner) is False else self.owner


def machine_key(model: str, machine: str) -> str:
    """Return the key of a machine's worker."""
    return f"{model}/machine/{machine}"


def model_key(model: str, loop: str) -> str:
    return f"{model}/loop/{loop}"


def model_of(key: str) -> str:
    """Return the model of a machine's worker or of a loop."""
    return key.partition("/")[0]


def touch(tx: Tx, key: str, due: datetime, reason: str = "") -> None:
    """Make a key due in the caller's transaction; an earlier due time stays."""
    tx.run("work_touch", key=key, due=due, reason=reason, trace=TRACE.get(), cause=CAUSE.get())


def touch_routine(tx: Tx, key: str, due: datetime) -> None:
    """Make the key of a machine due for update-status; a request that waits stays the reason."""
    tx.run("work_touch_routine", key=key, due=due, routine=ROUTINE, trace=TRACE.get(), cause=CAUSE.get())


def lease_at_least(now: datetime) -> int:
    """Return the least lease number at a time, so that a restored store does not reuse numbers."""
    return int(now.timestamp() * 1000)


def skip_leases(tx: Tx, at_least: int, count: int = 1) -> int:
    """Return the first of `count` new lease numbers, at least `at_least`."""
    return tx.next(_CONTROLLER, "lease", at_least, count)


def next_lease(tx: Tx) -> int:
    """Return a number below which all claims so far are; later claims have this number or a higher one."""
    return int(tx.scalar("sequence_get", scope=_CONTROLLER, name="lease") or 0)


def latest_moment(tx: Tx) -> datetime | None:
    """Return the time of the latest claim of any process since `clock_is_right`, or None."""
    latest = tx.scalar("sequence_get", scope=_CONTROLLER, name=_CLOCK)
    return None if latest is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(latest))


def clock_is_right(tx: Tx, now: datetime) -> None:
    """Forget recorded times after `now`: the clock was wrong when they were recorded."""
    tx.run("sequence_forget", scope=_CONTROLLER, name=_CLOCK)
    tx.run("sequence_set", scope=_CONTROLLER, name=_CLOCK, number=lease_at_least(now))


def failed_since(tx: Tx, prefix: str, since: int) -> dict[str, tuple[Problem, ...]]:
    """Return the keys whose last work failed -> the problems.

    Args:
        since: The lowest claim number to include.
    """
    rows = tx.rows("work_failed", prefix=prefix, since=since)
    return {row["key"]: loads(row["reason"]) for row in rows}


def _reason(noted: str, *, failed: bool) -> str:
    return sentence(loads(noted)) if failed else noted


def _pools(rows: Iterable[Row]) -> dict[str, str]:
    return {row["model"]: str(json.loads(row["value"])) for row in rows}


class WorkQueue:
    """The work queue in the store.

    Args:
        pools: The pools whose models this process works besides models of no pool; None for all models.
    """

    def __init__(
        self, store: Store, owner: str, lives: Lives | None = None, pools: Collection[str] | None = None
    ) -> None:
        self._store = store
        self._pools = pools
        self._owner = owner
        self._lives = lives or store.lives

    def touch(self, tx: Tx, key: str, due: datetime, reason: str = "") -> None:
        """Make a key due; an earlier due time stays."""
        touch(tx, key, due, reason)

    def claim(self, prefix: str, now: datetime, busy: Collection[str] = ()) -> Claim | None:
        """Claim the key that has been due longest, if any is free; `busy` is that of `claim_some`."""
        return next(iter(self.claim_some(prefix, now, 1, busy=busy)), None)

    def claim_some(
        self,
        prefix: str,
        now: datetime,
        most: int,
        *,
        busy: Collection[str] = (),
        left: Resting = _NOTHING,
        later: bool = False,
    ) -> list[Claim]:
        """Claim several keys in one transaction, those first that have been due longest.

        Args:
            most: The largest number of claims.
            busy: Keys that this process still works, with or without a lease.
            left: Keys that are not claimed until they wake.
            later: True when the claims may become durable with the next shared commit, before which no other
                process sees them.
        """
        with self._store.read(model_of(prefix)) as tx:
            found = self._next(tx, prefix, now, most, busy, left)
        claims: list[Claim] = []
        for begin, wanted in self._shares(prefix, found, most).items():
            with self._store.write(model_of(begin), later=later) as tx:
                claims += self._take(tx, self._next(tx, begin, now, wanted, busy, left), now)
        return claims

    def _shares(self, prefix: str, found: Sequence[Row], most: int) -> Mapping[str, int]:
        """Return how many keys to claim in a transaction each: beginning of the keys -> most.

        On an engine with a lock for each model, a claim needs the lock of its model only.
        """
        if not self._store.engine.locks_models:
            return {prefix: most} if found else {}
        models = Counter(model_of(row["key"]) for row in found)
        return {max(prefix, f"{model}/", key=len): wanted for model, wanted in models.items()}

    def anything_due(self, prefix: str, now: datetime) -> bool:
        """Return True when a key is due that this process could work, whether claimed or not."""
        with self._store.read(model_of(prefix)) as tx:
            if not (elsewhere := self._elsewhere(tx)):
                return tx.row("work_any_due", prefix=prefix, now=now) is not None
            due = tx.rows("work_due", prefix=prefix, now=now, owner="", most=_ALL)
            return any(model_of(row["key"]) not in elsewhere for row in due)

    def anything_asked(
        self, prefix: str, now: datetime, since: datetime, left: Resting, *, routine: bool = False
    ) -> bool:
        """Return True when requested work is due: not update-status, nor work with a due time after `since`.

        The row of a woken machine has a reason; a machine that is due only by its time has an empty reason.

        Args:
            left: Keys that do not count until they wake.
            routine: True to count update-status hooks that were due at `since`, too.
        """
        asked = {"prefix": prefix, "now": now, "since": since, "owner": self._owner}
        with self._store.read(model_of(prefix)) as tx:
            rows = tx.rows("work_asked", **asked, routine=ROUTINE, routine_since=since if routine else "")
            return any(left.get(row["key"]) != row["generation"] for row in rows)

    def anything_free(self, prefix: str, now: datetime, busy: Collection[str], left: Resting) -> bool:
        """Return True when a key is due and free."""
        with self._store.read(model_of(prefix)) as tx:
            return bool(self._next(tx, prefix, now, 1, busy, left))

    def _next(
        self, tx: Tx, prefix: str, now: datetime, most: int, busy: Collection[str], left: Resting
    ) -> list[Row]:
        """Return the rows of the next free keys; read only the beginning of a long queue."""
        asked, read = {"prefix": prefix, "now": now, "owner": self._owner}, 2 * most + _LOOK_AT
        elsewhere = self._elsewhere(tx)
        while True:
            due = tx.rows("work_due", **asked, most=read)
            held = [row for row in due if not self._free(row["owner"], row["leased_until"], now)]
            passed = {*busy, *(row["key"] for row in held)}
            theirs, late = self._worked_more_elsewhere(held, busy), to_iso(now - STEAL_AFTER)
            found = [
                row
                for row in due
                if row["key"] not in passed
                and left.get(row["key"]) != row["generation"]
                and (model := model_of(row["key"])) not in elsewhere
                and (model not in theirs or row["due"] <= late)
            ]
            if len(found) >= most or len(due) < read:
                return found[:most]
            read *= 4

    def _worked_more_elsewhere(self, held: Iterable[Row], busy: Iterable[str]) -> Collection[str]:
        """Return the models of which another process works on more keys than this process.

        Such a process has the model in its memory, and connections with the machines, so the other keys of
        the model are left to it for STEAL_AFTER.

        Args:
            held: The keys that other processes hold; a held key stays due, and is among the first.
        """
        others = Counter((model_of(row["key"]), row["owner"]) for row in held)
        ours = Counter(map(model_of, busy)) if others else {}
        return {
            model for (model, owner), number in others.items()
            if (number, owner) > (ours.get(model, 0), self._owner)
        }  # fmt: skip

    def _elsewhere(self, tx: Tx) -> Collection[str]:
        """Return the models that only other processes work."""
        if self._pools is None:
            return ()
        pools = tx.made(_pools, "models_of_pools")
        return {model for model, pool in pools.items() if pool and pool not in self._pools}

    def _free(self, owner: str | None, leased_until: str | None, now: datetime) -> bool:
        if owner is None or leased_until is None or from_iso(leased_until) <= now:
            return True
        return owner != self._owner and self._lives(owner) is False

    def _take(self, tx: Tx, rows: Sequence[Row], now: datetime) -> list[Claim]:
        if not rows:
            return []
        first = skip_leases(tx, lease_at_least(now), len(rows))
        tx.run("sequence_raise", scope=_CONTROLLER, name=_CLOCK, number=lease_at_least(now))
        return [self._claimed(tx, row, lease, now) for lease, row in enumerate(rows, first)]

    def _claimed(self, tx: Tx, row: Row, lease: int, now: datetime) -> Claim:
        tx.run(
            "work_claim",
            key=row["key"],
            lease=lease,
            owner=self._owner,
            previous=row["owner"],
            generation=row["generation"],
            leased_until=now + timedelta(seconds=LEASE_S),
            routine=ROUTINE,
        )
        return Claim(
            key=row["key"],
            owner=self._owner,
            lease=lease,
            generation=row["generation"],
            attempts=row["attempts"],
            reason=_reason(row["reason"], failed=row["failed"]),
            previous=row["lease"],
            due=row["due"],
            former=row["owner"] or "",
            ended=row["leased_until"] is not None and from_iso(row["leased_until"]) <= now,
            trace=row["trace"],
            cause=row["cause"],
        )

    def heartbeat(self, claim: Claim, now: datetime, *, later: bool = False) -> bool:
        """Renew a lease, durable `later` as in `finish`; return False when the lease is lost."""
        with self._store.write(model_of(claim.key), later=later) as tx:
            until = now + timedelta(seconds=LEASE_S)
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
        """Give a key back; it is due at `due`, or when it is woken if `due` is None.

        Args:
            reason: What the worker waits for.
            problems: The failures of the work, stored instead of the reason.
            later: True when the write may wait for the next shared commit; until then other processes see the
                key as claimed.
        """
        with self._store.write(model_of(claim.key), later=later) as tx:
            tx.run(
                "work_finish",
                key=claim.key,
                lease=claim.lease,
                generation=claim.generation,
                now=now,
                due=due,
                attempts=attempts,
                reason=dumps(problems) if problems else reason,
                failed=bool(problems),
            )
            tx.forget("work_holds", key=claim.key, lease=claim.lease)

    def give_back(self, now: datetime, busy: Collection[str]) -> None:
        """Make the keys due that this process holds in the store, except the keys that it works (`busy`).

        It does not know of them: the commit of a claim was not answered, or that of its end was lost.
        """
        with self._store.read() as tx:
            rows = [row for row in tx.rows("work_held", owner=self._owner) if row["key"] not in busy]
        for row in rows:  # no key has the generation -1
            same = {name: row[name] for name in ("key", "lease", "attempts", "failed")}
            with self._store.write(model_of(row["key"])) as tx:
                tx.run("work_finish", **same, generation=-1, now=now, due=now, reason="")

    def items(self, prefix: str) -> list[WorkItem]:
        """Return the items of the queue whose keys begin with a prefix."""
        with self._store.read(model_of(prefix)) as tx:
            return tx.list(WorkItem, "work_list", prefix=prefix)
