"""Which settings of a server let it lose commits that it has acknowledged."""

from __future__ import annotations

from pushjuju.store.postgres.pipeline import Pipeline

# `pg_stat_replication` hides from most roles which standbys are synchronous, but not that there are standbys.
_ASKED = """SELECT current_setting('fsync') = 'off' AS forgets,
  current_setting('full_page_writes') = 'off' AS tears,
  current_setting('synchronous_standby_names') = ''
    AND EXISTS (SELECT 1 FROM pg_stat_replication) AS lags"""
_STANDBY = """SELECT current_setting('synchronous_standby_names') <> '' AS waits,
  EXISTS (SELECT 1 FROM pg_stat_replication) AS there"""
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
    return [f"the server of the store {place} {text}" for name, text in _TEXTS.items() if row[name]]


def standby(connection: Pipeline) -> bool | None:
    """Return whether commits wait for a standby server; None when there is no standby."""
    row = connection.execute(_STANDBY).fetchone()
    return bool(row["waits"]) if row["there"] or row["waits"] else None
