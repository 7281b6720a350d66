"""Writes that become durable later: what the writer, and others, see of them.

The tests run on both engines.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from pushjuju.store.db import Store
from pushjuju.store.leases import DeferredStore
from tests.unit.store.conftest import ENGINES, place_of

NAMES = "abcdefgh"


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


def numbers(store: Store) -> set[str]:
    """Return the names of the sequences."""
    with store.read() as tx:
        return {name for name in NAMES if tx.scalar("sequence_get", scope="", name=name) is not None}


def count(store: Store, name: str) -> None:
    with store.write() as tx:
        tx.next("", name)


async def test_the_writer_sees_its_write_at_once_and_others_once_it_is_durable(
    store: Store, beside: Store
) -> None:
    deferred = DeferredStore(store)
    count(deferred, "a")
    assert numbers(deferred) == {"a"}
    await deferred.durable()
    assert numbers(beside) == {"a"}


async def test_many_writers_of_one_round_are_durable_together(store: Store, beside: Store) -> None:
    async def one(name: str) -> None:
        deferred = DeferredStore(store)
        count(deferred, name)
        await deferred.durable()
        assert name in numbers(beside)

    await asyncio.gather(*(one(name) for name in NAMES))
    assert numbers(beside) == set(NAMES)


async def test_a_part_that_fails_is_undone_alone(store: Store, beside: Store) -> None:
    deferred = DeferredStore(store)
    count(deferred, "a")
    with contextlib.suppress(ZeroDivisionError), deferred.write() as tx:
        tx.next("", "b")
        raise ZeroDivisionError
    count(deferred, "c")
    await deferred.durable()
    assert numbers(beside) == {"a", "c"}


async def test_a_write_that_must_be_durable_takes_the_others_with_it(store: Store, beside: Store) -> None:
    count(DeferredStore(store), "a")
    count(store, "b")
    assert numbers(beside) == {"a", "b"}


async def test_a_store_that_is_closed_loses_no_write(store: Store, beside: Store) -> None:
    count(DeferredStore(store), "a")
    store.close()
    assert numbers(beside) == {"a"}


def test_without_an_event_loop_a_write_is_durable_at_once(store: Store, beside: Store) -> None:
    count(DeferredStore(store), "a")
    assert numbers(beside) == {"a"}
