"""The work queue: due times, leases, heartbeats, owners that die.

The tests run on both engines.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from pushjuju.core.problems import Problem, Subject
from pushjuju.store.db import Store
from pushjuju.store.processes import lives_here, process_owner
from pushjuju.store.queue import (
    LEASE_S,
    ROUTINE,
    WorkQueue,
    failed_since,
    machine_key,
    model_key,
    touch,
    touch_routine,
)
from tests.unit.store.conftest import ENGINES, place_of
from tests.waiting import comes
from tests.world.clock import FakeClock

KEY = machine_key("m", "0")


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Path | str:
    return place_of(request)


@pytest.fixture
def queue(store: Store) -> WorkQueue:
    return WorkQueue(store, "host:1:1", lives=lambda owner: True)


@pytest.fixture
def other(beside: Store) -> WorkQueue:
    return WorkQueue(beside, "host:2:2", lives=lambda owner: True)


def due(
    store: Store,
    queue: WorkQueue,
    clock: FakeClock,
    key: str = KEY,
    seconds: float = 0,
    reason: str = "",
) -> None:
    with store.write() as tx:
        queue.touch(tx, key, clock.now() + timedelta(seconds=seconds), reason)


def test_keys() -> None:
    assert machine_key("m", "0/lxd/1") == "m/machine/0/lxd/1"
    assert model_key("m", "cleanup") == "m/loop/cleanup"


def test_nothing_is_due_in_an_empty_queue(queue: WorkQueue, clock: FakeClock) -> None:
    assert queue.claim("", clock.now()) is None
    assert queue.items("") == []


def test_work_is_claimed_when_it_is_due(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    due(store, queue, clock, seconds=60, reason="retry")
    assert queue.claim("", clock.now()) is None
    clock.advance(60)
    claim = queue.claim("", clock.now())
    assert claim
    assert (claim.key, claim.owner, claim.reason, claim.attempts) == (KEY, "host:1:1", "retry", 0)


def test_a_touch_belongs_to_its_transaction(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    with pytest.raises(KeyError), store.write() as tx:  # noqa: PT012 - the block is the transaction
        touch(tx, KEY, clock.now())
        tx.run("no_such_statement")
    assert queue.claim("", clock.now()) is None


@pytest.mark.parametrize(
    ("before", "reason"),
    [(None, ROUTINE), (("", 0), ROUTINE), (("config", 0), "config"), (("config", 5), ROUTINE)],
)
def test_a_touch_for_update_status_keeps_the_reason_of_a_request_that_is_due(
    store: Store, queue: WorkQueue, clock: FakeClock, before: tuple[str, int] | None, reason: str
) -> None:
    if before is not None:
        due(store, queue, clock, reason=before[0], seconds=before[1])
    with store.write() as tx:
        touch_routine(tx, KEY, clock.now())
    claim = queue.claim("", clock.now())
    assert claim
    assert claim.reason == reason


def test_a_touch_for_update_status_keeps_the_problems_of_work_that_failed(
    store: Store, queue: WorkQueue, clock: FakeClock
) -> None:
    due(store, queue, clock)
    claim = queue.claim("", clock.now())
    assert claim
    queue.finish(claim, clock.now(), clock.now() + timedelta(seconds=60), problems=[Problem("no answer")])
    with store.write() as tx:
        touch_routine(tx, KEY, clock.now())
        assert failed_since(tx, "", claim.lease) == {KEY: (Problem("no answer"),)}


def test_an_earlier_due_time_stays(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    due(store, queue, clock, seconds=10)
    due(store, queue, clock, seconds=500)
    assert [item.due for item in queue.items("")] == [clock.now() + timedelta(seconds=10)]
    due(store, queue, clock, seconds=5)
    assert [item.due for item in queue.items("")] == [clock.now() + timedelta(seconds=5)]


def test_the_key_that_waits_longest_is_first_and_prefixes_part_the_models(
    store: Store, queue: WorkQueue, clock: FakeClock
) -> None:
    due(store, queue, clock, key="m/machine/1", seconds=2)
    due(store, queue, clock, key="m/machine/0", seconds=1)
    due(store, queue, clock, key="n/machine/0", seconds=0)
    clock.advance(5)
    claimed = [queue.claim(prefix, clock.now()) for prefix in ("m/", "m/", "m/", "")]
    assert [claim and claim.key for claim in claimed] == ["m/machine/0", "m/machine/1", None, "n/machine/0"]


def test_many_keys_are_claimed_at_once(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    for number in range(200):
        due(store, queue, clock, key=f"m/machine/{number}", seconds=number)
    clock.advance(500)
    first = queue.claim_some("m/", clock.now(), 70)
    assert [claim.key for claim in first] == [f"m/machine/{number}" for number in range(70)]
    assert len({claim.lease for claim in first}) == 70
    busy = {f"m/machine/{number}" for number in range(70, 190)}
    rest = queue.claim_some("m/", clock.now(), 70, busy=busy)
    assert [claim.key for claim in rest] == [f"m/machine/{number}" for number in range(190, 200)]


def test_what_others_hold_hides_nothing_behind_it(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    for number in range(200):
        due(store, queue, clock, key=f"m/machine/{number}", seconds=number)
    clock.advance(500)
    assert len(other.claim_some("", clock.now(), 150)) == 150
    assert [claim.key for claim in queue.claim_some("", clock.now(), 1)] == ["m/machine/150"]


def test_whether_anything_is_due(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    due(store, queue, clock, seconds=10)
    assert not queue.anything_due("", clock.now())
    clock.advance(10)
    assert queue.claim("", clock.now())
    assert queue.anything_due("m/", clock.now())  # it is, until it is given back
    assert not queue.anything_due("n/", clock.now())


def test_one_key_has_one_owner(store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock) -> None:
    due(store, queue, clock)
    assert queue.claim("", clock.now())
    assert queue.claim("", clock.now()) is None
    assert other.claim("", clock.now()) is None


def test_a_finished_key_rests_until_it_is_touched(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    due(store, queue, clock)
    claim = queue.claim("", clock.now())
    assert claim
    queue.finish(claim, clock.now(), None)
    clock.advance(10**6)
    assert other.claim("", clock.now()) is None
    due(store, queue, clock)
    assert other.claim("", clock.now())


def test_a_key_is_given_back_with_its_next_time_and_count(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    due(store, queue, clock)
    claim = queue.claim("", clock.now())
    assert claim
    queue.finish(claim, clock.now(), clock.now() + timedelta(seconds=5), attempts=3, reason="no answer")
    assert other.claim("", clock.now()) is None
    clock.advance(5)
    again = other.claim("", clock.now())
    assert again
    assert (again.attempts, again.reason) == (3, "no answer")


def test_what_failed_keeps_its_subject(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    failed = (Problem('no "nft"; unit web/1: gone'), Problem.of(Subject("unit", "web/0"), "boom", "wait"))
    due(store, queue, clock)
    claim = queue.claim("", clock.now())
    assert claim
    queue.finish(claim, clock.now(), clock.now(), attempts=1, problems=failed)
    with store.read() as tx:
        assert failed_since(tx, "", claim.lease) == {KEY: failed}
        assert failed_since(tx, "", claim.lease + 1) == {}
    (item,) = queue.items("")
    assert item.reason == 'no "nft"; unit web/1: gone; unit web/0: boom; next: wait'
    again = queue.claim("", clock.now())
    assert again
    assert again.reason == item.reason


@pytest.mark.parametrize("reason", ["config changed", "unit web/0: boom", "5", "[]", '["a"]'])
def test_a_reason_that_names_no_problem_is_a_problem_of_its_key(
    store: Store, queue: WorkQueue, clock: FakeClock, reason: str
) -> None:
    """A store of an earlier version keeps a text; a wake after the failure leaves a text too."""
    due(store, queue, clock)
    claim = queue.claim("", clock.now())
    assert claim
    queue.finish(claim, clock.now(), None, problems=(Problem("boom"),))
    due(store, queue, clock, reason=reason)
    with store.read() as tx:
        assert failed_since(tx, "", claim.lease) == {KEY: (Problem(reason),)}


def test_a_touch_while_it_is_worked_is_not_lost(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    due(store, queue, clock)
    claim = queue.claim("", clock.now())
    assert claim
    due(store, queue, clock)
    assert other.claim("", clock.now()) is None
    queue.finish(claim, clock.now(), None)
    assert other.claim("", clock.now())


def test_a_lease_ends_without_a_heartbeat(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    due(store, queue, clock)
    mine = queue.claim("", clock.now())
    assert mine
    clock.advance(LEASE_S - 1)
    assert other.claim("", clock.now()) is None
    assert queue.heartbeat(mine, clock.now())
    clock.advance(LEASE_S - 1)
    assert other.claim("", clock.now()) is None
    clock.advance(1)
    theirs = other.claim("", clock.now())
    assert theirs
    assert theirs.owner == "host:2:2"
    assert not queue.heartbeat(mine, clock.now())
    queue.finish(mine, clock.now(), None)  # too late: says nothing about their lease
    assert [item.owner for item in queue.items("")] == ["host:2:2"]


def test_what_people_see_of_the_queue(store: Store, queue: WorkQueue, clock: FakeClock) -> None:
    due(store, queue, clock, reason="config changed")
    due(store, queue, clock, key="n/loop/x")
    assert queue.claim("m/", clock.now())
    (item,) = queue.items("m/")
    assert (item.key, item.due, item.owner, item.reason) == (KEY, clock.now(), "host:1:1", "config changed")
    with store.write() as tx:
        assert tx.scalar("work_next_due", prefix="n/") is not None
        tx.run("work_delete_prefix", prefix="n/")
        tx.run("work_delete", key=KEY)
    assert queue.items("") == []


def test_this_process_is_alive() -> None:
    assert lives_here(process_owner())


@pytest.mark.parametrize(
    ("change", "alive"),
    [
        (
            lambda host, pid, start: f"{host}:{pid}:{int(start) + 1}",
            False,
        ),  # the pid was given to another process
        (lambda host, pid, start: f"{host}:4194305:{start}", False),  # no such pid
        (lambda host, pid, start: f"elsewhere:{pid}:0", None),  # another host: only its lease tells
        (lambda host, pid, start: "nonsense", None),
    ],
)
def test_which_process_lives(change: object, alive: bool | None) -> None:
    assert lives_here(change(*process_owner().rsplit(":", 2))) is alive  # type: ignore[operator]


CLAIM_AND_HANG = """
import sys, time
from pathlib import Path
from datetime import UTC, datetime
from pushjuju.store.db import Store
from pushjuju.store.processes import process_owner
from pushjuju.store.queue import WorkQueue
store = Store.open(sys.argv[1] if "://" in sys.argv[1] else Path(sys.argv[1]))
store.appear()
claim = WorkQueue(store, process_owner()).claim("", datetime.now(UTC))
print("claimed", claim.key, flush=True)
if sys.argv[2] == "in a transaction":
    with store.write() as tx:
        tx.run("work_touch", key="half", due="2000-01-01T00:00:00.000000Z", reason="", trace="", cause="")
        print("writing", flush=True)
        time.sleep(60)
time.sleep(60)
"""


@pytest.mark.parametrize("moment", ["between transactions", "in a transaction"])
@pytest.mark.parametrize("buried", [True, False], ids=["buried", "zombie"])
def test_the_lease_of_a_killed_process_is_free_at_once(
    store: Store, place: Path | str, clock: FakeClock, moment: str, buried: bool
) -> None:
    mine = WorkQueue(store, process_owner())
    due(store, mine, clock)
    comes(lambda: store.lives("dead:4194305:1") is not None or isinstance(place, Path))
    with subprocess.Popen(
        [sys.executable, "-c", CLAIM_AND_HANG, str(place), moment], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == f"claimed {KEY}\n"
        if moment == "in a transaction":
            assert child.stdout.readline() == "writing\n"
        row = mine.items("")[0]
        assert row.owner != process_owner()
        child.send_signal(signal.SIGKILL)
        if buried:
            child.wait()
        else:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        killed, claim = time.monotonic(), mine.claim("", clock.now())  # far before the lease ends
        while claim is None and isinstance(place, str) and time.monotonic() - killed < 2:
            claim = mine.claim("", clock.now())  # a server has to notice the death
    assert claim
    assert claim.key == KEY
    assert row.leased_until
    assert row.leased_until > clock.now() + timedelta(seconds=LEASE_S)
    assert [item.key for item in mine.items("")] == [KEY]  # the half transaction is gone


def test_a_key_is_left_for_a_moment_to_the_process_that_works_most_on_its_model(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    first, second, third, mine = (machine_key("m", str(number)) for number in range(4))
    for key in (first, second):
        due(store, queue, clock, key)
    held = {claim.key for claim in queue.claim_some("", clock.now(), 9)}
    assert held == {first, second}
    for key in (third, mine, machine_key("n", "0")):
        due(store, queue, clock, key)
    assert [claim.key for claim in other.claim_some("", clock.now(), 9)] == [machine_key("n", "0")]
    clock.advance(0.1)
    assert other.claim("", clock.now(), busy=[machine_key("n", "0")])
    assert queue.claim("", clock.now(), busy=held)


def test_a_process_with_more_keys_of_a_model_takes_the_others_at_once(
    store: Store, queue: WorkQueue, other: WorkQueue, clock: FakeClock
) -> None:
    keys = [machine_key("m", str(number)) for number in range(4)]
    due(store, queue, clock, keys[0])
    assert other.claim("", clock.now())
    for key in keys[1:]:
        due(store, queue, clock, key)
    clock.advance(0.1)
    held = {claim.key for claim in queue.claim_some("", clock.now(), 2)}
    due(store, queue, clock, machine_key("m", "9"))
    assert queue.claim("", clock.now(), busy=held)


def test_no_key_is_left_to_a_process_that_has_died(
    store: Store, queue: WorkQueue, beside: Store, clock: FakeClock
) -> None:
    heir = WorkQueue(beside, "host:2:2", lives=lambda owner: False)
    due(store, queue, clock)
    assert queue.claim("", clock.now())
    due(store, queue, clock, machine_key("m", "1"))
    assert len(heir.claim_some("", clock.now(), 9)) == 2
