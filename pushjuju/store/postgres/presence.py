"""Which processes live, as PostgreSQL knows it: each holds an advisory lock for as long as it is connected.

The server frees the lock when the process dies, and 25 seconds after its host or network is gone.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from pushjuju.store.postgres.pipeline import Pipeline

_KIND = 0x706A  # first number of the locks; the second number is of the process
_APPEAR = "SELECT pg_advisory_lock_shared((:kind)::int, (:number)::int)::text"
# After a start of the server, processes need some time to connect again.
_LIVING = """SELECT objid::bigint AS number FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 2 AND classid = (:kind)::oid AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
UNION ALL SELECT -1 WHERE now() - pg_postmaster_start_time() < interval '10 seconds'"""
# A controller process uses its connection each second.
_SEEN = """SELECT objid::bigint AS number, extract(epoch FROM max(state_change))::float8 AS moment
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND objsubid = 2 AND classid = (:kind)::oid AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
GROUP BY objid"""
_REMEMBERED_S = 1.0
_CONNECTING_S = 6.0  # seconds in which other processes connect again, after a loss of the connection


class Presence:
    """The lock of this process, and what it knows of the locks of others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._owner = ""
        self._living: frozenset[int] = frozenset()
        self._looked = self._lost = float("-inf")

    def appear(self, connection: Pipeline, owner: str) -> None:
        """Take the lock of this process."""
        connection.execute(_APPEAR, {"kind": _KIND, "number": _number(owner)})
        connection.catch_up()
        self._owner = owner

    def appear_again(self, connection: Pipeline) -> None:
        """Take the lock again after a loss of the connection, if this process had appeared."""
        self._lost, self._looked = self._clock(), float("-inf")
        if self._owner:
            self.appear(connection, self._owner)

    def knows(self, owner: str) -> bool:
        """Return True when a look a moment ago found that a process lives."""
        return owner == self._owner or (
            self._clock() - self._looked < _REMEMBERED_S and _number(owner) % 2**32 in self._living
        )

    def look(self, connection: Pipeline, owner: str) -> bool | None:
        """Ask the server whether a process lives; None while processes may be connecting again."""
        rows = connection.execute(_LIVING, {"kind": _KIND}).fetchall()
        self._living, self._looked = frozenset(row[0] for row in rows), self._clock()
        if _number(owner) % 2**32 in self._living:
            return True
        waits = -1 in self._living or self._clock() - self._lost < _CONNECTING_S
        return None if waits else False

    def seen(self, connection: Pipeline, owners: Iterable[str]) -> Mapping[str, datetime]:
        """Return when the server last heard of processes, of those that are connected."""
        rows = connection.execute(_SEEN, {"kind": _KIND}).fetchall()
        moments = {row["number"]: row["moment"] for row in rows if row["moment"] is not None}
        found = {owner: moments.get(_number(owner) % 2**32) for owner in owners}
        return {owner: datetime.fromtimestamp(at, UTC) for owner, at in found.items() if at is not None}


def _number(owner: str) -> int:
    """Return the number of a process as PostgreSQL takes it, with a sign."""
    return int.from_bytes(hashlib.sha256(owner.encode()).digest()[:4], "big", signed=True)
