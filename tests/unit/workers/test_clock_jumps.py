"""A clock that was wrong for a while and is set right: nothing waits for years, no force comes early."""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import AuthFailed
from pushjuju.core.secrets import Content, OwnerKind, Rotation
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.basis.clock_jumps import after_jump
from pushjuju.services.entities.secret import secrets
from pushjuju.services.entities.secret.secrets import Change, Owner
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.state import store
from pushjuju.state.records import Machine
from pushjuju.state.work import LEASE_S, SqliteWorkQueue
from tests.unit.services.world import World
from tests.unit.workers.fakes import Shop, drive, driver

HOUR = 3600.0
TEN_YEARS = 10 * 365 * 24 * HOUR
WAIT_S = 600.0
SECRET = "d0abc0000000000000a0"

jumps = pytest.mark.parametrize("jump", [HOUR, TEN_YEARS], ids=["hour", "ten years"])


def _unit_dues(shop: World) -> dict[str, float]:
    """Return in how many seconds a unit's retry and update-status are due."""
    with shop.ctx.store.read() as tx:
        unit = units.get(tx, shop.model, "web/0")
    dues = {"retry": unit.retry_due, "update-status": unit.update_status_due}
    now = shop.clock.now()
    return {name: (from_iso(text) - now).total_seconds() for name, text in dues.items() if text}


def _far_work(shop: World) -> list[str]:
    """Return the keys that are due later than tomorrow."""
    tomorrow = shop.clock.now() + timedelta(days=1, seconds=1)
    items = SqliteWorkQueue(shop.ctx.store, "somebody").items("")
    return [item.key for item in items if item.due and item.due > tomorrow]


@jumps
async def test_update_status_comes_in_time_after_a_clock_was_ahead(shop: World, jump: float) -> None:
    shop.deploy()
    shop.clock.advance(jump)
    await drive(shop, Shop(shop))
    begun = list(shop.boxes["0"].of("web/0"))
    shop.clock.advance(-jump)
    await drive(shop, Shop(shop))
    assert shop.boxes["0"].of("web/0") == begun
    assert 0 < _unit_dues(shop)["update-status"] <= 360
    assert _far_work(shop) == []
    shop.clock.advance(360)
    await drive(shop, Shop(shop))
    assert shop.boxes["0"].of("web/0") == [*begun, "update-status"]


@jumps
async def test_failed_hook_is_retried_soon_after_a_clock_was_ahead(shop: World, jump: float) -> None:
    shop.deploy()
    work = Shop(shop)
    await drive(shop, work)
    shop.clock.advance(jump)
    shop.boxes["0"].fail("config-changed", 1)
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "new"})
    await drive(shop, work)
    assert shop.agent()[0] == "error"
    shop.clock.advance(-jump)
    assert (await drive(shop, work)).problems == ()
    assert shop.agent() == ("idle", "")


@jumps
async def test_change_made_while_a_clock_was_ahead_is_worked_by_the_next_command(
    shop: World, jump: float
) -> None:
    """A process on another computer held the machine meanwhile, and was not seen again."""
    shop.deploy()
    await drive(shop, Shop(shop))
    shop.clock.advance(jump)
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "new"})
    assert SqliteWorkQueue(shop.ctx.store, "elsewhere:1:1").claim("", shop.clock.now())
    shop.clock.advance(-jump)
    after_jump(shop.ctx)
    shop.clock.advance(LEASE_S)
    await drive(shop, Shop(shop))
    assert shop.boxes["0"].of("web/0")[-1] == "config-changed"


@jumps
@pytest.mark.parametrize("asked", ["before", "while"])
async def test_forced_end_keeps_its_wait_when_a_clock_goes_back(shop: World, jump: float, asked: str) -> None:
    shop.deploy()
    work = Shop(shop)
    await drive(shop, work)
    shop.boxes["0"].fail("stop", 100)
    if asked == "while":
        shop.clock.advance(jump)
    removal.remove_units(shop.ctx, shop.model, ["web/0"], Force(wait_s=WAIT_S))
    await drive(shop, work)
    if asked == "while":
        shop.clock.advance(-jump)
    await drive(shop, work)
    shop.clock.advance(WAIT_S - 60)
    await drive(shop, work)
    assert shop.units() == ["web/0"]
    shop.clock.advance(61)
    await drive(shop, work)
    assert shop.units() == []


@jumps
async def test_clock_that_goes_back_and_forth_within_a_command_ends_the_command_well(
    shop: World, jump: float
) -> None:
    class Jumping(Shop):
        """A controller whose clock jumps with each machine that is reached."""

        by = jump

        async def session(self, machine: Machine) -> Any:
            self.world.clock.advance(self.by)
            self.by = -self.by
            return await super().session(machine)

    shop.deploy(count=3)
    work = Jumping(shop)
    assert (await drive(shop, work)).problems == ()
    assert {shop.agent(f"web/{number}") for number in range(3)} == {("idle", "")}
    for number in "012":
        hooks = shop.boxes[number].of(f"web/{number}")
        assert [hooks.count(hook) for hook in ("install", "config-changed", "start")] == [1, 1, 1]


async def test_due_times_are_brought_near_once_for_each_jump(shop: World) -> None:
    shop.deploy()
    shop.clock.advance(TEN_YEARS)
    await drive(shop, Shop(shop))
    shop.clock.advance(-TEN_YEARS)
    assert [after_jump(shop.ctx) for _ in range(3)] == [True, False, False]
    await drive(shop, Shop(shop))
    assert not after_jump(shop.ctx)
    shop.clock.advance(TEN_YEARS + HOUR)
    await drive(shop, Shop(shop))
    shop.clock.advance(-TEN_YEARS)
    assert after_jump(shop.ctx)


@pytest.mark.parametrize("second", [HOUR / 2, HOUR])
async def test_second_jump_that_is_smaller_is_seen_too(shop: World, second: float) -> None:
    shop.deploy()
    for jump in (HOUR, second):
        shop.clock.advance(jump)
        await drive(shop, Shop(shop))
        shop.clock.advance(-jump)
        await drive(shop, Shop(shop))
        assert 0 < _unit_dues(shop)["update-status"] <= 360
        assert not after_jump(shop.ctx)


@jumps
async def test_secret_is_rotated_after_its_period_when_a_clock_was_ahead(shop: World, jump: float) -> None:
    shop.deploy()
    work = Shop(shop)
    await drive(shop, work)
    owner = Owner(kind=OwnerKind.APPLICATION, name="web")
    change = Change(content=Content({"token": "YQ=="}), rotation=Rotation.HOURLY)
    shop.write(lambda tx: secrets.create(shop.ctx, tx, shop.model, SECRET, owner, change))
    shop.clock.advance(jump)
    await drive(shop, work)
    shop.clock.advance(-jump)
    await drive(shop, work)
    shop.clear()
    shop.clock.advance(HOUR)
    await drive(shop, work)
    assert "secret-rotate" in shop.of("web/0")


@jumps
async def test_silence_of_a_machine_counts_from_now_on_after_a_clock_was_ahead(
    shop: World, jump: float
) -> None:
    shop.deploy(count=2)
    work = Shop(shop)
    await drive(shop, work)
    leader = shop.read(lambda tx: leadership.holder(tx, shop.model, "web"))
    lost, other = ("0", "web/1") if leader == "web/0" else ("1", "web/0")
    work.unreachable[lost] = AuthFailed("refused", retryable=False)
    shop.clock.advance(jump)
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "new"})
    await drive(shop, work)
    shop.clock.advance(-jump)
    for _ in range(3):
        await drive(shop, work)
        shop.clock.advance(360)
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "web")) == other


async def test_right_clock_brings_nothing_near(shop: World) -> None:
    shop.deploy()
    await drive(shop, Shop(shop))
    before = _unit_dues(shop)
    made = driver(shop, Shop(shop))
    assert not after_jump(shop.ctx)
    await made.settle()
    assert _unit_dues(shop) == before


def test_every_due_time_of_the_store_is_brought_near(shop: World) -> None:
    """A new table with a due time needs a statement here too; flags that are called due are numbers."""
    sql = (Path(store.__file__).parent / "sql" / "clock.sql").read_text()
    connection = sqlite3.connect(shop.ctx.controller.store_path)
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
