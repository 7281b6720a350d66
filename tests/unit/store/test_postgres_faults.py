"""Faults of a PostgreSQL server that is real: losses in the middle, locks that nobody gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from pushjuju.core.errors import StoreBusy, StoreDamaged, StoreError
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Model
from tests.unit.store.conftest import MODEL
from tests.waiting import comes

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from pushjuju.store.postgres import sessions  # noqa: E402 - needs psycopg

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
    """End the connection of a store, and let the store notice."""
    pid = store.engine._link.info.backend_pid  # type: ignore[attr-defined]
    run(f"SELECT pg_terminate_backend({pid})")
    comes(lambda: not run(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid}"))
    with pytest.raises(StoreBusy, match="does not answer"):
        name(store)


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
