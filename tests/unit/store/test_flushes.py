"""Writers that share a transaction in PostgreSQL: what others see, what fails alone, what fails together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from pushjuju.core.errors import StoreAway, StoreError
from pushjuju.core.values import changed
from pushjuju.store.db import Store
from pushjuju.store.leases import DeferredStore
from pushjuju.store.postgres import flushes
from tests.unit.store.conftest import MODEL
from tests.waiting import until

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

_MOST_SHARED_S = flushes.MOST_SHARED_S
OTHER = changed(MODEL, uuid="22222222-0000-4000-8000-000000000000", name="other")


@pytest.fixture
def store(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(flushes, "MOST_SHARED_S", 60.0)  # however busy the computer
    with closing(Store.open(postgres_url, create=True)) as made:
        with made.write() as tx:
            tx.insert("model", MODEL)
            tx.insert("model", OTHER)
        made.remember()
        yield made


@pytest.fixture
def beside(store: Store) -> Iterator[Store]:
    """The same store as another process has it."""
    with closing(Store.open(str(store.place))) as made:
        yield made


def note(store: Store, key: str, model: str = MODEL.uuid) -> None:
    with store.write(model) as tx:
        tx.run("model_config_set", model=model, key=key, value="v")


def break_a_rule(store: Store) -> None:
    """Write what PostgreSQL refuses, without asking for its answer."""
    with store.write(MODEL.uuid) as tx:
        tx.run("charm_state_set", model=MODEL.uuid, unit="no/0", key="k", value="v")


def noted(store: Store, model: str = MODEL.uuid) -> set[str]:
    with store.read(model) as tx:
        return {row["key"] for row in tx.rows("model_config_list", model=model)}


async def test_writers_of_a_model_share_a_transaction_and_its_readers_see_it(
    store: Store, beside: Store
) -> None:
    deferred = DeferredStore(store)
    note(deferred, "first")  # this process now knows that no offer connects the model
    await deferred.durable()
    pipeline = store.engine.connection
    sent, trips = pipeline.sent, pipeline.trips  # type: ignore[attr-defined]
    for key in "abcde":
        note(deferred, key)
    assert noted(deferred) == {"first", *"abcde"}
    assert noted(beside) == {"first"}
    await deferred.durable()
    assert noted(beside) == {"first", *"abcde"}
    # begin, locks, look; five writes, four savepoints, a question; a note for others, commit, flush
    assert pipeline.sent - sent == 3 + 10 + 5  # type: ignore[attr-defined]
    assert pipeline.trips - trips == 3  # type: ignore[attr-defined] # the begin, the question, the flush


async def test_a_part_that_writes_nothing_has_no_savepoint(store: Store) -> None:
    deferred = DeferredStore(store)
    note(deferred, "a")
    pipeline = store.engine.connection
    sent = pipeline.sent  # type: ignore[attr-defined]
    with deferred.write(MODEL.uuid) as tx:
        assert len(tx.rows("model_config_list", model=MODEL.uuid)) == 1
    assert pipeline.sent - sent == 1  # type: ignore[attr-defined]


async def test_a_shared_transaction_does_not_stay_open_for_long(
    store: Store, beside: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flushes, "MOST_SHARED_S", _MOST_SHARED_S)
    note(DeferredStore(store), "a")
    await until(lambda: noted(beside) == {"a"})


@pytest.mark.parametrize(
    "act",
    [
        lambda store: note(store, "b", OTHER.uuid),
        lambda store: note(DeferredStore(store), "b", OTHER.uuid),
        lambda store: noted(store, OTHER.uuid),
        lambda store: noted(store, ""),
        lambda store: note(store, "b"),
    ],
)
async def test_what_needs_more_than_the_lock_of_the_model_commits_it_first(
    store: Store, beside: Store, act: Callable[[Store], object]
) -> None:
    note(DeferredStore(store), "a")
    assert noted(beside) == set()
    act(store)
    assert "a" in noted(beside)


async def test_a_part_that_fails_is_undone_alone(store: Store, beside: Store) -> None:
    deferred = DeferredStore(store)
    for key in "ab":
        with contextlib.suppress(ZeroDivisionError), deferred.write(MODEL.uuid) as tx:
            tx.run("model_config_set", model=MODEL.uuid, key=f"un{key}", value="v")
            raise ZeroDivisionError
        note(deferred, key)
    with pytest.raises(ZeroDivisionError), deferred.write(MODEL.uuid):
        raise ZeroDivisionError  # with nothing sent
    assert noted(deferred) == {"a", "b"}
    await deferred.durable()
    assert noted(beside) == {"a", "b"}


async def test_a_transaction_within_a_part_is_refused_and_commits_nothing(
    store: Store, beside: Store
) -> None:
    deferred = DeferredStore(store)
    note(deferred, "a")
    with deferred.write(MODEL.uuid) as tx:
        tx.run("model_config_set", model=MODEL.uuid, key="b", value="v")
        for within in (lambda: noted(store, ""), lambda: note(store, "c", OTHER.uuid)):
            with pytest.raises(StoreError, match="a transaction is open already"):
                within()
        assert noted(beside) == set()
    await deferred.durable()
    assert noted(beside) == {"a", "b"}


async def test_a_statement_that_fails_undoes_all_then_meets_its_cause_alone(
    store: Store, beside: Store
) -> None:
    innocent, guilty = DeferredStore(store), DeferredStore(store)
    note(innocent, "a")
    break_a_rule(guilty)
    with pytest.raises(StoreAway, match="were undone"):
        noted(innocent)
    with pytest.raises(StoreAway):
        await innocent.durable()
    with pytest.raises(StoreAway):
        await guilty.durable()
    innocent, guilty = DeferredStore(store), DeferredStore(store)
    note(innocent, "a")
    with pytest.raises(Exception, match="charm_state_set"):
        break_a_rule(guilty)
    note(innocent, "b")
    await innocent.durable()
    assert noted(store) == noted(beside) == {"a", "b"}


async def test_a_flush_that_fails_reaches_all_who_wait_for_it(store: Store, beside: Store) -> None:
    one, other = DeferredStore(store), DeferredStore(store)
    note(one, "a")
    break_a_rule(other)
    found = await asyncio.gather(one.durable(), other.durable(), return_exceptions=True)
    assert all(isinstance(error, StoreError) and "charm_state_set" in str(error) for error in found)
    assert noted(store) == noted(beside) == set()


async def test_a_worker_whose_writes_were_lost_writes_nothing_more(store: Store, beside: Store) -> None:
    deferred = DeferredStore(store)
    note(deferred, "a")
    break_a_rule(deferred)
    assert noted(store, "") == set()  # its commit finds the fault
    for _ in range(2):
        with pytest.raises(StoreAway):
            note(deferred, "b")
    note(DeferredStore(store), "c")
    assert noted(store) == noted(beside) == {"c"}


def test_a_failure_that_somebody_passes_over_is_no_commit(store: Store, beside: Store) -> None:
    """PostgreSQL answers such a COMMIT without an error, so a statement before it must fail."""

    def pass_over() -> None:
        with store.write(MODEL.uuid) as tx, contextlib.suppress(Exception):
            int(tx.run("charm_state_set", model=MODEL.uuid, unit="no/0", key="k", value="v"))

    with pytest.raises(StoreError, match="transaction is aborted"):
        pass_over()
    note(store, "a")
    assert noted(store) == {"a"}
