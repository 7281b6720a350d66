"""Writes that become durable later: what the writer, and others, see of them.

The tests run on both engines.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.services.entities.machine.machines import new_machine
from pushjuju.store.db import Store
from pushjuju.store.leases import DeferredStore
from pushjuju.store.rows.records import Machine
from pushjuju.store.statements import queries
from pushjuju.store.tx import ModelTx, Tx
from tests.unit.store.conftest import ENGINES, MODEL, place_of
from tests.unit.store.test_cache import Overheard

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


def add_machine(store: Store) -> str:
    with store.write() as tx:
        return new_machine(
            ModelTx(tx, MODEL.uuid, MODEL.created), base=Base("ubuntu", "24.04"), constraints={}
        ).id


def set_attempts(tx: Tx, machine: str, number: int) -> None:
    key: dict[str, Any] = {"model": MODEL.uuid, "id": machine}
    tx.change(Machine, "machine_get", "machine_set_attempts", key, attempts=number)


def attempts(store: Store, machine: str) -> int:
    with store.read(MODEL.uuid) as tx:
        return tx.get(Machine, "machine_get", "no machine", model=MODEL.uuid, id=machine).attempts


async def test_changes_of_a_row_by_several_parts_are_written_once(store: Store, beside: Store) -> None:
    store.remember()
    first, second = (add_machine(store) for _ in range(2))
    deferred, written = DeferredStore(store), queries()["machine_set_attempts"]
    asked = Overheard.of(store)
    for number in (1, 2, 3):
        for machine in (first, second):
            with deferred.write(MODEL.uuid) as tx:
                set_attempts(tx, machine, number)
            assert attempts(store, machine) == number
    assert written not in asked
    await deferred.durable()
    assert asked.count(written) == 2
    assert [attempts(beside, machine) for machine in (first, second)] == [3, 3]


@pytest.mark.parametrize("reads", [False, True], ids=["held back", "run before"])
async def test_a_change_of_an_earlier_part_outlives_a_part_that_fails(
    store: Store, beside: Store, reads: bool
) -> None:
    store.remember()
    first, second = (add_machine(store) for _ in range(2))
    deferred = DeferredStore(store)
    with deferred.write(MODEL.uuid) as tx:
        set_attempts(tx, first, 3)
    with contextlib.suppress(ZeroDivisionError), deferred.write(MODEL.uuid) as tx:
        set_attempts(tx, first, 4)
        set_attempts(tx, second, 4)
        if reads:  # the changes are written before
            assert [row["attempts"] for row in tx.rows("machine_list", model=MODEL.uuid)] == [4, 4]
        raise ZeroDivisionError
    assert [attempts(store, machine) for machine in (first, second)] == [3, 0]
    await deferred.durable()
    assert [attempts(beside, machine) for machine in (first, second)] == [3, 0]


async def test_a_read_of_another_row_leaves_changes_held_back(store: Store) -> None:
    store.remember()
    first, second = (add_machine(store) for _ in range(2))
    written = queries()["machine_set_attempts"]
    asked = Overheard.of(store)
    with DeferredStore(store).write(MODEL.uuid) as tx:
        set_attempts(tx, first, 3)
        tx.get(Machine, "machine_get", "no machine", model=MODEL.uuid, id=second)
        assert written not in asked
        tx.rows("machine_list", model=MODEL.uuid)
        assert asked.count(written) == 1
