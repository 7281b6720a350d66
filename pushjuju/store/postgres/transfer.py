"""Copies a store from PostgreSQL into a file, and from a file into PostgreSQL: for plans, copies and moves.

Both directions copy every row of one moment. So one format, the file, serves for all copies.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pushjuju.core.errors import NotValid, StoreError
from pushjuju.store.postgres import address, schema
from pushjuju.store.schema import migrate, schema_version

OF_HOSTS = (
    "blob",
    "blob_chunk",
    "host_key",
    "vault",
)  # files beside a store in a file: they go their own way
_LAST = "change"  # the triggers of other tables write it
_ROWS_AT_ONCE = 1000


def to_file(place: address.Place, path: Path, *, compare: bool = False) -> None:
    """Write the rows of a store into a file without tables.

    Args:
        compare: Compare all rows with the rows that were written.

    Raises:
        StoreError: The server does not answer, the store was made by another release, or the rows differ.
    """
    with _opened(place) as link, closing(sqlite3.connect(path, isolation_level=None)) as file:
        migrate(file, path)
        file.execute("PRAGMA foreign_keys = OFF")
        file.execute("BEGIN")
        with link.transaction():
            link.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for table, columns in _tables(file):
                _read(link, file, table, columns)
                if compare:
                    _require_same(link, file, table, columns)
        file.execute("COMMIT")
        file.execute("PRAGMA journal_mode = DELETE")


def _read(
    link: psycopg.Connection[Any], file: sqlite3.Connection, table: str, columns: Sequence[str]
) -> None:
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    file.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of the schema
    rows = _rows(link, table, columns)
    file.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608


def _rows(link: psycopg.Connection[Any], table: str, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    with link.cursor(f"of_{table}") as cursor:
        cursor.itersize = _ROWS_AT_ONCE
        yield from cursor.execute(sql.SQL("SELECT {} FROM {}").format(_named(columns), sql.Identifier(table)))


def from_file(path: Path, place: address.Place, *, name: str = address.SCHEMA, compare: bool = False) -> None:
    """Replace all rows of a store by those of a file, in one transaction.

    Args:
        compare: Compare all rows with the rows that were written.

    Raises:
        NotValid: The file was made by another release.
        StoreError: The server does not answer, or the rows differ.
    """
    with (
        _opened(place, name) as link,
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file,
    ):
        if schema_version(file) != schema.newest():
            raise NotValid(f"the store {path} has the schema of another release")
        tables = list(_tables(file))
        with link.transaction():
            for table, _ in reversed(tables):
                link.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
            for table, columns in tables:
                if table == _LAST:
                    link.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
                _write(link, file, table, columns)
            _number_on(link)
            for table, columns in tables if compare else ():
                _require_same(link, file, table, columns)


def forget(place: address.Place) -> None:
    """Delete the schema of a store with all that is in it."""
    with _opened(place) as link:
        link.execute(f"DROP SCHEMA {address.SCHEMA} CASCADE")


def _write(
    link: psycopg.Connection[Any], file: sqlite3.Connection, table: str, columns: Sequence[str]
) -> None:
    asked = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), _named(columns))
    with link.cursor() as cursor, cursor.copy(asked) as copy:
        for row in file.execute(f"SELECT {', '.join(columns)} FROM {table}"):  # noqa: S608
            copy.write_row([_text(value) for value in row])


def _require_same(
    link: psycopg.Connection[Any], file: sqlite3.Connection, table: str, columns: Sequence[str]
) -> None:
    """Compare the rows of a table on both sides, in any order."""
    here = _digest(file.execute(f"SELECT {', '.join(columns)} FROM {table}"))  # noqa: S608
    there = _digest(_rows(link, table, columns))
    if here != there:
        raise StoreError(f"the copy differs from the store in table {table}: {here[0]} and {there[0]} rows")


def _digest(rows: Iterable[Sequence[Any]]) -> tuple[int, int]:
    """Return the number of rows, and a digest that does not depend on their order."""
    count = total = 0
    for row in rows:
        said = repr([_text(value) for value in row]).encode()
        count, total = count + 1, total + int.from_bytes(hashlib.sha256(said).digest())
    return count, total


def _text(value: Any) -> Any:
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value


def _number_on(link: psycopg.Connection[Any]) -> None:
    """Let the numbers of new rows begin after those of the rows that are there."""
    asked = (
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = current_schema AND is_identity = 'YES' AND table_name <> 'written'"
    )
    set_next = "SELECT setval(pg_get_serial_sequence({}, {}), coalesce(max({}), 0) + 1, false) FROM {}"
    for table, column in link.execute(asked).fetchall():
        names = sql.Literal(table), sql.Literal(column), sql.Identifier(column), sql.Identifier(table)
        link.execute(sql.SQL(set_next).format(*names))


def _named(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _tables(file: sqlite3.Connection) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the tables with their columns, each after those that it refers to, and `change` last."""
    names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    ours = [name for name in names if not name.startswith("sqlite_") and name not in (_LAST, *OF_HOSTS)]
    graph = {
        name: {row[2] for row in file.execute(f"PRAGMA foreign_key_list({name})")} - {name} for name in ours
    }
    for name in (*TopologicalSorter(graph).static_order(), _LAST):
        yield name, [row[1] for row in file.execute(f"PRAGMA table_info({name})")]


@contextmanager
def _opened(place: address.Place, name: str = address.SCHEMA) -> Iterator[psycopg.Connection[Any]]:
    """Connect to the store for a while.

    Raises:
        StoreError: The server does not answer or failed.
    """
    with address.linked(place) as link:
        lock = address.LOCK if name == address.SCHEMA else 0
        schema.prepare(link, place.shown, create=False, name=name, lock=lock)
        yield link
