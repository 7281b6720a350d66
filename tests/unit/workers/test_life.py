"""Whole lives through the real driver and lanes: hook order per unit as lifecycle 19 has it."""

from __future__ import annotations

from pushjuju.core.status import StatusKind
from pushjuju.services import applications, models, removal, units
from tests.unit.services.world import PEERS, World
from tests.unit.workers.fakes import Shop, drive

PEER = "cluster-relation-"
OPERATION = {
    "config-changed", "update-status", "upgrade-charm", "leader-elected", "leader-settings-changed", "start",
    f"{PEER}created", f"{PEER}joined", f"{PEER}changed", f"{PEER}departed",
}  # fmt: skip


def check_order(hooks: list[str]) -> None:
    """Hold the order of one unit's hooks against what charms rely on."""
    setup = hooks[:5]
    assert setup[:2] == ["install", f"{PEER}created"]
    assert setup[2] in ("leader-elected", "leader-settings-changed")
    assert setup[3:] == ["config-changed", "start"]
    rest = hooks[5:]
    if "stop" in rest:
        assert rest[-2:] == ["stop", "remove"]
        rest = rest[:-2]
    assert set(rest) <= OPERATION
    for at, hook in enumerate(hooks):
        following = hooks[at + 1] if at + 1 < len(hooks) else ""
        if hook == f"{PEER}joined":
            assert following == f"{PEER}changed"
        if hook == "upgrade-charm":
            assert following == "config-changed"
    assert hooks.count("install") == 1
    assert hooks.count(f"{PEER}departed") <= hooks.count(f"{PEER}joined")


async def test_life_of_an_application(shop: World) -> None:
    """deploy 3, config, refresh, add, remove, fail, resolve, remove-application, destroy-model."""
    work = Shop(shop)
    hooks: dict[str, list[str]] = {}

    async def rest(*problems: str) -> dict[str, list[str]]:
        settled = await drive(shop, work)
        assert settled.problems == problems
        new: dict[str, list[str]] = {}
        for unit, hook in shop.hooks():
            new.setdefault(unit, []).append(hook)
        shop.clear()
        for unit, ran in new.items():
            hooks.setdefault(unit, []).extend(ran)
        return new

    # deploy
    shop.deploy(count=3)
    await rest()
    leaders = [unit for unit, ran in hooks.items() if "leader-elected" in ran]
    assert len(leaders) == 1
    for unit in ("web/0", "web/1", "web/2"):
        assert shop.agent(unit) == ("idle", "")
        assert shop.workload(unit) == ("unknown", "")
        assert hooks[unit].count(f"{PEER}joined") == 2
    assert [box.charms for box in shop.boxes.values()] == [{f"web/{n}": "local:web-0"} for n in range(3)]
    assert await rest() == {}

    # config
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "new"})
    assert await rest() == {f"web/{n}": ["config-changed"] for n in range(3)}
    for number in range(3):
        frame = shop.boxes[str(number)].frame_of("config-changed")
        assert frame["context"]["config"]["title"] == "new"

    # refresh, with another peer endpoint
    shop.refresh(shop.charms.make(peers={**PEERS, "gossip": {"interface": "g"}}))
    for unit, ran in (await rest()).items():
        assert ran[:3] == ["upgrade-charm", "config-changed", "gossip-relation-created"]
        assert ("leader-settings-changed" in ran) == (unit not in leaders)
    for number in range(3):
        assert shop.unit(f"web/{number}").charm_url == "local:web-1"
    for ran in hooks.values():
        ran[:] = [hook for hook in ran if not hook.startswith("gossip")]

    # add a unit
    units.add_units(shop.ctx, shop.model, "web", 1, [])
    new = await rest()
    assert {
        unit: [hook for hook in ran if hook.startswith(PEER)] for unit, ran in new.items() if unit != "web/3"
    } == {f"web/{n}": [f"{PEER}joined", f"{PEER}changed"] for n in range(3)}
    assert new["web/3"][0] == "install"
    for ran in hooks.values():
        ran[:] = [hook for hook in ran if not hook.startswith("gossip")]

    # remove one
    removal.remove_units(shop.ctx, shop.model, ["web/2"])
    new = await rest()
    assert new["web/2"][-2:] == ["stop", "remove"]
    assert all(f"{PEER}departed" in new[unit] for unit in ("web/0", "web/1", "web/3"))
    assert work.cloud.stopped == ["i-2"]
    assert shop.machine_ids() == ["0", "1", "3"]
    for ran in hooks.values():
        ran[:] = [hook for hook in ran if not hook.startswith("gossip")]

    # a hook fails, is tried again, and is resolved
    shop.boxes["1"].fail("config-changed", 2)
    applications.set_config(shop.ctx, shop.model, "web", values={"title": "bad"})
    new = await rest('unit web/1: hook failed: "config-changed"')
    assert new == {"web/0": ["config-changed"], "web/1": ["config-changed"], "web/3": ["config-changed"]}
    shop.clock.advance(6)
    assert await rest('unit web/1: hook failed: "config-changed"') == {"web/1": ["config-changed"]}
    units.resolve(shop.ctx, shop.model, ["web/1"], retry=True)
    assert await rest() == {"web/1": ["config-changed"]}
    assert shop.agent("web/1") == ("idle", "")

    # the application goes, and its machines
    removal.remove_application(shop.ctx, shop.model, ["web"])
    new = await rest()
    assert all(new[unit][-2:] == ["stop", "remove"] for unit in ("web/0", "web/1", "web/3"))
    assert (shop.applications(), shop.machine_ids(), shop.boxes) == ([], [], {})
    for ran in hooks.values():
        ran[:] = [hook for hook in ran if not hook.startswith("gossip")]
        check_order(ran)

    # and the model
    shop.write(lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now()))
    await rest()
    assert work.cloud.destroyed == 1
    assert shop.left() == {}


async def test_model_is_destroyed_with_all_that_runs(shop: World) -> None:
    work = Shop(shop)
    shop.deploy("a", 2)
    shop.deploy("b", packed=shop.charms.make("b", peers=None))
    assert (await drive(shop, work)).problems == ()
    shop.write(lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now()))
    assert (await drive(shop, work)).problems == ()
    assert sorted(work.cloud.stopped) == ["i-0", "i-1", "i-2"]
    assert shop.left() == {}


async def test_two_units_of_one_machine_take_turns(shop: World) -> None:
    from pushjuju.core.placement import Placement

    work = Shop(shop)
    shop.deploy("a")
    shop.deploy("b", 2, packed=shop.charms.make("b"), placements=[Placement.parse("0"), Placement.parse("0")])
    assert (await drive(shop, work)).problems == ()
    for unit in ("a/0", "b/0", "b/1"):
        assert shop.agent(unit) == ("idle", "")
        check_order(shop.of(unit))
    assert list(shop.boxes) == ["0"]
    removal.remove_application(shop.ctx, shop.model, ["b"])
    assert (await drive(shop, work)).problems == ()
    assert shop.boxes["0"].charms == {"a/0": "local:a-0"} or shop.boxes["0"].charms == {"a/0": "local:web-0"}
    removed = [frame for frame in shop.boxes["0"].frames if frame["kind"] == "remove-unit"]
    assert [(frame["unit"], frame["last"]) for frame in removed] == [("b/0", False), ("b/1", False)]
    assert shop.status(StatusKind.MACHINE, "0") == ("started", "")
