"""Faults of a PostgreSQL server that is real: losses in the middle, locks that nobody gives back."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import StoreAway, StoreBusy, StoreDamaged, StoreError
from pushjuju.store import backup
from pushjuju.store.db import Store
from pushjuju.store.files import waits
from pushjuju.store.rows.records import Model
from tests.postgres import databases, server
from tests.unit.store.conftest import MODEL
from tests.waiting import comes

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from pushjuju.store.postgres import address, sessions  # noqa: E402 - needs psycopg

Run = Callable[[str], list[tuple[object, ...]]]


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    with closing(Store.open(postgres_url, create=True)) as made:
        with made.write() as tx:
            tx.insert("model", MODEL)
        yield made


@pytest.fixture
def run(postgres_url: str) -> Iterator[Run]:
    """Runs a statement on a connection of its own."""
    with psycopg.connect(postgres_url, autocommit=True) as link:

        def call(statement: str) -> list[tuple[object, ...]]:
            answer = link.execute(statement.encode())
            return answer.fetchall() if answer.description else []

        yield call


def name(store: Store) -> str:
    with store.read() as tx:
        return tx.list(Model, "model_list")[0].name


def cut(store: Store, run: Run) -> None:
    """End the connection of a store, which notices at its next statement."""
    pid = store.engine._link.info.backend_pid  # type: ignore[attr-defined]
    run(f"SELECT pg_terminate_backend({pid})")
    comes(lambda: not run(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"))


def test_a_loss_between_two_transactions_harms_no_user(store: Store, run: Run) -> None:
    cut(store, run)
    assert name(store) == MODEL.name
    cut(store, run)
    with store.write(MODEL.uuid) as tx:
        tx.run("model_config_set", model=MODEL.uuid, key="k", value="v")


def test_who_only_looks_for_changes_looks_again_after_a_loss(store: Store, run: Run) -> None:
    """As the API server and the dashboard, which have a connection for that alone."""
    before = store.version()
    cut(store, run)
    with pytest.raises(StoreAway, match="does not answer"):
        store.version()
    assert store.version() != before


def test_a_loss_within_a_transaction_ends_the_transaction(store: Store, run: Run) -> None:
    with pytest.raises(StoreAway, match="does not answer"), store.read() as tx:  # noqa: PT012
        cut(store, run)
        tx.list(Model, "model_list")
    assert name(store) == MODEL.name


def test_a_loss_within_a_transaction_is_told_with_what_became_of_the_change(store: Store, run: Run) -> None:
    asked = {"model": MODEL.uuid, "key": "k", "value": "v"}
    with pytest.raises(StoreAway) as before, store.write(MODEL.uuid) as tx:  # noqa: PT012
        tx.run("model_config_set", **asked)
        cut(store, run)
        tx.list(Model, "model_list")
    with pytest.raises(StoreAway) as during, store.write(MODEL.uuid) as tx:  # noqa: PT012
        tx.run("model_config_set", **asked)
        tx.list(Model, "model_list")
        cut(store, run)
    with pytest.raises(StoreAway) as after, store.read() as tx:  # noqa: PT012
        cut(store, run)
        tx.list(Model, "model_list")
    assert str(before.value.hint).startswith("the change was not made")
    assert str(during.value.hint).startswith("the change may have been made")
    assert str(after.value.hint) == "run the command again when the server is back"


def test_a_store_is_used_again_after_the_server_came_back_without_it_for_a_while(
    store: Store, run: Run
) -> None:
    run("ALTER SCHEMA pushjuju RENAME TO elsewhere")
    cut(store, run)
    for _ in range(3):
        with pytest.raises(StoreDamaged, match="has no store of pushjuju"):
            name(store)
    run("ALTER SCHEMA elsewhere RENAME TO pushjuju")
    assert name(store) == MODEL.name


def test_a_server_that_returns_as_a_standby_is_told_of_and_the_store_is_used_again_later(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = sessions._LINE
    cut(store, run)
    # fails with the code with which a standby refuses to name the position of its writes
    monkeypatch.setattr(sessions, "_LINE", "currval('log_id_seq')::text")
    for _ in range(2):
        with pytest.raises(StoreError, match="the server is read-only"):
            name(store)
    monkeypatch.setattr(sessions, "_LINE", "(1 / 0)::text")
    with pytest.raises(StoreError, match="cannot be reached"):
        name(store)
    monkeypatch.setattr(sessions, "_LINE", usual)
    assert name(store) == MODEL.name


# --- figures for metrics ---------------------------------------------------------------------------------


def figures(store: Store) -> dict[tuple[str, ...], float]:
    """Return the values of the metrics of a store, by name, suffix and labels."""
    return {(name + suffix, *labels): value for name, labels, value, suffix in store.figures()}


def test_the_metrics_of_a_process_tell_of_locks_flushes_statements_and_answers(
    store: Store, postgres_url: str
) -> None:
    before = figures(store)
    with closing(Store.open(postgres_url)) as other:

        def write() -> None:
            with store.write(MODEL.uuid) as tx:
                tx.run("model_config_set", model=MODEL.uuid, key="k", value="v")

        waiting = threading.Thread(target=write)
        with other.write(MODEL.uuid):
            waiting.start()
            comes(lambda: other.engine.connection.execute(_WAITERS).fetchone()[0])
            begun = time.monotonic()
            comes(lambda: time.monotonic() - begun > 0.3)
        waiting.join(20)
    name(store)
    found = figures(store)
    assert found["lock_wait_seconds_count", MODEL.uuid] == found["lock_held_seconds_count", MODEL.uuid] == 1
    assert found["lock_wait_seconds_sum", MODEL.uuid] >= 0.3
    assert 0 < found["lock_held_seconds_sum", MODEL.uuid] < found["lock_wait_seconds_sum", MODEL.uuid]
    assert found["store_seconds_total",] - before["store_seconds_total",] >= 0.3
    assert found["store_round_trips_total",] - before["store_round_trips_total",] == 4
    assert found["store_statements_total", "write"] - before["store_statements_total", "write"] == 2
    assert found["store_flush_seconds_count",] == 0
    with store.group().part(MODEL.uuid) as tx:
        tx.run("model_config_set", model=MODEL.uuid, key="k", value="w")
    store.group().flush()
    assert figures(store)["store_flush_seconds_count",] == 1
    assert figures(store)["store_flush_seconds_sum",] > 0


_WAITERS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def test_the_cache_counts_its_answers_and_the_changes_of_others(store: Store, postgres_url: str) -> None:
    store.remember()
    with closing(Store.open(postgres_url)) as other:
        other.remember()
        names = [name(store), name(store)]
        with other.write(MODEL.uuid) as tx:
            tx.run("model_config_set", model=MODEL.uuid, key="k", value="v")
        names.append(name(store))
    found = figures(store)
    assert set(names) == {MODEL.name}
    assert (found["cache_reads_total", "miss"], found["cache_reads_total", "hit"]) == (1, 2)
    assert found["cache_changes_total",] == 1
    assert found["cache_dropped_total", "others"] == 1  # at its first look, a process knows nothing


# --- transactions that stay open --------------------------------------------------------------------------


def test_the_lock_of_a_process_that_was_stopped_in_a_transaction_is_free_after_a_while(
    store: Store, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sessions._LIMITS, "idle_in_transaction_session_timeout", "300ms")
    with closing(Store.open(postgres_url)) as stopped:
        with pytest.raises(StoreBusy, match="has ended a transaction"), stopped.write(MODEL.uuid) as tx:  # noqa: PT012
            with store.write(MODEL.uuid):
                pass  # before `stopped` goes on
            tx.list(Model, "model_list")
        assert name(stopped) == MODEL.name


def test_a_process_that_waits_for_a_lock_tells_who_has_it(store: Store, postgres_url: str) -> None:
    told: list[str] = []
    here = f"process {os.getpid()} on {os.uname().nodename}"
    with closing(Store.open(postgres_url)) as other, waits.told_by(told.append):

        def write() -> None:
            with other.write(MODEL.uuid):
                pass

        waiting = threading.Thread(target=write)
        with store.write(MODEL.uuid):
            waiting.start()
            comes(lambda: told)
        waiting.join(20)
    assert told == [f"Waiting for the store {store.path}: {here} has it"]


def test_the_server_knows_that_a_transaction_waits_for_this_process(store: Store, run: Run) -> None:
    pid = store.engine._link.info.backend_pid  # type: ignore[attr-defined]
    asked = f"SELECT state FROM pg_stat_activity WHERE pid = {pid}"
    with store.write() as tx:
        comes(lambda: run(asked) == [("idle in transaction",)])
        tx.list(Model, "model_list")
        comes(lambda: run(asked) == [("idle in transaction",)])
    comes(lambda: run(asked) == [("idle",)])


async def test_in_an_event_loop_a_read_ends_on_the_server_with_this_turn(store: Store, run: Run) -> None:
    pid = store.engine._link.info.backend_pid  # type: ignore[attr-defined]
    name(store)
    await asyncio.sleep(0)
    comes(lambda: run(f"SELECT xact_start FROM pg_stat_activity WHERE pid = {pid}") == [(None,)])


async def test_a_loss_before_the_end_of_a_read_is_sent_harms_no_user(store: Store, run: Run) -> None:
    name(store)
    cut(store, run)
    await asyncio.sleep(0)
    assert name(store) == MODEL.name


def test_a_transaction_waits_for_the_server_no_more_often_than_it_asks(store: Store) -> None:
    connection = store.engine.connection

    def trips() -> int:
        return connection.trips  # type: ignore[attr-defined,no-any-return]

    name(store)
    before = trips()
    name(store)
    assert trips() - before == 2  # the beginning and the question
    with store.write() as tx:
        for number in range(20):
            tx.run("model_config_set", model=MODEL.uuid, key=f"k{number}", value="v")
    assert trips() - before == 4  # the locks and the commit
    with pytest.raises(ZeroDivisionError), store.write():
        raise ZeroDivisionError
    assert trips() - before == 6  # the locks and the end


def test_a_restore_may_take_longer_than_other_transactions(
    store: Store, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sessions._LIMITS, "idle_in_transaction_session_timeout", "300ms")
    copy, copied = tmp_path / "copy.db", backup.copy_store
    copied(store.place, copy)
    with closing(Store.open(str(store.place))) as impatient:

        def slowly(*given: Any) -> None:
            run("SELECT pg_sleep(0.6)")  # twice as long as a transaction may wait
            copied(*given)

        monkeypatch.setattr(backup, "copy_store", slowly)
        backup.take_back(impatient, copy, tmp_path / "before.db")
        assert name(impatient) == MODEL.name


def test_an_interrupt_while_the_server_works_leaves_a_connection_that_can_be_used(store: Store) -> None:
    engine: Any = store.engine
    pid = engine._link.info.backend_pid

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), store.read():  # noqa: PT012 - in the middle of it
        engine.connection.on_wait = interrupt
        engine.connection.execute("SELECT pg_sleep(1.5)::text").fetchall()
    assert name(store) == MODEL.name
    assert engine._link.info.backend_pid == pid


# --- what a commit means ----------------------------------------------------------------------------------


def test_a_copy_restored_on_the_same_server_is_another_history(store: Store, postgres_host: str) -> None:
    """Else nobody would ask the machines what they have run since the copy."""
    usual = store.line
    with closing(Store.open(str(store.place))) as again:
        assert again.line == usual
    present = str(store.engine.connection.execute("SELECT current_database()").fetchone()[0])
    store.close()
    login = ["-h", postgres_host, "-U", "pushjuju", "-d"]
    dump = subprocess.run(
        [server._programs() / "pg_dump", *login, present], check=True, capture_output=True
    ).stdout
    with databases.database(postgres_host) as url:
        other = url.partition("@/")[2].partition("?")[0]
        subprocess.run(["psql", "-q", *login, other], input=dump, check=True, capture_output=True)
        with closing(Store.open(url)) as copy:
            assert copy.line != usual
            assert name(copy) == MODEL.name
    with databases.database(postgres_host, present) as url, closing(Store.open(url)) as copy:
        assert copy.line != usual


def test_a_commit_waits_for_the_disk_whatever_the_role_has(store: Store, run: Run, postgres_url: str) -> None:
    run("ALTER ROLE pushjuju SET synchronous_commit = off")
    try:
        with closing(Store.open(postgres_url)) as made:
            shown = made.engine.connection.execute("SHOW synchronous_commit").fetchone()
    finally:
        run("ALTER ROLE pushjuju RESET synchronous_commit")
    assert shown[0] == "on"


@pytest.fixture
def settings(run: Run) -> Iterator[Callable[[str], None]]:
    """Sets a default of the database for later connections."""
    [(name,)] = run("SELECT current_database()")
    yield lambda setting: run(f'ALTER DATABASE "{name}" SET {setting}') and None
    run(f'ALTER DATABASE "{name}" RESET ALL')


def test_a_writer_reads_what_was_written_while_it_waited_whatever_the_database_has(
    settings: Callable[[str], None], store: Store, run: Run, postgres_url: str
) -> None:
    settings("default_transaction_isolation = 'serializable'")
    found: list[int] = []

    def count(made: Store) -> None:
        with made.write() as tx:
            found.append(tx.next(MODEL.uuid, "unit"))

    with closing(Store.open(postgres_url)) as first, closing(Store.open(postgres_url)) as second:
        waits_for_lock = threading.Thread(target=count, args=[second])
        with first.write() as tx:
            waits_for_lock.start()
            comes(lambda: run("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
            found.append(tx.next(MODEL.uuid, "unit"))
        waits_for_lock.join()
    assert found == [0, 1]


def test_limits_of_the_database_end_neither_a_store_that_is_made_nor_a_copy(
    settings: Callable[[str], None], run: Run, postgres_url: str
) -> None:
    limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]
    if run("SELECT 1 FROM pg_settings WHERE name = 'transaction_timeout'"):  # from PostgreSQL 17 on
        limits.append("transaction_timeout")
    for name in limits:
        settings(f"{name} = 200")  # more than a busy computer needs to set other limits
    Store.open(postgres_url, create=True).close()
    with closing(address.connected(address.parsed(postgres_url))) as link, link.transaction():
        link.execute("SELECT pg_sleep(0.3)")
        assert link.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("0",)


def test_values_stay_the_same_in_whatever_forms_the_database_has_them(
    settings: Callable[[str], None], store: Store, postgres_url: str
) -> None:
    for setting in ("bytea_output = escape", "extra_float_digits = -10", "standard_conforming_strings = off"):
        settings(setting)
    data = bytes(range(256))
    with closing(Store.open(postgres_url)) as other, other.read():
        row = other.engine.connection.execute("SELECT (:data)::bytea AS data", {"data": data}).fetchone()
        assert row["data"] == data
        assert abs(other.engine.clock().now() - store.engine.clock().now()) < timedelta(minutes=1)
    with closing(address.connected(address.parsed(postgres_url))) as link, link.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE copied (data bytea)")
        with cursor.copy("COPY copied FROM STDIN") as copy:
            copy.write_row([data])
        assert cursor.execute("SELECT data FROM copied").fetchone() == (data,)


def test_settings_with_which_a_server_loses_commits_are_named(
    store: Store, run: Run, postgres_url: str
) -> None:
    """The server of the tests forgets on purpose."""
    assert [text.rpartition(": ")[2] for text in store.engine.doubts()] == [
        "fsync is off",
        "full_page_writes is off",
    ]
    assert store.engine.standby() is None
    with psycopg.connect(postgres_url, replication="true", autocommit=True):
        comes(lambda: run("SELECT 1 FROM pg_stat_replication"))
        last = store.engine.doubts()[-1]
        assert store.engine.standby() is False
    assert "has no synchronous standby" in last


@pytest.mark.parametrize("limit", [6, 200])
def test_a_server_with_few_free_connections_is_named_before_it_refuses_one(
    store: Store, run: Run, limit: int
) -> None:
    run(f"ALTER ROLE pushjuju CONNECTION LIMIT {limit}")
    try:
        found = store.engine.doubts()
    finally:
        run("ALTER ROLE pushjuju CONNECTION LIMIT -1")
    assert any("free connections: raise max_connections" in text for text in found) is (limit == 6)
