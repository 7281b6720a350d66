"""Who waits for update-status: a command only for its own, a process that serves for none."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.model.placement import Placement
from pushjuju.services.entities.model import model_config
from pushjuju.services.requests.application import settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.store.queue import WorkQueue
from pushjuju.workers import driver as drives
from pushjuju.workers.machine.machine_run import MachineRun
from tests.waiting import stays, until
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, PlayedSession, drive, driver, queued, rest_of
from tests.world.said import problems_of


@pytest.fixture
def slow_hooks(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> TestController:
    """Hooks take two seconds, update-status is due each second."""
    run = PlayedSession.run

    async def slow(self: PlayedSession, frame: Any, *args: Any, **more: Any) -> Any:
        runtime.clock.advance(2)
        await asyncio.sleep(0)
        return await run(self, frame, *args, **more)

    monkeypatch.setattr(PlayedSession, "run", slow)
    every_second = {model_config.INTERVAL: "1s"}
    runtime.write(lambda tx: model_config.change(tx, every_second))
    return runtime


async def test_a_command_does_not_wait_for_update_status_that_becomes_due_meanwhile(
    slow_hooks: TestController,
) -> None:
    """Where it is due each second, no command would ever be ready; what it asked for runs all the same."""
    runtime = slow_hooks
    runtime.deploy(count=3)
    work = PlayedRuntime(runtime)
    async with asyncio.timeout(20):
        assert (await drive(runtime, work)).problems == ()
        assert {runtime.agent(f"web/{number}") for number in range(3)} == {("idle", "")}
        for title, hooks in (
            ("one", ["config-changed"]),
            ("two", ["config-changed"]),
            ("two", ["update-status"]),
        ):
            runtime.clock.advance(2)
            settings.set_config(
                runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": title})
            )
            before = [len(runtime.played_machines[name].of(f"web/{name}")) for name in "012"]
            await drive(runtime, work)  # what was overdue when it began is worked with it, once
            after = [
                runtime.played_machines[name].of(f"web/{name}")[ran:]
                for name, ran in zip("012", before, strict=True)
            ]
            assert after == [hooks] * 3


async def test_who_stays_for_something_works_each_update_status(slow_hooks: TestController) -> None:
    runtime = slow_hooks
    runtime.deploy()
    work = PlayedRuntime(runtime)
    made = driver(runtime, work)

    def seen() -> bool:
        runtime.clock.advance(1)
        return runtime.played_machines["0"].of("web/0").count("update-status") > 3

    async with asyncio.timeout(20):
        await made.settle(seen)


async def test_what_another_process_does_in_its_own_time_is_not_waited_for(runtime: TestController) -> None:
    """A background process runs an update-status; a change that somebody asks for there is waited for."""
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    made = driver(runtime, work)
    since = made.runtime.routine_until = runtime.clock.now()
    runtime.clock.advance(600)
    other = WorkQueue(runtime.ctx.store, "another.host:1:1")
    (claim,) = other.claim_some(f"{runtime.model}/machine", runtime.clock.now(), 5)
    assert made.anything_due()
    assert not made._anything_asked(since)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    assert made._anything_asked(since)
    other.finish(claim, runtime.clock.now(), runtime.clock.now() + timedelta(seconds=1))
    assert made._anything_asked(since)  # touched while it was worked


@pytest.fixture
def endless(runtime: TestController, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An update-status hook that takes for ever; what ran, in order."""
    run, ran = PlayedSession.run, list[str]()

    async def held(self: PlayedSession, frame: Any, *args: Any, **more: Any) -> Any:
        ran.append(f"{frame.get('unit')} {frame.get('hook')}")
        if frame.get("hook") == "update-status":
            await asyncio.Event().wait()
        return await run(self, frame, *args, **more)

    monkeypatch.setattr(PlayedSession, "run", held)
    monkeypatch.setattr(drives, "PATIENCE_S", 0.1)
    return ran


async def test_a_command_ends_though_an_update_status_that_was_due_takes_long(
    runtime: TestController, endless: list[str]
) -> None:
    """What was asked for goes first, also where another unit of the machine comes before it by its name."""
    runtime.deploy(count=2)
    runtime.active("db", packed=runtime.charms.make("db"), placements=[Placement.parse("0")])
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    runtime.clock.advance(600)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    endless.clear()
    async with asyncio.timeout(5):
        settled = await drive(runtime, work)
    assert (problems_of(settled), settled.left) == ((), True)
    assert [ran for ran in endless if ran != "web/1 config-changed"] == [
        "web/0 config-changed",
        "db/0 update-status",
    ]
    assert endless.count("web/1 config-changed") == 1  # a machine of its own: before or after machine 0
    assert (queued(runtime)["machine/0"].owner, rest_of(runtime, "machine/0")) == (
        None,
        0,
    )  # others go on at once


async def test_who_asks_for_update_status_waits_for_it(runtime: TestController, endless: list[str]) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    runtime.clock.advance(600)
    unit_requests.make_due(runtime.ctx, runtime.model)
    made = driver(runtime, work)
    settling = asyncio.create_task(made.settle(routine=True))
    await until(lambda: "web/0 update-status" in endless)
    await stays(lambda: not settling.done(), 0.3)
    settling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settling


async def test_who_resolves_a_failed_update_status_waits_for_its_retry(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    runtime.played().fail("update-status")
    runtime.clock.advance(600)
    unit_requests.make_due(runtime.ctx, runtime.model)
    assert problems_of(await driver(runtime, work).settle(routine=True))
    run = PlayedSession.run

    async def slow(self: PlayedSession, *args: Any, **more: Any) -> Any:
        await stays(lambda: True, 0.3)  # longer than a command waits for what nobody asked for
        return await run(self, *args, **more)

    monkeypatch.setattr(PlayedSession, "run", slow)
    monkeypatch.setattr(drives, "PATIENCE_S", 0.1)
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=True)
    settled = await drive(runtime, work)
    assert (problems_of(settled), settled.left) == ((), False)


async def test_an_update_status_in_another_process_is_not_waited_for(
    runtime: TestController, endless: list[str]
) -> None:
    """That process works what was asked for, and goes over to update-status."""
    runtime.deploy()
    work = PlayedRuntime(runtime)
    runtime.active("db", packed=runtime.charms.make("db"), placements=[Placement.parse("0")])
    await drive(runtime, work)
    runtime.clock.advance(600)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    endless.clear()
    other = driver(runtime, PlayedRuntime(runtime))
    other.queue = WorkQueue(runtime.ctx.store, "other:1:1", lives=lambda owner: True)
    serving = asyncio.create_task(other.run(asyncio.Event()))
    await until(lambda: "db/0 update-status" in endless)
    mine = driver(runtime, PlayedRuntime(runtime))
    mine.queue = WorkQueue(runtime.ctx.store, "me:1:1", lives=lambda owner: True)
    async with asyncio.timeout(5):
        settled = await mine.settle()
    assert (problems_of(settled), settled.left) == ((), False)
    assert endless == ["web/0 config-changed", "db/0 update-status"]
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "y"}))
    waiting = asyncio.create_task(mine.settle())
    await stays(lambda: not waiting.done(), 0.3)  # for its own change there
    for task in (waiting, serving):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_each_hook_of_a_sweep_asks_its_own_unit_and_no_unit_at_rest(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hooks of a machine run one after the other, and a machine may have many units."""
    runtime.deploy()
    runtime.deploy("db", count=3, placements=[Placement.parse("0")] * 3)
    await drive(runtime, PlayedRuntime(runtime))
    unit_requests.make_due(runtime.ctx, runtime.model)
    asked, ask = list[str](), MachineRun._ask

    def noted(self: MachineRun, unit: Any, **more: Any) -> Any:
        asked.append(unit.name)
        return ask(self, unit, **more)

    monkeypatch.setattr(MachineRun, "_ask", noted)
    await drive(runtime, PlayedRuntime(runtime))
    ran = [runtime.played_machines["0"].of(unit)[-1] for unit in ("web/0", "db/0", "db/1", "db/2")]
    assert ran == ["update-status"] * 4
    assert len(asked) <= 4 + 4 + 4  # who comes first, whose turn it is, whether something is left


async def test_a_request_goes_before_an_update_status_that_is_requested_after_it(
    runtime: TestController, endless: list[str]
) -> None:
    runtime.deploy()
    runtime.active("db", packed=runtime.charms.make("db"), placements=[Placement.parse("0")])
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "x"}))
    unit_requests.make_due(runtime.ctx, runtime.model)
    endless.clear()
    async with asyncio.timeout(5):
        settled = await drive(runtime, work)
    assert (problems_of(settled), settled.left) == ((), True)
    assert endless == ["web/0 config-changed", "db/0 update-status"]
