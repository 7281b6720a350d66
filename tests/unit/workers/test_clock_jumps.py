"""A clock that was wrong for a while and is set right: nothing waits for years, no force comes early."""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import AuthFailed
from pushjuju.core.model.secrets import Content, OwnerKind, Rotation
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.basis.clock_jumps import after_jump
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.store import db
from pushjuju.store.queue import LEASE_S, WorkQueue
from pushjuju.store.rows.records import Machine
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive, driver

HOUR = 3600.0
TEN_YEARS = 10 * 365 * 24 * HOUR
WAIT_S = 600.0
SECRET = "d0abc0000000000000a0"

jumps = pytest.mark.parametrize("jump", [HOUR, TEN_YEARS], ids=["hour", "ten years"])


def _unit_dues(runtime: TestController) -> dict[str, float]:
    """Return in how many seconds a unit's retry and update-status are due."""
    with runtime.ctx.read(runtime.model) as tx:
        unit = units.get(tx, "web/0")
    dues = {"retry": unit.retry_due, "update-status": unit.update_status_due}
    now = runtime.clock.now()
    return {name: (due - now).total_seconds() for name, due in dues.items() if due}


def _far_work(runtime: TestController) -> list[str]:
    """Return the keys that are due later than tomorrow."""
    tomorrow = runtime.clock.now() + timedelta(days=1, seconds=1)
    items = WorkQueue(runtime.ctx.store, "somebody").items("")
    return [item.key for item in items if item.due and item.due > tomorrow]


@jumps
async def test_update_status_comes_in_time_after_a_clock_was_ahead(
    runtime: TestController, jump: float
) -> None:
    runtime.deploy()
    runtime.clock.advance(jump)
    await drive(runtime, PlayedRuntime(runtime))
    begun = list(runtime.played_machines["0"].of("web/0"))
    runtime.clock.advance(-jump)
    await drive(runtime, PlayedRuntime(runtime))
    assert runtime.played_machines["0"].of("web/0") == begun
    assert 0 < _unit_dues(runtime)["update-status"] <= 360
    assert _far_work(runtime) == []
    runtime.clock.advance(360)
    await drive(runtime, PlayedRuntime(runtime))
    assert runtime.played_machines["0"].of("web/0") == [*begun, "update-status"]


@jumps
async def test_failed_hook_is_retried_soon_after_a_clock_was_ahead(
    runtime: TestController, jump: float
) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    runtime.clock.advance(jump)
    runtime.played_machines["0"].fail("config-changed", 1)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "new"}))
    await drive(runtime, work)
    assert runtime.agent()[0] == "error"
    runtime.clock.advance(-jump)
    assert (await drive(runtime, work)).problems == ()
    assert runtime.agent() == ("idle", "")


@jumps
async def test_change_made_while_a_clock_was_ahead_is_worked_by_the_next_command(
    runtime: TestController, jump: float
) -> None:
    """A process on another computer held the machine meanwhile, and was not seen again."""
    runtime.deploy()
    await drive(runtime, PlayedRuntime(runtime))
    runtime.clock.advance(jump)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "new"}))
    assert WorkQueue(runtime.ctx.store, "elsewhere:1:1").claim("", runtime.clock.now())
    runtime.clock.advance(-jump)
    after_jump(runtime.ctx)
    runtime.clock.advance(LEASE_S)
    await drive(runtime, PlayedRuntime(runtime))
    assert runtime.played_machines["0"].of("web/0")[-1] == "config-changed"


@jumps
@pytest.mark.parametrize("asked", ["before", "while"])
async def test_forced_end_keeps_its_wait_when_a_clock_goes_back(
    runtime: TestController, jump: float, asked: str
) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    runtime.played_machines["0"].fail("stop", 100)
    if asked == "while":
        runtime.clock.advance(jump)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"], Force(wait_s=WAIT_S))
    await drive(runtime, work)
    if asked == "while":
        runtime.clock.advance(-jump)
    await drive(runtime, work)
    runtime.clock.advance(WAIT_S - 60)
    await drive(runtime, work)
    assert runtime.units() == ["web/0"]
    runtime.clock.advance(61)
    await drive(runtime, work)
    assert runtime.units() == []


@jumps
async def test_clock_that_goes_back_and_forth_within_a_command_ends_the_command_well(
    runtime: TestController, jump: float
) -> None:
    class Jumping(PlayedRuntime):
        """A controller whose clock jumps with each machine that is reached."""

        by = jump

        async def session(self, machine: Machine) -> Any:
            self.world.clock.advance(self.by)
            self.by = -self.by
            return await super().session(machine)

    runtime.deploy(count=3)
    work = Jumping(runtime)
    assert (await drive(runtime, work)).problems == ()
    assert {runtime.agent(f"web/{number}") for number in range(3)} == {("idle", "")}
    for number in "012":
        hooks = runtime.played_machines[number].of(f"web/{number}")
        assert [hooks.count(hook) for hook in ("install", "config-changed", "start")] == [1, 1, 1]


async def test_due_times_are_brought_near_once_for_each_jump(runtime: TestController) -> None:
    runtime.deploy()
    runtime.clock.advance(TEN_YEARS)
    await drive(runtime, PlayedRuntime(runtime))
    runtime.clock.advance(-TEN_YEARS)
    assert [after_jump(runtime.ctx) for _ in range(3)] == [True, False, False]
    await drive(runtime, PlayedRuntime(runtime))
    assert not after_jump(runtime.ctx)
    runtime.clock.advance(TEN_YEARS + HOUR)
    await drive(runtime, PlayedRuntime(runtime))
    runtime.clock.advance(-TEN_YEARS)
    assert after_jump(runtime.ctx)


@pytest.mark.parametrize("second", [HOUR / 2, HOUR])
async def test_second_jump_that_is_smaller_is_seen_too(runtime: TestController, second: float) -> None:
    runtime.deploy()
    for jump in (HOUR, second):
        runtime.clock.advance(jump)
        await drive(runtime, PlayedRuntime(runtime))
        runtime.clock.advance(-jump)
        await drive(runtime, PlayedRuntime(runtime))
        assert 0 < _unit_dues(runtime)["update-status"] <= 360
        assert not after_jump(runtime.ctx)


@jumps
async def test_secret_is_rotated_after_its_period_when_a_clock_was_ahead(
    runtime: TestController, jump: float
) -> None:
    runtime.deploy()
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    owner = Owner(kind=OwnerKind.APPLICATION, name="web")
    change = Change(content=Content({"token": "YQ=="}), rotation=Rotation.HOURLY)
    runtime.write(lambda tx: secrets.create(runtime.ctx, tx, SECRET, owner, change))
    runtime.clock.advance(jump)
    await drive(runtime, work)
    runtime.clock.advance(-jump)
    await drive(runtime, work)
    runtime.clear()
    runtime.clock.advance(HOUR)
    await drive(runtime, work)
    assert "secret-rotate" in runtime.of("web/0")


@jumps
async def test_silence_of_a_machine_counts_from_now_on_after_a_clock_was_ahead(
    runtime: TestController, jump: float
) -> None:
    runtime.deploy(count=2)
    work = PlayedRuntime(runtime)
    await drive(runtime, work)
    leader = runtime.read(lambda tx: leadership.holder(tx, "web"))
    lost, other = ("0", "web/1") if leader == "web/0" else ("1", "web/0")
    work.unreachable[lost] = AuthFailed("refused", retryable=False)
    runtime.clock.advance(jump)
    settings.set_config(runtime.ctx, runtime.model, ConfigOptions(application="web", values={"title": "new"}))
    await drive(runtime, work)
    runtime.clock.advance(-jump)
    for _ in range(3):
        await drive(runtime, work)
        runtime.clock.advance(360)
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) == other


async def test_right_clock_brings_nothing_near(runtime: TestController) -> None:
    runtime.deploy()
    await drive(runtime, PlayedRuntime(runtime))
    before = _unit_dues(runtime)
    made = driver(runtime, PlayedRuntime(runtime))
    assert not after_jump(runtime.ctx)
    await made.settle()
    assert _unit_dues(runtime) == before


def test_every_due_time_of_the_store_is_brought_near(runtime: TestController) -> None:
    """A new table with a due time needs a statement here too; flags that are called due are numbers."""
    sql = (Path(db.__file__).parent / "sql" / "clock.sql").read_text()
    connection = sqlite3.connect(runtime.ctx.controller.store_path)
    try:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        columns = {
            (table, column)
            for table in names
            for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
            if kind == "TEXT" and re.search(r"due|^next_|until|unreachable_since", column)
        }
    finally:
        connection.close()
    assert ("backing", "due") in columns
    for table, column in sorted(columns):
        assert re.search(rf"(FROM|UPDATE) {table}\b[^;]*\b{column}\b", sql), (table, column)
