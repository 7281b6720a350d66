"""Which settings of a server let it lose commits that it has acknowledged, or soon refuse connections."""

from __future__ import annotations

from pushjuju.store.postgres.pipeline import Pipeline

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
