"""The statements and the schema mean the same to SQLite and to PostgreSQL."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pushjuju.store.postgres import schema
from pushjuju.store.statements import migrations, queries
from tests.postgres import databases
from tests.waiting import comes

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

MODEL = "11111111-0000-4000-8000-000000000000"
NUMBER, BIG_NUMBER, TEXT, BYTES = 23, 20, 25, 17  # types of PostgreSQL


@pytest.fixture(scope="module")
def postgres(postgres_host: str) -> Iterator[psycopg.Connection]:
    """A database with the schema, on the one server of this run of the tests."""
    with (
        databases.database(postgres_host) as url,
        closing(psycopg.connect(url, autocommit=True)) as connection,
    ):
        schema.prepare(connection, "of a test", create=True)
        yield connection


@pytest.fixture(scope="module")
def sqlite() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    for _, script in migrations():
        connection.executescript(script)
    connection.execute("PRAGMA foreign_keys = ON")
    yield connection
    connection.close()


def numbered(sql: str) -> tuple[str, list[str]]:
    """Return a statement with `$1`, `$2` for its `:name`s, and the names."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    return re.sub(r"(?<!:):([a-z_0-9]+)", number, sql), names


@pytest.fixture(scope="module")
def prepared(postgres: psycopg.Connection) -> dict[str, list[str]]:
    """Return the names of the parameters of every statement, each of which PostgreSQL has prepared."""
    found, failed = {}, []
    for name, sql in queries().items():
        text, found[name] = numbered(sql)
        answer = postgres.pgconn.prepare(name.encode(), text.encode())
        if answer.status != psycopg.pq.ExecStatus.COMMAND_OK:
            failed.append(f"{name}: {answer.error_message.decode()}")
    assert not failed, "\n".join(failed)
    return found


def test_postgresql_knows_the_type_of_every_parameter(
    postgres: psycopg.Connection, prepared: dict[str, list[str]]
) -> None:
    odd = []
    for name, parameters in prepared.items():
        told = postgres.pgconn.describe_prepared(name.encode())
        types = [told.param_type(number) for number in range(told.nparams)]
        assert len(types) == len(parameters)
        odd += [f"{name}: {types}" for kind in types if kind not in (NUMBER, BIG_NUMBER, TEXT, BYTES)]
    assert not odd, "\n".join(odd)


def test_postgresql_walks_through_no_table_that_sqlite_finds_by_an_index(
    postgres: psycopg.Connection, sqlite: sqlite3.Connection, prepared: dict[str, list[str]]
) -> None:
    """Tables are empty, so PostgreSQL is told to walk through a table only when no index fits."""
    postgres.execute(
        "SET enable_seqscan = off; SET seq_page_cost = 1000000; SET plan_cache_mode = force_generic_plan"
    )
    walks = []
    for name, parameters in prepared.items():
        given = f"({', '.join(['NULL'] * len(parameters))})" if parameters else ""
        asked = f"EXPLAIN (COSTS OFF) EXECUTE {name}{given}"
        plan = [row[0] for row in postgres.execute(asked)]
        around = zip(["", *plan], plan, [*plan[1:], ""], strict=False)
        if walk := [line for before, line, after in around if is_walk(before, line, after)]:
            theirs = sqlite.execute(f"EXPLAIN QUERY PLAN {queries()[name]}", dict.fromkeys(parameters, 0))
            if not any(row[3].startswith("SCAN") for row in theirs):
                walks.append(f"{name}: {walk[0].strip()}")
    assert not walks, "\n".join(walks)


def is_walk(before: str, line: str, after: str) -> bool:
    if "Limit" in before and "Index" in line:  # it ends at the first row; from 17 on without a condition
        return False
    return "Seq Scan" in line or ("Index" in line and "Scan" in line and "Index Cond" not in after)


def rows_of(connection: sqlite3.Connection | psycopg.Connection, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.execute(sql)]


def test_both_engines_have_the_same_tables_and_columns(
    postgres: psycopg.Connection, sqlite: sqlite3.Connection
) -> None:
    tables = [row[0] for row in sqlite.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    mine = sorted((name, row[1]) for name in tables for row in sqlite.execute(f"PRAGMA table_info({name})"))
    asked = (
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'pushjuju' AND table_name NOT IN ('written', 'schema_version')"
    )
    assert sorted(rows_of(postgres, asked)) == mine


def test_both_engines_write_the_same_journal_of_changes(
    postgres: psycopg.Connection, sqlite: sqlite3.Connection
) -> None:
    model = f"'{MODEL}'"
    written = [
        f"INSERT INTO model VALUES ({model}, 'a', 'admin', 'local', 'local', '', '', 'alive', 0, '2025')",
        f"INSERT INTO machine (model, id, life, base, created) VALUES ({model}, '0/lxd/1', 'alive', '', '1')",
        "UPDATE machine SET last_seen = '2025'",  # nobody watches this column
        "UPDATE machine SET life = 'dying'",
        "UPDATE machine SET unreachable_since = '2025'",  # was NULL
        f"INSERT INTO annotation VALUES ({model}, 'machine', '0/lxd/1', 'k', 'v')",
        f"INSERT INTO status VALUES ({model}, 'juju-machine', '0/lxd/1', 'started', '', '', '2025')",
        f"INSERT INTO status VALUES ({model}, 'volume', '0', 'pending', '', '', '2025')",  # left out
        "DELETE FROM machine",
        f"DELETE FROM model WHERE uuid = {model}",
    ]
    asked = "DELETE FROM change RETURNING kind, entity"
    for statement in written:
        sqlite.execute(statement)
        postgres.execute(statement)
        news = sorted(rows_of(sqlite, asked))
        assert sorted(rows_of(postgres, asked)) == news
        assert bool(news) == ("last_seen" not in statement and "volume" not in statement)


def test_both_engines_sort_text_alike(postgres: psycopg.Connection, sqlite: sqlite3.Connection) -> None:
    names = ["B", "a", "a-b", "a/b", "ab", "ä", "Z", "_", "10", "9"]
    for connection, mark in ((sqlite, "?"), (postgres, "%s")):
        insert = f"INSERT INTO access (kind, target, person, level) VALUES ('model', {mark}, 'p', 'read')"
        for name in names:
            connection.execute(insert, (name,))
    asked = "SELECT target FROM access ORDER BY target"
    assert rows_of(postgres, asked) == rows_of(sqlite, asked) == sorted((name,) for name in names)


def test_statements_compare_letters_with_like_only_in_lower_case() -> None:
    """SQLite's LIKE ignores case, PostgreSQL's does not; what they compare is in lower case everywhere."""
    compared = {text for sql in queries().values() for text in re.findall(r"LIKE (\S+)", sql)}
    assert compared == {
        "'%\"'", "'%/%'", "'%/%')", "'%/machine/%'", "'ch:%'", "'history-%'", ":like", ":prefix"
    }  # fmt: skip


@pytest.mark.usefixtures("postgres")  # which skips without a server
def test_the_server_ends_when_the_tests_are_killed(tmp_path: Path) -> None:
    program = """
from pathlib import Path
import sys, tests.postgres.server as server
with server.running(Path(sys.argv[1])) as host:
    print(host, flush=True)
    sys.stdin.read()
"""
    asked = [sys.executable, "-c", program, tmp_path]
    root = Path(__file__).parents[3]
    with subprocess.Popen(asked, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        folder = Path(tests.stdout.readline().strip())
        try:
            assert (folder / "data" / "postmaster.pid").exists()
        finally:
            tests.kill()
    comes(lambda: not folder.exists(), "the server goes on")
