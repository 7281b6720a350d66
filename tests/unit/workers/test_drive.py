"""The driver: every claim is given back, failures rest with a reason, the rest goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import (
    AuthFailed,
    NotValid,
    Overtaken,
    ProviderError,
    StoreAway,
    StoreBusy,
    StoreDamaged,
    StoreError,
)
from pushjuju.core.values import changed
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.machine import machines
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.store.leases import renewed
from pushjuju.store.queue import WorkQueue, lease_at_least, machine_key, next_lease
from pushjuju.workers import driver as drives
from pushjuju.workers import heartbeat
from pushjuju.workers.driver import Driver
from pushjuju.workers.machine.machine_worker import MachineWorker, Outcome
from tests.waiting import stays, until
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, PlayedSession, drive, driver, queued, rest_of
from tests.world.said import problems_of


async def test_nothing_to_do(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    assert (await drive(runtime, work)).problems == ()
    assert (await drive(runtime, work)).problems == ()


async def test_every_claim_is_given_back(runtime: TestController) -> None:
    runtime.deploy(count=3)
    await drive(runtime, PlayedRuntime(runtime))
    items = queued(runtime)
    assert sorted(items) == ["loop/cleanup", "machine/0", "machine/1", "machine/2"]
    assert {item.owner for item in items.values()} == {None}
    assert all(item.due is not None and item.due > runtime.clock.now() for item in items.values())


async def test_failures_rest_and_have_a_reason(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(count=2)
    work.unreachable["1"] = AuthFailed("the machine refuses the login", detail="tried 1 key", retryable=False)
    settled = await drive(runtime, work)
    assert problems_of(settled) == ("machine 1: the machine refuses the login: tried 1 key",)
    item = queued(runtime)["machine/1"]
    assert (item.owner, item.attempts) == (None, 1)
    assert item.reason == "the machine refuses the login: tried 1 key"
    assert rest_of(runtime, "machine/1") == 5
    assert runtime.agent("web/0") == ("idle", "")  # the other machine was worked all the same


async def test_failures_in_a_row_back_off(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    work.unreachable["0"] = AuthFailed("refused", retryable=False)
    rests = []
    for _ in range(4):
        await drive(runtime, work)
        rests.append(rest_of(runtime, "machine/0"))
        runtime.clock.advance(rests[-1])
    assert rests == [5, 10, 20, 40]
    work.unreachable.clear()
    assert (await drive(runtime, work)).problems == ()
    assert (queued(runtime)["machine/0"].attempts, queued(runtime)["machine/0"].reason) == (0, "")


async def test_a_touch_is_heard_during_the_rest(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy()
    work.unreachable["0"] = AuthFailed("refused", retryable=False)
    await drive(runtime, work)
    work.unreachable.clear()
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    assert (await drive(runtime, work)).problems == ()
    assert runtime.agent() == ("idle", "")


async def test_start_that_failed_for_good_is_not_tried_for_ever(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [NotValid("no such zone")]
    assert problems_of(await drive(runtime, work)) == ("machine 0: failed to start machine 0: no such zone",)
    item = queued(runtime)["machine/0"]
    assert (item.due, item.owner) == (None, None)


async def test_start_that_failed_rests_ten_seconds(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    work.cloud.refusals = [ProviderError("busy")]
    await drive(runtime, work)
    assert rest_of(runtime, "machine/0") == 10
    runtime.clock.advance(10)
    assert (await drive(runtime, work)).problems == ()


async def test_units_in_error_are_problems(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy(count=2)
    runtime.played("1").fail("start")
    settled = await drive(runtime, work)
    assert problems_of(settled) == ('unit web/1: hook failed: "start"',)
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/1"], retry=True)
    assert (await drive(runtime, work)).problems == ()


# --- bugs -------------------------------------------------------------------------------------------------


async def test_a_bug_gives_the_claim_back_and_is_seen(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.deploy()

    async def broken(worker: MachineWorker) -> Outcome:
        raise RuntimeError("a bug")

    monkeypatch.setattr(MachineWorker, "work", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        await drive(runtime, PlayedRuntime(runtime))
    item = queued(runtime)["machine/0"]
    assert (item.owner, item.attempts, item.reason) == (None, 1, "internal error: RuntimeError('a bug')")
    assert rest_of(runtime, "machine/0") == drives.AFTER_BUG_S


async def test_a_bug_does_not_end_a_controller(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime.deploy(count=2)
    real = MachineWorker.work

    async def broken(worker: MachineWorker) -> Outcome:
        if worker.machine_id == "0":
            raise RuntimeError("a bug")
        return await real(worker)

    monkeypatch.setattr(MachineWorker, "work", broken)
    monkeypatch.setattr(drives, "IDLE_POLL_S", 0.01)
    serving = driver(runtime, PlayedRuntime(runtime))
    await serving.run(asyncio.Event(), idle_exit_s=0.02)
    assert runtime.agent("web/1") == ("idle", "")
    assert "RuntimeError: a bug" in capsys.readouterr().err
    assert queued(runtime)["machine/0"].owner is None


async def test_a_heartbeat_that_fails_does_not_keep_the_claim(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store was busy for a while: the key must not stay with us for ever."""
    runtime.deploy()
    beats = 0

    def busy(queue: Any, claim: Any, now: Any, **_: Any) -> bool:
        nonlocal beats
        beats += 1
        raise StoreBusy("held by another process")

    real = MachineWorker.work

    async def slow(worker: MachineWorker) -> Outcome:
        await until(lambda: beats)
        return await real(worker)

    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(WorkQueue, "heartbeat", busy)
    monkeypatch.setattr(MachineWorker, "work", slow)
    assert (await drive(runtime, PlayedRuntime(runtime))).problems == ()
    assert queued(runtime)["machine/0"].owner is None
    assert runtime.agent() == ("idle", "")


async def test_work_ends_with_a_lease_that_cannot_be_renewed(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may have taken the machine, where this process must not begin anything more."""
    runtime.deploy()
    ends = []

    def unreachable(queue: Any, claim: Any, now: Any, **_: Any) -> bool:
        raise StoreBusy("held by another process")

    async def endless(worker: MachineWorker) -> Outcome:
        if ends:
            return Outcome()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append(worker)
        raise AssertionError

    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(heartbeat, "LEASE_S", 0.05)
    monkeypatch.setattr(WorkQueue, "heartbeat", unreachable)
    monkeypatch.setattr(MachineWorker, "work", endless)
    await drive(runtime, PlayedRuntime(runtime))
    assert len(ends) == 1


async def test_leases_that_are_renewed_together_wait_for_the_disk_once(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        runtime.write(lambda tx, number=number: wake.machine(tx, str(number), "test"))
    one = driver(runtime, PlayedRuntime(runtime))
    claims = one.queue.claim_some(runtime.model, runtime.clock.now(), 5)
    store, flushes = runtime.ctx.store, list[bool]()
    group, flush, now = store.group(), store.group().flush, runtime.clock.now()

    def counted() -> None:
        if group.is_open or not getattr(store.engine, "is_durable", True):
            flushes.append(True)
        flush()

    monkeypatch.setattr(group, "flush", counted)
    held = await asyncio.gather(*(renewed(store, one.queue, claim, now) for claim in claims))
    assert (held, len(flushes)) == ([True] * 5, 1)


async def test_leases_are_renewed(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.deploy()
    kept = []

    def leased() -> bool:
        row = runtime.read(lambda tx: tx.row("work_get", key=machine_key(runtime.model, "0")))
        return bool(row["leased_until"] > to_iso(runtime.clock.now()))

    async def slow(worker: MachineWorker) -> Outcome:
        for _ in range(3):
            runtime.clock.advance(20)
            await until(leased)
            kept.append(True)
        return Outcome()

    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(MachineWorker, "work", slow)
    await drive(runtime, PlayedRuntime(runtime))
    assert kept == [True] * 3


# --- stopping and sharing ---------------------------------------------------------------------------------


async def test_interrupted_work_is_due_at_once(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.deploy()
    begun = asyncio.Event()

    async def endless(worker: MachineWorker) -> Outcome:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(MachineWorker, "work", endless)
    task = asyncio.create_task(drive(runtime, PlayedRuntime(runtime)))
    await begun.wait()
    assert queued(runtime)["machine/0"].owner is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    item = queued(runtime)["machine/0"]
    assert (item.owner, item.due, item.reason) == (None, runtime.clock.now(), "interrupted")


async def test_work_that_has_just_ended_is_given_back_though_all_ends(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end comes while a task waits for its heartbeat, which takes its time."""
    runtime.deploy()
    begun, ended = asyncio.Event(), asyncio.Event()

    async def renew(_heartbeat: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
            await asyncio.Event().wait()

    async def work(_lane: MachineWorker) -> Outcome:
        await begun.wait()
        return Outcome()

    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(heartbeat.Heartbeat, "_renew", renew)
    monkeypatch.setattr(MachineWorker, "work", work)
    task = asyncio.create_task(drive(runtime, PlayedRuntime(runtime)))
    await ended.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert queued(runtime)["machine/0"].owner is None


async def test_controller_told_to_stop(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drives, "IDLE_POLL_S", 0.01)
    runtime.deploy()
    stop = asyncio.Event()
    serving = asyncio.create_task(driver(runtime, PlayedRuntime(runtime), prefix="").run(stop))
    await until(lambda: runtime.agent() == ("idle", ""))
    stop.set()
    await serving


async def test_one_prefix_leaves_other_models_alone(runtime: TestController) -> None:

    other = add_model(runtime.ctx, AddModelOptions(name="other"))
    runtime.deploy()
    runtime.write(lambda tx: wake.machine(tx.beside(other.uuid), "0", "r"))
    await drive(runtime, PlayedRuntime(runtime))
    queue = WorkQueue(runtime.ctx.store, "x")
    assert {item.due for item in queue.items(other.uuid)} == {runtime.clock.now()}


async def test_work_of_another_process_is_waited_for(runtime: TestController) -> None:
    """settle ends when nothing is due anywhere, also not in the hands of somebody else."""
    runtime.deploy()
    other = WorkQueue(runtime.ctx.store, "other:1:1", lives=lambda owner: True)
    claim = other.claim(machine_key(runtime.model, "0"), runtime.clock.now())
    assert claim is not None
    work = PlayedRuntime(runtime)
    made = driver(runtime, work)
    made.queue = WorkQueue(runtime.ctx.store, "me:1:1", lives=lambda owner: True)
    settling = asyncio.create_task(made.settle())
    await stays(lambda: not settling.done() and work.cloud.asked == [], 0.15)
    other.finish(claim, runtime.clock.now(), runtime.clock.now() + timedelta(hours=1))
    async with asyncio.timeout(5):
        await settling


async def test_who_waits_for_another_process_looks_less_often_after_a_while(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look costs the other process some of the store."""
    runtime.deploy()
    other = WorkQueue(runtime.ctx.store, "other:1:1", lives=lambda owner: True)
    claim = other.claim(machine_key(runtime.model, "0"), runtime.clock.now())
    assert claim is not None
    made, waits = driver(runtime, PlayedRuntime(runtime)), list[float]()
    made.queue = WorkQueue(runtime.ctx.store, "me:1:1", lives=lambda owner: True)

    async def wait(self: Driver, seconds: float) -> None:
        waits.append(seconds)
        runtime.clock.advance(seconds)
        if sum(waits) > 20 and not self._tasks:
            other.finish(claim, runtime.clock.now(), runtime.clock.now() + timedelta(hours=1))
        await asyncio.sleep(0)

    monkeypatch.setattr(Driver, "_wait", wait)
    monkeypatch.setattr(drives, "time", SimpleNamespace(monotonic=lambda: sum(waits)))
    await made.settle()
    assert waits[:9] == [drives.POLL_S] * 9
    assert waits[-1] == drives.IDLE_POLL_S
    assert len(waits) < 80


async def test_what_failed_in_another_process_is_told(runtime: TestController) -> None:
    """Another process may work what a command wants before the command itself looks."""
    runtime.deploy()
    since = runtime.read(next_lease)
    faster = PlayedRuntime(runtime)
    faster.unreachable["0"] = AuthFailed("refused", retryable=False)
    await drive(runtime, faster)
    late = Driver(runtime.ctx, runtime.model, since=since)
    late.runtime = PlayedRuntime(runtime)
    assert problems_of(await late.settle()) == ("machine 0: refused",)
    assert late.runtime.opened == [], "the next try is not due yet"


async def test_what_failed_before_and_what_was_mended_elsewhere_is_not_told(runtime: TestController) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    work.unreachable["0"] = AuthFailed("refused", retryable=False)
    mine = driver(runtime, work)
    assert problems_of(await mine.settle()) == ("machine 0: refused",)
    assert (await drive(runtime, PlayedRuntime(runtime))).problems == (), "not of this command's time"
    runtime.clock.advance(5)
    await drive(runtime, PlayedRuntime(runtime))
    assert (await mine.settle()).problems == (), "another process did it"


async def test_work_of_a_dead_process_is_taken_over(runtime: TestController) -> None:
    runtime.deploy()
    dead = WorkQueue(runtime.ctx.store, "other:1:1", lives=lambda owner: False)
    assert dead.claim(machine_key(runtime.model, "0"), runtime.clock.now())
    made = driver(runtime, PlayedRuntime(runtime))
    made.queue = WorkQueue(runtime.ctx.store, "me:1:1", lives=lambda owner: False)
    async with asyncio.timeout(10):
        assert (await made.settle()).problems == ()
    assert runtime.agent() == ("idle", "")


def test_a_driver_is_cheap_to_make(runtime: TestController) -> None:
    assert Driver(runtime.ctx).anything_due()  # the cleaner of a new model


# --- leases -----------------------------------------------------------------------------------------------


def _take_over(runtime: TestController, key: str) -> WorkQueue:
    """Let another process hold a key."""
    ended, full = to_iso(runtime.clock.now()), f"{runtime.model}/{key}"
    runtime.ctx.store._connection.execute("UPDATE work SET leased_until = ? WHERE key = ?", [ended, full])
    queue = WorkQueue(runtime.ctx.store, "somebody else")
    assert queue.claim(full, runtime.clock.now()) is not None
    return queue


async def test_nothing_is_committed_without_the_lease(runtime: TestController) -> None:
    steps: list[str] = []
    frozen = asyncio.Event()

    def freeze(step: str) -> None:
        steps.append(step)
        if step == "result":
            _take_over(runtime, "machine/0")
            frozen.set()

    runtime.deploy()
    work = PlayedRuntime(runtime, freeze)
    made = driver(runtime, work)
    settling = asyncio.create_task(made.settle())
    await frozen.wait()
    await stays(lambda: steps[-1] == "result", 0.05)
    assert [row.state for row in runtime.open_operations()] == ["prepared"]
    assert list(runtime.played_machines["0"].results) == [runtime.open_operations()[0].id]
    assert queued(runtime)["machine/0"].owner == "somebody else"
    settling.cancel()
    await asyncio.gather(settling, return_exceptions=True)


async def test_lane_ends_at_the_next_heartbeat_without_the_lease(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.01)
    runtime.deploy()
    work = PlayedRuntime(runtime)
    hanging = asyncio.Event()

    async def hang(machine: Any) -> Any:
        hanging.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(work, "session", hang)
    made = driver(runtime, work)
    settling = asyncio.create_task(made.settle())
    await hanging.wait()
    _take_over(runtime, "machine/0")
    async with asyncio.timeout(5):
        await asyncio.gather(*made._tasks.values(), return_exceptions=True)
    assert queued(runtime)["machine/0"].owner == "somebody else"
    settling.cancel()
    await asyncio.gather(settling, return_exceptions=True)


async def test_serving_outlasts_a_store_that_cannot_be_used(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drives, "STORE_POLL_S", 0.01)
    runtime.deploy()
    work = PlayedRuntime(runtime)
    made, warnings = driver(runtime, work), []
    work.warn = warnings.append
    claim, refusals = (
        made.queue.claim_some,
        [
            *[StoreBusy("held by another")] * 3,
            StoreError("the disk is full", detail="on db1"),
        ],
    )

    def refuse(*args: Any, **more: Any) -> Any:
        if refusals:
            raise refusals.pop(0)
        return claim(*args, **more)

    monkeypatch.setattr(made.queue, "claim_some", refuse)
    await made.run(asyncio.Event(), idle_exit_s=0.1)
    assert warnings == ["held by another", "the disk is full: on db1", "the store can be used again"]
    assert runtime.agent() == ("idle", "")


@pytest.mark.parametrize("unheard", ["claim_some", "finish"])
async def test_a_key_is_not_kept_whose_claim_was_not_heard_of_or_whose_end_was_lost(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch, unheard: str
) -> None:
    """The clock stands still, so that no lease ends."""
    monkeypatch.setattr(drives, "STORE_POLL_S", 0.01)
    runtime.deploy()
    made = driver(runtime, PlayedRuntime(runtime))
    act, left = getattr(made.queue, unheard), 1

    def act_unheard(*args: Any, **more: Any) -> Any:
        nonlocal left
        if not left:
            return act(*args, **more)
        left = 0
        if unheard == "claim_some":
            assert act(*args, **more)
            raise StoreAway
        made.ctx.store.group().lost += 1
        return None

    monkeypatch.setattr(made.queue, unheard, act_unheard)
    await made.run(asyncio.Event(), idle_exit_s=0.1)
    assert not left
    assert {item.owner for item in queued(runtime).values()} == {None}


async def test_a_server_that_goes_away_while_a_process_starts_is_waited_for(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drives, "STORE_POLL_S", 0.01)
    runtime.deploy()
    work = PlayedRuntime(runtime)
    made, warnings = driver(runtime, work), []
    work.warn = warnings.append
    check, refusals = made.ctx.store.check, [StoreBusy("the store does not answer")]

    def refuse() -> None:
        if refusals:
            raise refusals.pop(0)
        check()

    monkeypatch.setattr(made.ctx.store, "check", refuse)
    await made.run(asyncio.Event(), idle_exit_s=0.1)
    assert warnings == ["the store does not answer", "the store can be used again"]
    assert runtime.agent() == ("idle", "")


async def test_who_leaves_when_idle_gives_up_a_store_that_stays_away(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A background process must not stay for ever after a store that nobody brings back."""
    monkeypatch.setattr(drives, "STORE_POLL_S", 0.01)
    monkeypatch.setattr(drives, "AWAY_S", 0.05)
    work = PlayedRuntime(runtime)
    work.warn = lambda text: None
    made = driver(runtime, work)

    def refuse(*_args: Any, **_more: Any) -> Any:
        raise StoreBusy("the store cannot be reached")

    monkeypatch.setattr(made.queue, "claim_some", refuse)
    async with asyncio.timeout(30):
        await made.run(asyncio.Event(), idle_exit_s=0.01)


async def test_who_leaves_when_idle_stays_for_a_forced_end(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`remove-unit --force` of a unit whose hooks fail: nobody else may come in a minute."""
    monkeypatch.setattr(drives, "IDLE_POLL_S", 0.01)
    runtime.deploy()
    await drive(runtime, PlayedRuntime(runtime))
    runtime.played_machines["0"].fail("stop", 100)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force())
    serving = asyncio.create_task(
        driver(runtime, PlayedRuntime(runtime)).run(asyncio.Event(), idle_exit_s=0.02)
    )
    await until(lambda: runtime.agent() == ("error", 'hook failed: "stop"'))
    await stays(lambda: not serving.done(), 0.3)
    runtime.clock.advance(61)
    await asyncio.wait_for(serving, 60)
    assert runtime.applications() == ["web"]
    assert runtime.units() == []


async def test_serving_ends_with_a_damaged_store(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = driver(runtime, PlayedRuntime(runtime))

    def refuse(*args: Any, **more: Any) -> Any:
        raise StoreDamaged("the store is damaged")

    monkeypatch.setattr(made.queue, "claim_some", refuse)
    with pytest.raises(StoreDamaged):
        await made.run(asyncio.Event(), idle_exit_s=0.1)


async def test_store_that_fails_is_not_the_fault_of_the_machine(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    assert (await drive(runtime, work)).problems == ()
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "new"}))
    monkeypatch.setattr("pushjuju.workers.machine.machine_run.commit", _full)
    before = runtime.machine("0")
    settled = await drive(runtime, work)
    assert problems_of(settled) == ("machine 0: the disk is full",)
    assert runtime.machine("0") == before
    monkeypatch.undo()
    runtime.clock.advance(6)
    assert (await drive(runtime, work)).problems == ()
    assert runtime.played_machines["0"].of("web/0")[-1] == "config-changed"
    assert runtime.agent() == ("idle", "")


def _full(*args: Any, **more: Any) -> Any:
    raise StoreError("the disk is full")


async def test_store_that_was_restored_catches_up_with_its_machines(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    later = lease_at_least(runtime.clock.now()) + 5000  # what machines heard of after the copy was made
    _overtake(monkeypatch, later)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "new"}))
    assert (await drive(runtime, work)).problems == ()
    assert runtime.played_machines["0"].of("web/0")[-1] == "config-changed"
    with runtime.ctx.store.read() as tx:
        assert tx.scalar("sequence_get", scope="", name="lease") > later


async def test_lease_that_a_machine_made_up_is_not_followed(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    _overtake(monkeypatch, 2**60)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "new"}))
    assert problems_of(await drive(runtime, work)) == (
        "machine 0: it works for another controller process now",
    )
    with runtime.ctx.store.read() as tx:
        assert tx.scalar("sequence_get", scope="", name="lease") < 2**50


def _overtake(monkeypatch: pytest.MonkeyPatch, lease: int) -> None:
    """Let the next operation be refused by its machine."""
    run, refusals = PlayedSession.run, [Overtaken("it works for another controller process now", lease)]

    async def refuse(self: PlayedSession, *args: Any) -> Any:
        if refusals:
            raise refusals.pop()
        return await run(self, *args)

    monkeypatch.setattr(PlayedSession, "run", refuse)


async def test_a_process_works_no_more_machines_at_a_time_than_it_is_told(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.deploy(count=4)
    run, now, most = PlayedSession.run, 0, 0

    async def counted(self: PlayedSession, *args: Any, **more: Any) -> Any:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0)
        try:
            return await run(self, *args, **more)
        finally:
            now -= 1

    monkeypatch.setattr(PlayedSession, "run", counted)
    work = PlayedRuntime(runtime)
    runtime.ctx = changed(runtime.ctx, at_once=2)
    assert problems_of(await drive(runtime, work)) == ()
    assert most == 2
