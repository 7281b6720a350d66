"""A session with the server of a store: connected, with the schema up to date and the limits of time set.

Also what the server says of itself: which settings let it lose commits, or soon refuse connections.
"""

from __future__ import annotations

from typing import Any

import psycopg

from pushjuju.core.errors import StoreError
from pushjuju.core.values import dataclass
from pushjuju.store.postgres import address, schema
from pushjuju.store.postgres.pipeline import Pipeline

_LIMITS = {
    "lock_timeout": "30s",
    "statement_timeout": "30s",
    "idle_in_transaction_session_timeout": "20s",  # a stopped process keeps no lock beyond its leases
    "client_min_messages": "warning",
    # The server frees the locks of a host that is gone after 25 seconds, before its leases end.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
_MOMENT = "extract(epoch FROM clock_timestamp())::float8"
# The server, and its timeline: a standby begins a new timeline when it takes over. Also the database and the
# schema: a copy of an earlier moment that is restored on the same server has other numbers.
_LINE = """(SELECT system_identifier::text FROM pg_control_system())
  || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
  || '/' || to_regnamespace('pushjuju')::oid"""

_HOLDERS = """SELECT DISTINCT application_name FROM pg_stat_activity
WHERE pid = ANY(pg_blocking_pids(%s)) ORDER BY application_name"""
# `pg_stat_replication` hides from most roles which standbys are synchronous, but not that there are standbys.
_ASKED = """SELECT current_setting('fsync') = 'off' AS forgets,
  current_setting('full_page_writes') = 'off' AS tears,
  current_setting('synchronous_standby_names') = ''
    AND EXISTS (SELECT 1 FROM pg_stat_replication) AS lags"""
# `pg_stat_activity` hides most of other roles' connections, but not their number.
_FREE = """SELECT least(
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0) - count(*),
  CASE WHEN rolconnlimit >= 0 THEN rolconnlimit - count(*) FILTER (WHERE usename = rolname) END) AS free
FROM pg_stat_activity, pg_roles WHERE datid IS NOT NULL AND rolname = current_user
GROUP BY rolconnlimit"""
_STANDBY = """SELECT current_setting('synchronous_standby_names') <> '' AS waits,
  EXISTS (SELECT 1 FROM pg_stat_replication) AS there"""
_FEW = 10  # connections; a controller process has two or three, a command one
_TEXTS = {
    "forgets": "loses commits when its power fails: fsync is off",
    "tears": "may be damaged when its power fails: full_page_writes is off",
    "lags": "has no synchronous standby (synchronous_standby_names): a standby may lack the last commits",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A connection on which statements of the store can run."""

    link: psycopg.Connection[Any]
    moment: float  # the time of the server when it answered, in seconds since 1970
    line: str  # the history of writes that the database is on; see `store.engine.Engine`


def begun(place: address.Place, *, create: bool = False) -> Session:
    """Connect to a store, and bring its schema up to date; after an error no connection is left open.

    Args:
        create: Make the schema in an empty database.

    Raises:
        StoreError: The server, the role or the database cannot be used.
    """
    link = address.connected(place)
    try:
        schema.prepare(link, place.shown, create=create, lock=address.LOCK)
        return _limited(link)
    except psycopg.Error as error:
        link.close()
        raise address.refused(error, place) from error
    except BaseException:
        link.close()
        raise


def holder(place: address.Place, pid: int) -> str:
    """Return the process that a session waits for, as `process 123 on host`, or "" when it waits for none.

    Args:
        pid: The number of the session's process on the server.
    """
    try:
        with address.linked(place) as link:
            names = [row[0] for row in link.execute(_HOLDERS, [pid])]
    except StoreError:  # the wait goes on in any case
        return ""
    return " and ".join(_named(name) for name in names)


def _named(application: str) -> str:
    own, word, process = application.partition(f"{address.PROGRAM} ")
    return f"process {process}" if word and not own else f"another program ({application})"


def _limited(link: psycopg.Connection[Any]) -> Session:
    values = [text for pair in _LIMITS.items() for text in pair]
    calls = ", ".join([_MOMENT, _LINE, *["set_config(%s, %s, false)"] * len(_LIMITS)])
    row = link.execute(f"SELECT {calls}", values).fetchone()
    assert row is not None, "one row of constants"
    return Session(link=link, moment=row[0], line=str(row[1]))


def doubts(connection: Pipeline, place: str) -> list[str]:
    """Return a sentence for each such setting of the server.

    Args:
        place: The store as users know it.
    """
    row = connection.execute(_ASKED).fetchone()
    found = [text for name, text in _TEXTS.items() if row[name]]
    if (free := connection.execute(_FREE).fetchone()["free"]) < _FEW:
        found.append(f"has {free} free connections: raise max_connections or the role's CONNECTION LIMIT")
    return [f"the server of the store {place} {text}" for text in found]


def standby(connection: Pipeline) -> bool | None:
    """Return whether commits wait for a standby server; None when there is no standby."""
    row = connection.execute(_STANDBY).fetchone()
    return bool(row["waits"]) if row["there"] or row["waits"] else None
