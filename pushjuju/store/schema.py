"""Creates, migrates and checks the schema of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pushjuju.core.errors import StoreDamaged, StoreGone, StoreTooNew
from pushjuju.store.faults import FROM_COPY
from pushjuju.store.statements import migrations, newest_migration

MOVED = 1_000_000  # number of the schema of a file whose rows have moved to another place
TABLES = ("model", "application", "unit", "machine", "operation", "status", "sequence", "work")


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration applied; 0 for an empty store."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    newest, version = newest_migration(), schema_version(connection)
    require_here(connection, path, version)
    if version == newest:
        return
    if version > newest:
        raise StoreTooNew(
            f"the store {path} has schema {version}; this pushjuju knows up to {newest}",
            hint="upgrade pushjuju: pip install --upgrade pushjuju",
        )
    missing = [migration for migration in migrations() if migration[0] > version]
    steps = [[each] for each in missing] if version else [missing]  # a new store waits for the disk once
    for step in steps:
        _apply(connection, *step)


def require_here(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Check that the rows of a file have not moved to another place.

    Args:
        version: The number of the file's schema.

    Raises:
        StoreGone: They have moved.
    """
    if version != MOVED:
        return
    place = connection.execute("SELECT place FROM moved").fetchone()[0]
    raise StoreGone(
        f"the store {path} has moved to {place}",
        hint=f"run the command again; if the error stays, the move was interrupted: pushjuju controller move "
        f"--to '{place}' completes the move",
    )


def mark_moved(connection: sqlite3.Connection, place: str) -> None:
    """Mark in the open transaction that the rows of a file have moved to another place."""
    connection.execute("CREATE TABLE moved (place TEXT)")
    connection.execute("INSERT INTO moved VALUES (?)", [place])
    connection.execute(f"PRAGMA user_version = {MOVED:d}")


_STATE = """SELECT present.user_version, made.name FROM pragma_user_version AS present
LEFT JOIN sqlite_master AS made ON made.type = 'table'"""


def check_ours(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    """Check that a file is a store, before anything is written; SQLite itself detects a truncated file."""
    # one statement, since another process may be making the store
    found = connection.execute(_STATE).fetchall()
    version, names = int(found[0][0]), {row[1] for row in found} - {None}
    if create and not names and not version:
        return
    wanted = TABLES if version <= newest_migration() else TABLES[:1]  # a newer schema may have other tables
    missing = [f"no table {name}" for name in wanted if name not in names]
    if missing or not version:
        lacks = (missing or ["no schema number"])[0]
        raise StoreDamaged(f"the store {path} cannot be used: it has {lacks}", hint=FROM_COPY)


def _apply(connection: sqlite3.Connection, *wanted: tuple[int, str]) -> None:
    """Apply migrations in one transaction, without those for which another process was faster."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number, script in wanted:
            if schema_version(connection) < number:
                for statement in statements_of(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back already when the disk is full
            connection.execute("ROLLBACK")
        raise


def statements_of(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
