"""Questions sent to PostgreSQL before their answers are needed: one wait, and never an old answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from pushjuju.core.errors import StoreBusy
from pushjuju.store.db import Store
from pushjuju.store.postgres.ahead import CHECKED
from pushjuju.store.tx import Tx
from tests.unit.store.conftest import MODEL
from tests.waiting import comes

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

KEYS = ("first", "second", "third")


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    with closing(Store.open(postgres_url, create=True)) as made:
        with made.write() as tx:
            tx.insert("model", MODEL)
            for key in KEYS:
                put(tx, key, "old")
        made.remember()
        value_of_a_reader(made)  # each statement is prepared once
        yield made


def put(tx: Tx, key: str, value: str) -> None:
    tx.run("model_config_set", model=MODEL.uuid, key=key, value=value)


def questions(keys: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    for key in keys:
        yield "model_config_get", {"model": MODEL.uuid, "key": key}


def value(tx: Tx, key: str) -> object:
    return tx.scalar("model_config_get", model=MODEL.uuid, key=key)


def value_of_a_reader(store: Store) -> object:
    with store.read() as tx:
        return value(tx, "else")


def waits(store: Store) -> int:
    return store.engine.connection.trips  # type: ignore[attr-defined,no-any-return]


def statements(store: Store) -> int:
    return store.engine.connection.sent  # type: ignore[attr-defined,no-any-return]


def test_one_wait_serves_all_questions_that_were_sent_ahead(store: Store) -> None:
    with store.write() as tx:
        before, sent = waits(store), statements(store)
        tx.ahead(questions, KEYS)
        assert waits(store) == before
        assert [value(tx, key) for key in KEYS] == ["old"] * 3
        assert (waits(store) - before, statements(store) - sent) == (1, 3)


def test_a_known_answer_is_not_asked_ahead_and_a_changed_row_is(store: Store) -> None:
    with store.write() as tx:
        assert [value(tx, key) for key in KEYS] == ["old"] * 3
        before = statements(store)
        tx.ahead(questions, KEYS)
        assert statements(store) == before
        put(tx, "second", "new")
        tx.ahead(questions, KEYS)
        assert [value(tx, key) for key in KEYS] == ["old", "new", "old"]


def test_a_row_that_is_written_after_its_question_was_sent_is_asked_again(store: Store) -> None:
    with store.write() as tx:
        tx.ahead(questions, KEYS)
        put(tx, "first", "new")
        assert [value(tx, key) for key in KEYS] == ["new", "old", "old"]


def test_an_answer_that_nobody_read_serves_a_later_transaction(store: Store) -> None:
    with store.write() as tx:
        tx.ahead(questions, KEYS)
    with store.write() as tx:
        before = waits(store)
        tx.ahead(questions, KEYS)
        assert [value(tx, key) for key in KEYS] == ["old"] * 3
        assert waits(store) == before


def test_an_answer_that_nobody_read_is_not_used_after_others_have_written(store: Store) -> None:
    with store.write() as tx:
        tx.ahead(questions, KEYS)
    with closing(Store.open(str(store.place))) as other, other.write() as tx:
        put(tx, "first", "new")
    with store.write() as tx:
        assert [value(tx, key) for key in KEYS] == ["new", "old", "old"]


def _write_and_fail(tx: Tx) -> None:
    put(tx, "first", "never")
    tx.ahead(questions, KEYS)
    raise ZeroDivisionError


def test_a_transaction_that_is_undone_leaves_no_answer(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.write() as tx:
        _write_and_fail(tx)
    with store.write() as tx:
        tx.ahead(questions, KEYS)
        assert value(tx, "first") == "old"


def test_questions_that_the_server_did_not_answer_are_asked_again(store: Store) -> None:
    """The failure meets the transaction that comes next, and no other."""
    pid = store.engine._link.info.backend_pid  # type: ignore[attr-defined]
    with psycopg.connect(str(store.place)) as link:
        link.execute("LOCK TABLE model_config")
        with store.read() as tx:
            tx.ahead(questions, KEYS)
        waiting = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
        comes(lambda: link.execute(waiting, [pid]).fetchone())
        link.execute("SELECT pg_cancel_backend(%s)", [pid])
    with pytest.raises(StoreBusy), store.read():
        pass
    with store.read() as tx:
        assert [value(tx, key) for key in KEYS] == ["old"] * 3


def test_a_process_that_keeps_no_answers_asks_nothing_ahead(store: Store) -> None:
    with closing(Store.open(str(store.place))) as other, other.write() as tx:
        before = statements(other)
        tx.ahead(questions, KEYS)
        assert statements(other) == before
        assert value(tx, "first") == "old"


def test_a_write_that_no_note_tells_of_is_found_and_the_cache_is_dropped(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    with store.read() as tx:
        assert {value(tx, "first") for _ in range(CHECKED)} == {"old"}
    with psycopg.connect(store.place, options="-c search_path=pushjuju") as link:
        link.execute("UPDATE model_config SET value = 'new'")
    for _ in range(2 * len(KEYS)):  # one answer of some is compared each time
        with store.read() as tx:
            found = {value(tx, "first") for _ in range(CHECKED)}
    assert found == {"new"}
    assert ("cache_dropped_total", ("wrong",), 1, "") in store.figures()
    told = capsys.readouterr().err
    assert told.count("the cache of rows differed from the store and was dropped; statement: SELECT") == 1
