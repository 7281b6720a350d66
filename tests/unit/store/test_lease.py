"""A lease that another one has taken over is worth nothing, whatever its former holder believes.

The tests run on both engines.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pushjuju.core.errors import LeaseLost
from pushjuju.store.db import Store
from pushjuju.store.leases import LeasedStore
from pushjuju.store.queue import LEASE_S, Claim, WorkQueue, machine_key, touch
from tests.unit.store.conftest import ENGINES, MODEL, place_of
from tests.world.clock import FakeClock

KEY = machine_key("m", "0")


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


@pytest.fixture
def queue(store: Store, clock: FakeClock) -> WorkQueue:
    with store.write() as tx:
        touch(tx, KEY, clock.now())
    return WorkQueue(store, "host:1:1", lives=lambda owner: True)


@pytest.fixture
def other(queue: WorkQueue, beside: Store) -> WorkQueue:
    return WorkQueue(beside, "host:2:2", lives=lambda owner: True)


def claimed(queue: WorkQueue, clock: FakeClock) -> Claim:
    claim = queue.claim("", clock.now())
    assert claim
    return claim


def note(store: Store, value: str) -> None:
    with store.write() as tx:
        tx.run("model_config_set", model=MODEL.uuid, key="note", value=value)


def noted(store: Store) -> str | None:
    with store.read() as tx:
        return tx.scalar("model_config_get", model=MODEL.uuid, key="note")


def test_holder_writes(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    held = LeasedStore(store, claimed(queue, clock))
    note(held, "mine")
    assert noted(store) == noted(held) == "mine"


def test_who_lost_the_lease_writes_nothing_and_still_reads(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    held = LeasedStore(store, claimed(queue, clock))
    clock.advance(LEASE_S)
    note(held, "late, but nobody took it")
    claimed(other, clock)
    with pytest.raises(LeaseLost, match=f"another controller process works on {KEY} now"):
        note(held, "too late")
    assert noted(held) == "late, but nobody took it"


@pytest.mark.parametrize("by", ["another process", "this process"])
def test_lease_that_was_given_back_is_lost(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock, by: str
) -> None:
    old = claimed(queue, clock)
    clock.advance(LEASE_S)
    second = other if by == "another process" else queue
    new = claimed(second, clock)
    assert new.lease > old.lease
    second.finish(new, clock.now(), clock.now())
    for _ in range(2):
        with pytest.raises(LeaseLost):
            note(LeasedStore(store, old), "too late")
        claimed(queue, clock)  # a new lease of the same process makes the old one no better
        assert not queue.heartbeat(old, clock.now())
        queue.finish(old, clock.now(), None)
        clock.advance(LEASE_S)


def test_lease_of_a_key_that_is_gone_is_lost(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    old = claimed(queue, clock)
    with store.write() as tx:
        tx.run("work_delete", key=KEY)
    with pytest.raises(LeaseLost):
        note(LeasedStore(store, old), "too late")
    with store.write() as tx:
        touch(tx, KEY, clock.now())
    assert claimed(queue, clock).lease > old.lease
    with pytest.raises(LeaseLost):
        note(LeasedStore(store, old), "too late")


def test_own_lease_that_ran_out_is_free_unless_it_is_still_worked(queue: WorkQueue, clock: FakeClock) -> None:
    first = claimed(queue, clock)
    assert queue.claim("", clock.now()) is None
    clock.advance(LEASE_S)
    assert queue.claim("", clock.now(), busy={KEY}) is None
    assert claimed(queue, clock).lease > first.lease


def test_transactions_do_not_nest_with_a_lease_either(
    store: Store, queue: WorkQueue, clock: FakeClock
) -> None:
    from pushjuju.core.errors import StoreError

    held = LeasedStore(store, claimed(queue, clock))
    with held.write(), pytest.raises(StoreError, match="open already"), store.read():
        pass
