"""Removals that nobody else finishes: forced ends, models, archives, old lines."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pushjuju.core.errors import AuthFailed, ProviderError
from pushjuju.core.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.core.storage import Directive
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership, logs
from pushjuju.services.entities.model import model_config, models
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import deploy, integrate
from pushjuju.services.requests.deploy import DeployRequest
from pushjuju.state.store import Tx
from pushjuju.workers.cleaner import clean
from tests.unit.services.world import UBUNTU, Charms, World, ok
from tests.unit.workers.fakes import Shop, drive, lane

SILENT = AuthFailed("refused", retryable=False)


def _destroy(shop: World, force: Force | None = None) -> None:
    shop.write(lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now(), force))


async def _silent(shop: World, *machines: str) -> Shop:
    """Bring a model to rest, then let machines fall silent."""
    work = Shop(shop)
    await drive(shop, work)
    work.unreachable.update(dict.fromkeys(machines, SILENT))
    return work


async def test_unit_of_a_silent_machine_is_dead_after_the_wait_and_gone_after_two(shop: World) -> None:
    shop.deploy(count=2)
    work = await _silent(shop, "0")
    start = shop.clock.now()
    removal.remove_units(shop.ctx, shop.model, ["web/0"], Force(wait_s=200))
    while shop.clock.now() < start + timedelta(seconds=200):
        assert shop.unit("web/0").life == "dying"
        shop.clock.advance(10)
        await drive(shop, work)
    dead = shop.clock.now()
    while shop.clock.now() < start + timedelta(seconds=400):
        assert shop.unit("web/0").life == "dead"
        assert "cluster-relation-departed" in shop.of("web/1")
        shop.clock.advance(10)
        await drive(shop, work)
    await drive(shop, work)
    assert (dead - start).total_seconds() >= 200
    assert shop.units() == ["web/1"]
    assert shop.of("web/0")[-1] not in ("stop", "remove")
    assert shop.machine_ids() == ["1"]  # its instance could be stopped without reaching it


async def test_unit_in_error_is_dead_after_the_wait_and_its_machine_clears_it_away_then(shop: World) -> None:
    shop.deploy()
    shop.deploy("zap", packed=shop.charms.make("zap"), placements=[Placement.parse("0")])
    work = Shop(shop)
    await drive(shop, work)
    shop.box("0").fail("stop", 9)
    removal.remove_units(shop.ctx, shop.model, ["web/0"], Force())
    await drive(shop, work)
    assert (shop.agent()[0], shop.unit("web/0").life) == ("error", "dying")
    shop.clock.advance(60)
    await drive(shop, work)
    assert shop.units() == ["zap/0"]
    assert shop.of("web/0")[-1] == "stop"
    assert shop.box("0").frames[-1]["kind"] == "remove-unit"
    shop.clock.advance(60)
    await drive(shop, work)
    assert shop.dump()["cleanup"] == []


async def test_a_dead_unit_leads_no_more_and_holds_no_storage(shop: World, packs: Charms) -> None:
    store = {"data": {"type": "filesystem", "location": "/srv"}}
    packed = packs.make("disk", config=None, storage=store)
    more = {"data": Directive(pool="local", size=1024, count=1)}
    shop.deploy("disk", packed=packed, storage=more, count=2)
    work = await _silent(shop, "0")
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "disk")) == "disk/0"
    removal.remove_units(shop.ctx, shop.model, ["disk/0"], Force(wait_s=300))
    shop.clock.advance(300)
    await clean(work, shop.model)
    assert (shop.unit("disk/0").life, shop.unit("disk/0").storage) == ("dead", 0)
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "disk")) is None


async def test_without_a_wait_subordinates_and_their_unit_go_at_once(shop: World) -> None:
    work = await _with_subordinate(shop)
    removal.remove_units(shop.ctx, shop.model, ["web/0"], Force(wait_s=0))
    await clean(work, shop.model)
    assert (shop.units(), shop.dump()["cleanup"]) == ([], [])


async def test_a_unit_waits_for_the_forced_end_of_its_subordinates(shop: World) -> None:
    """Each is dead after a minute and gone after two; then its unit's own end comes."""
    work = await _with_subordinate(shop)
    removal.remove_units(shop.ctx, shop.model, ["web/0"], Force())
    seen = []
    for _ in range(5):
        await clean(work, shop.model)
        lives = [shop.unit(name).life if name in shop.units() else "gone" for name in ("web/0", "sub/0")]
        seen.append(tuple(lives))
        shop.clock.advance(60)
    assert seen == [
        ("dying", "alive"), ("dying", "dying"), ("dying", "dead"), ("dead", "gone"), ("gone", "gone"),
    ]  # fmt: skip


async def test_hook_of_a_dead_unit_is_ended_and_counts_no_more(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    shop.deploy("zap", packed=shop.charms.make("zap"), placements=[Placement.parse("0")])
    box = shop.box("0")
    box.will("install", ok(cut=True, writes={"state": {"k": "v"}}), unit="web/0")
    for _ in range(3):
        await lane(work)
    box.will("config-changed", ok(cut=True, writes={"state": {"k": "late"}}), unit="web/0")
    applications.set_trust(shop.ctx, shop.model, "web", trusted=True)
    await lane(work)
    shop.write(
        lambda tx: removal.force_dead(tx, units.get(tx, shop.model, "web/0"), shop.clock.now(), Force())
    )
    assert not (await lane(work)).failed
    assert (shop.units(), shop.open_operations(), box.results) == (["zap/0"], [], {})


async def _with_subordinate(shop: World) -> Shop:
    """A unit with a subordinate on a machine that fell silent."""
    host = {"host": {"interface": "juju-info", "scope": "container"}}
    shop.deploy()
    shop.deploy("sub", 0, packed=shop.charms.make("sub", subordinate=True, peers=None, requires=host))
    integrate.integrate(shop.ctx, shop.model, "sub", "web")
    return await _silent(shop, "0")


async def test_a_killed_model_goes_with_all_that_it_had(shop: World, packs: Charms) -> None:
    store = {"data": {"type": "filesystem", "location": "/srv"}}
    packed = packs.make("disk", peers=None, config=None, storage=store)
    shop.deploy("disk", packed=packed, storage={"data": Directive(pool="local", size=1024, count=1)})
    shop.deploy(count=2)
    work = await _silent(shop)
    actions.enqueue_commands(
        shop.ctx, shop.model, actions.CommandRequest(command="true", timeout_s=9, units=("web/0",))
    )
    shop.write(lambda tx: models.purge(tx, shop.model))
    assert shop.write(_rows_of_models) == {}
    assert work.cloud.stopped == []  # whoever kills the model ends its instances first


def _rows_of_models(tx: Tx) -> dict[str, int]:
    """Return table -> number of rows that belong to a model."""
    found = {}
    for (table,) in tx._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = {row[1] for row in tx._connection.execute(f"PRAGMA table_info({table})")}
        if "model" in columns and (
            count := tx._connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        ):
            found[table] = count
    return found


async def test_machine_that_is_silent_is_forced_away(shop: World) -> None:
    shop.deploy()
    work = await _silent(shop, "0")
    removal.remove_machines(shop.ctx, shop.model, ["0"], force=Force())
    for _ in range(2):
        await drive(shop, work)
    assert shop.machine_ids() == ["0"]
    shop.clock.advance(61)
    await drive(shop, work)
    assert (shop.units(), shop.machine_ids()) == ([], [])
    assert work.cloud.stopped == ["i-0"]


async def test_the_lane_hears_at_once_that_its_units_are_gone(shop: World) -> None:
    """The machine rests after failures: the forced end must not wait for that."""
    shop.deploy()
    work = await _silent(shop, "0")
    units.add_units(shop.ctx, shop.model, "web", 1, [])
    await drive(shop, work)
    work.unreachable["1"] = SILENT
    removal.remove_machines(shop.ctx, shop.model, ["1"], force=Force(wait_s=0))
    shop.forget_work()
    await clean(work, shop.model)
    assert "machine/1" in shop.touched()


async def test_orderly_end_needs_no_force(shop: World) -> None:
    shop.deploy()
    work = Shop(shop)
    await drive(shop, work)
    removal.remove_units(shop.ctx, shop.model, ["web/0"], Force())
    await drive(shop, work)
    assert shop.of("web/0")[-2:] == ["stop", "remove"]
    shop.clock.advance(61)
    assert (await drive(shop, work)).problems == ()
    assert shop.dump()["cleanup"] == []


async def test_next_forced_end_is_the_due_time(shop: World) -> None:
    shop.deploy(count=2)
    work = await _silent(shop, "0", "1")
    start = shop.clock.now()
    removal.remove_units(shop.ctx, shop.model, ["web/1"], Force(wait_s=90))
    removal.remove_units(shop.ctx, shop.model, ["web/0"], Force(wait_s=30))
    outcome = await clean(work, shop.model)
    assert outcome.due == start + timedelta(seconds=30)
    shop.clock.advance(30)
    outcome = await clean(work, shop.model)
    assert outcome.due == start + timedelta(seconds=60)
    assert [shop.unit(name).life for name in ("web/0", "web/1")] == ["dead", "dying"]
    shop.clock.advance(60)
    outcome = await clean(work, shop.model)
    assert outcome.due == start + timedelta(seconds=180)
    assert shop.units() == ["web/1"]


async def test_forced_model_goes_though_nobody_answers(shop: World) -> None:
    shop.deploy(count=2)
    work = await _silent(shop, "0", "1")
    work.cloud.stuck = [ProviderError("down"), ProviderError("down")]
    _destroy(shop, Force(wait_s=10))
    await drive(shop, work)
    shop.clock.advance(11)
    for _ in range(3):
        await drive(shop, work)
    assert shop.dump()["model"] == []
    assert work.cloud.destroyed == 1


async def test_destroying_a_model_by_force_waits_for_no_unit_in_error(shop: World) -> None:
    """Not for one that is, nor for one that fails on its way out; the others run their last hooks."""
    shop.deploy(count=3)
    work = Shop(shop)
    await drive(shop, work)
    shop.box("0").fail("config-changed", 9)
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "x"})
    shop.box("1").fail("stop", 9)
    await drive(shop, work)
    assert [shop.agent(f"web/{number}")[0] for number in range(3)] == ["error", "idle", "idle"]
    start = shop.clock.now()
    _destroy(shop, Force())
    assert (await drive(shop, work)).problems == ()
    assert shop.dump()["model"] == []
    assert shop.clock.now() - start < timedelta(seconds=10)
    assert shop.of("web/0")[-1] == "config-changed"
    assert shop.of("web/1")[-1] == "stop"
    assert shop.of("web/2")[-1] == "remove"
    told = [item.entity for item in work.events if item.text == "is in error: ends without its hooks"]
    assert sorted(told) == ["web/0", "web/1"]


async def test_a_principal_in_error_goes_with_its_model_as_soon_as_its_subordinates_are_gone(
    shop: World,
) -> None:
    work = await _with_subordinate(shop)
    work.unreachable.clear()
    shop.box("0").fail("config-changed", 9, unit="web/0")
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "x"})
    await drive(shop, work)
    assert shop.agent("web/0")[0] == "error"
    start = shop.clock.now()
    _destroy(shop, Force())
    await drive(shop, work)
    assert shop.dump()["model"] == []
    assert shop.clock.now() - start < timedelta(seconds=10)
    assert shop.of("sub/0")[-1] == "remove"


# --- models -----------------------------------------------------------------------------------------------


async def test_dying_model_says_what_it_waits_for(shop: World) -> None:
    shop.deploy()
    work = await _silent(shop, "0")
    _destroy(shop)
    outcome = await clean(work, shop.model)
    assert outcome.reason == "machine 0 waits for web/0; application web is dying"
    assert work.cloud.destroyed == 0


async def test_empty_model_ends(shop: World) -> None:
    work = Shop(shop)
    shop.ctx.controller.set("current-model", "admin/shop")
    shop.ctx.controller.known_hosts(shop.model).write_text("h k\n")
    _destroy(shop)
    assert (await drive(shop, work)).problems == ()
    assert shop.left() == {}
    assert shop.ctx.controller.settings().get("current-model") is None
    assert not shop.ctx.controller.known_hosts(shop.model).exists()
    assert [(item.entity, item.text, item.state) for item in work.events][-1] == (
        "model shop", "destroyed", "done",
    )  # fmt: skip


async def test_another_current_model_stays(shop: World) -> None:
    shop.ctx.controller.set("current-model", "admin/other")
    _destroy(shop)
    await drive(shop, Shop(shop))
    assert shop.ctx.controller.settings()["current-model"] == "admin/other"


async def test_model_whose_cloud_fails_stays(shop: World) -> None:
    work = Shop(shop)

    async def fail() -> None:
        raise ProviderError("cloud is down", detail="503")

    work.cloud.destroy_model = fail  # type: ignore[method-assign]
    _destroy(shop)
    settled = await drive(shop, work)
    assert settled.problems == ("destroying model shop: cloud is down: 503",)
    assert len(shop.dump()["model"]) == 1
    assert shop.due("loop/cleanup") == "2025-03-01T09:00:05.000000Z"
    shop.clock.advance(5)
    await drive(shop, work)
    assert shop.due("loop/cleanup") == "2025-03-01T09:00:15.000000Z"


async def test_forced_model_is_forgotten_though_its_cloud_fails(shop: World) -> None:
    work = Shop(shop)

    async def fail() -> None:
        raise ProviderError("cloud is down")

    work.cloud.destroy_model = fail  # type: ignore[method-assign]
    _destroy(shop, Force())
    assert (await drive(shop, work)).problems == ()
    assert shop.dump()["model"] == []


async def test_model_that_is_gone(shop: World) -> None:
    shop.write(lambda tx: models.delete(tx, shop.model))
    outcome = await clean(Shop(shop), shop.model)
    assert (outcome.due, outcome.failed) == (None, False)


# --- archives ---------------------------------------------------------------------------------------------


async def test_archive_goes_with_its_last_charm(shop: World) -> None:
    work = Shop(shop)
    shop.deploy("a")
    shop.deploy("b")  # the same archive
    shop.deploy("c", packed=shop.charms.make("other"))
    assert len(shop.blobs()) == 2
    for name, left in (("c", 1), ("a", 1), ("b", 0)):
        removal.remove_application(shop.ctx, shop.model, [name])
        await clean(work, shop.model)
        assert len(shop.blobs()) == left


async def test_archive_of_another_model_stays(shop: World) -> None:
    work = Shop(shop)
    other = models.add_model(shop.ctx, "other")
    request = DeployRequest(application="web", packed=shop.charms.make(), base=UBUNTU, count=1)
    deploy.deploy(shop.ctx, other.uuid, request)
    shop.deploy()
    removal.remove_application(shop.ctx, shop.model, ["web"])
    await clean(work, shop.model)
    assert len(shop.blobs()) == 1
    _destroy(shop)
    await drive(shop, work)
    assert len(shop.blobs()) == 1


async def test_model_that_ends_leaves_no_archive(shop: World) -> None:
    """Its charms went with its applications a moment before."""
    work = Shop(shop)
    shop.deploy("a")
    shop.deploy("b", packed=shop.charms.make("b"))
    await drive(shop, work)
    _destroy(shop)
    await drive(shop, work)
    assert shop.blobs() == []


# --- what is old ------------------------------------------------------------------------------------------


async def test_old_lines_are_forgotten(shop: World) -> None:
    work = Shop(shop)
    shop.deploy()
    await drive(shop, work)
    config: dict[str, Any] = {"max-status-history-age": "1h"}
    shop.write(lambda tx: model_config.change(tx, shop.model, config))
    shop.write(lambda tx: logs.append(tx, shop.model, "unit-web-0", "INFO", "m", "old", now=shop.clock.now()))
    shop.clock.advance(3601)
    shop.write(lambda tx: logs.append(tx, shop.model, "unit-web-0", "INFO", "m", "new", now=shop.clock.now()))
    outcome = await clean(work, shop.model)
    assert [item.message for item in logs.after(shop.ctx.store, shop.model, 0)] == ["new"]
    assert shop.history(StatusKind.AGENT, "web/0") == [("idle", "")]  # the newest stays, however old
    assert shop.dump()["operation"] == []
    assert outcome.due == shop.clock.now() + timedelta(days=1)


@pytest.mark.parametrize("state", ["prepared"])
async def test_open_operations_are_never_forgotten(shop: World, state: str) -> None:
    work = Shop(shop)
    shop.deploy()
    shop.until("install")
    shop.clock.advance(86400 * 30)
    await clean(work, shop.model)
    assert [item.state for item in shop.open_operations()] == [state]
