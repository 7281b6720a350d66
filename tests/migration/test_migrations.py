"""A store that was migrated step by step equals a store made from scratch, and keeps its data.

New migrations are covered as they are added: every schema version there ever was is made, filled with a row
in every table, and brought up to date.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.store import db as store_module
from pushjuju.store import schema
from pushjuju.store.db import Store
from pushjuju.store.schema import _apply, schema_version
from pushjuju.store.statements import migrations
from tests.world.memory import MEMORY

NUMBERS = [number for number, _ in migrations()]
NEWEST = NUMBERS[-1]


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def make(path: Path, version: int) -> None:
    """Make a store as an older pushjuju left it: its schema, and a row in every table."""
    connection = connect(path)
    for number, script in migrations():
        if number <= version:
            _apply(connection, (number, script))
    for table in tables(connection):
        if not connection.execute(f"SELECT 1 FROM {table}").fetchone():  # triggers have filled some
            fill(connection, table)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    return sorted(row[0] for row in rows)


def fill(connection: sqlite3.Connection, table: str) -> None:
    """Insert one row; every key has the same value, so that references hold."""
    columns = [(row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({table})")]
    values = [1 if kind == "INTEGER" else "1" for _, kind in columns]
    names, marks = ", ".join(name for name, _ in columns), ", ".join("?" * len(columns))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)


def shape(connection: sqlite3.Connection) -> dict[str, Any]:
    """Describe a schema whatever the order and the way in which it came about."""
    return {table: table_shape(connection, table) for table in tables(connection)} | {
        row[0]: re.sub(r"\s+", " ", row[1])
        for row in connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('view', 'trigger')")
    }


def table_shape(connection: sqlite3.Connection, table: str) -> dict[str, Any]:
    indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
    return {
        "columns": sorted(row[1:] for row in connection.execute(f"PRAGMA table_info({table})")),
        "references": sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({table})")),
        "indexes": sorted(
            (
                "" if origin != "c" else name,
                unique,
                origin,
                tuple(row[2] for row in connection.execute(f"PRAGMA index_info({name})")),
            )
            for _, name, unique, origin, _ in indexes
        ),
        "checks": sorted(re.findall(r"CHECK\s*\(.*?\)", sql_of(connection, table))),
    }


def sql_of(connection: sqlite3.Connection, table: str) -> str:
    return str(connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", [table]).fetchone()[0])


def rows(connection: sqlite3.Connection) -> dict[str, int]:
    return {
        table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for table in tables(connection)
    }


def test_migrations_are_numbered_without_a_gap() -> None:
    assert list(range(1, NEWEST + 1)) == NUMBERS
    folder = Path(store_module.__file__).parent / "migrations"
    assert all(re.fullmatch(r"\d{4}_[a-z0-9_]+\.sql", path.name) for path in folder.iterdir())


@pytest.mark.parametrize("version", NUMBERS)
def test_a_migrated_store_equals_one_made_from_scratch(tmp_path: Path, version: int) -> None:
    make(tmp_path / "old.db", version)
    Store.open(tmp_path / "old.db").close()
    Store.open(tmp_path / "new.db", create=True).close()
    migrated, scratch = connect(tmp_path / "old.db"), connect(tmp_path / "new.db")
    assert shape(migrated) == shape(scratch)
    assert schema_version(migrated) == schema_version(scratch) == NEWEST
    migrated.close()
    scratch.close()


@pytest.mark.parametrize("version", NUMBERS)
def test_a_migration_keeps_the_rows(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    make(path, version)
    before = connect(path)
    had = rows(before)
    before.close()
    Store.open(path).close()
    after = connect(path)
    has = rows(after)
    assert {table: has[table] for table in had if table in has} == {
        table: had[table] for table in had if table in has
    }
    assert after.execute("PRAGMA foreign_key_check").fetchall() == []
    assert after.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    after.close()


def test_a_new_store_is_made_in_one_transaction() -> None:
    """Then it waits for the disk once, and no process finds a part of it."""
    said: list[str] = []
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.set_trace_callback(said.append)
    schema.migrate(connection, Path("state.db"))
    assert said.count("COMMIT") == 1
    assert schema_version(connection) == NEWEST
    connection.close()


def add(monkeypatch: pytest.MonkeyPatch, migration: tuple[int, str]) -> None:
    """Add a migration behind the newest."""
    monkeypatch.setattr(schema, "migrations", lambda: (*migrations(), migration))
    monkeypatch.setattr(schema, "newest_migration", lambda: migration[0])


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.db"
    make(path, NEWEST)
    before = connect(path)
    old_shape, old_rows = shape(before), rows(before)
    before.close()
    broken = (
        NEWEST + 1,
        "CREATE TABLE fine (a TEXT);\nDELETE FROM model_config;\nCREATE TABLE fine (a TEXT);\n",
    )
    add(monkeypatch, broken)
    with pytest.raises(store_module.StoreError, match="table fine already exists"):
        Store.open(path)
    after = connect(path)
    assert (shape(after), rows(after), schema_version(after)) == (old_shape, old_rows, NEWEST)
    after.close()


def test_a_later_migration_is_applied_once_and_only_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    make(path, NEWEST)
    added = "ALTER TABLE model ADD COLUMN note TEXT NOT NULL DEFAULT '';\n"
    script = f"{added}INSERT INTO sequence VALUES ('n', 'n', 1);\n"
    add(monkeypatch, (NEWEST + 1, script))
    for _ in range(2):
        Store.open(path).close()
    after = connect(path)
    assert schema_version(after) == NEWEST + 1
    assert after.execute("SELECT COUNT(*) FROM sequence").fetchone() == (2,)
    assert after.execute("SELECT note FROM model").fetchone() == ("",)
    after.close()


def test_schemas_that_differ_are_told_apart(tmp_path: Path) -> None:
    """The comparison itself: a column, an index and a reference each count."""
    plain = ["CREATE TABLE a (x TEXT PRIMARY KEY)", "CREATE TABLE b (x TEXT, y TEXT)"]
    variants = [
        plain,
        [plain[0], "CREATE TABLE b (x TEXT)"],
        [*plain, "CREATE INDEX i ON b (x)"],
        [plain[0], "CREATE TABLE b (x TEXT REFERENCES a (x), y TEXT)"],
        [plain[0], "CREATE TABLE b (x TEXT NOT NULL, y TEXT)"],
        [plain[0], "CREATE TABLE b (x TEXT CHECK (x > 1), y TEXT)"],
    ]
    shapes = []
    for number, script in enumerate(variants):
        connection = connect(tmp_path / f"{number}.db")
        for statement in script:
            connection.execute(statement)
        shapes.append(str(shape(connection)))
        connection.close()
    assert len(set(shapes)) == len(variants)


DIE = """
import os, shutil, signal, sqlite3, sys
from pathlib import Path
from pushjuju.store import sqlite as store

class Dying(sqlite3.Connection):
    def execute(self, statement, *args):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, *args)

connect = sqlite3.connect
store.sqlite3.connect = lambda *args, **more: connect(*args, factory=Dying, **more)
source, at, code = Path(sys.argv[1]), 0, -signal.SIGKILL
while code == -signal.SIGKILL:
    left = at = at + 1
    path = source.with_name(f"dies{at}.db")
    shutil.copy(source, path)
    if not os.fork():  # quicker than a start of Python for each statement
        store.SqliteEngine.open(path).close()
        break
    code = os.waitstatus_to_exitcode(os.wait()[1])
else:
    print(at, code)
"""


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder of files that nobody waits for."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def test_death_at_any_statement_leaves_the_old_or_the_new_schema(memory: Path) -> None:
    """SIGKILL before each statement of all migrations: each schema is whole, and the next process goes on."""
    source = memory / "first.db"
    make(source, NUMBERS[0])
    shapes = {}
    for number in NUMBERS:
        connection = connect(memory / f"{number}.db")
        for each, script in migrations():
            if each <= number:
                _apply(connection, (each, script))
        shapes[number] = shape(connection)
        connection.close()
    done = subprocess.run([sys.executable, "-c", DIE, source], capture_output=True, text=True, check=True)
    last, code = map(int, done.stdout.split())
    assert code == 0, done.stderr
    found = set()
    for at in range(1, last):
        path = memory / f"dies{at}.db"
        left = connect(path)
        assert shape(left) == shapes[schema_version(left)]
        assert left.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found.add(schema_version(left))
        left.close()
        Store.open(path).close()
        whole = connect(path)
        assert (schema_version(whole), shape(whole)) == (NEWEST, shapes[NEWEST])
        whole.close()
    assert last > len(NUMBERS) * 3
    assert found == set(NUMBERS[:-1])  # nothing is left to die at behind the last commit


def test_annotations_of_an_older_store_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    make(path, 23)
    Store.open(path).close()
    connection = connect(path)
    kept = connection.execute("SELECT kind, owner, key, value FROM annotation ORDER BY kind").fetchall()
    connection.close()
    assert kept == [("application", "1", "1", "1"), ("machine", "1", "1", "1")]
