"""Whole lives through the real driver and lanes: hook order per unit as lifecycle 19 has it."""

from __future__ import annotations

from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import settings, unit_requests
from pushjuju.services.requests.application.settings import ConfigOptions
from tests.world.charms import PEERS
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive
from tests.world.said import problems_of

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


class Life:
    """An application's life, step after step: each step says what to do, then what must have happened.

    Attributes:
        hooks: What ran on each unit since the beginning, without those of the endpoint that a refresh adds.
        leaders: The units that were elected.
    """

    def __init__(self, world: TestController) -> None:
        self.world = world
        self.work = PlayedRuntime(world)
        self.hooks: dict[str, list[str]] = {}
        self.leaders: list[str] = []

    async def rest(self, *problems: str) -> dict[str, list[str]]:
        """Drive until all is at rest, with these problems; return what ran on each unit."""
        settled = await drive(self.world, self.work)
        assert problems_of(settled) == problems
        new: dict[str, list[str]] = {}
        for unit, hook in self.world.hooks():
            new.setdefault(unit, []).append(hook)
        self.world.clear()
        for unit, ran in new.items():
            self.hooks.setdefault(unit, []).extend(hook for hook in ran if not hook.startswith("gossip"))
        return new

    async def deployed(self) -> None:
        world = self.world
        world.deploy(count=3)
        await self.rest()
        self.leaders = [unit for unit, ran in self.hooks.items() if "leader-elected" in ran]
        assert len(self.leaders) == 1
        for unit in ("web/0", "web/1", "web/2"):
            assert world.agent(unit) == ("idle", "")
            assert world.workload(unit) == ("unknown", "")
            assert self.hooks[unit].count(f"{PEER}joined") == 2
        assert [played.charms for played in world.played_machines.values()] == [
            {f"web/{n}": "local:web-0"} for n in range(3)
        ]
        assert await self.rest() == {}

    async def configured(self) -> None:
        self.configure("new")
        assert await self.rest() == {f"web/{n}": ["config-changed"] for n in range(3)}
        for number in range(3):
            frame = self.world.played_machines[str(number)].frame_of("config-changed")
            assert frame["context"]["config"]["title"] == "new"

    def configure(self, title: str) -> None:
        settings.set_config(
            self.world.ctx, self.world.model, ConfigOptions(application="web", values={"title": title})
        )

    async def refreshed_with_another_peer_endpoint(self) -> None:
        self.world.refresh(self.world.charms.make(peers={**PEERS, "gossip": {"interface": "g"}}))
        for unit, ran in (await self.rest()).items():
            assert ran[:3] == ["upgrade-charm", "config-changed", "gossip-relation-created"]
            assert ("leader-settings-changed" in ran) == (unit not in self.leaders)
        for number in range(3):
            assert self.world.unit(f"web/{number}").charm_url == "local:web-1"

    async def grown_by_one(self) -> None:
        units.add_units(self.world.ctx, self.world.model, "web", 1, [])
        new = await self.rest()
        assert {
            unit: [hook for hook in ran if hook.startswith(PEER)]
            for unit, ran in new.items()
            if unit != "web/3"
        } == {f"web/{n}": [f"{PEER}joined", f"{PEER}changed"] for n in range(3)}
        assert new["web/3"][0] == "install"

    async def shrunk_by_one(self) -> None:
        removals.remove_units(self.world.ctx, self.world.model, ["web/2"])
        new = await self.rest()
        assert new["web/2"][-2:] == ["stop", "remove"]
        assert all(f"{PEER}departed" in new[unit] for unit in ("web/0", "web/1", "web/3"))
        assert self.work.cloud.stopped == ["i-2"]
        assert self.world.machine_ids() == ["0", "1", "3"]

    async def failed_tried_again_and_resolved(self) -> None:
        world, problem = self.world, 'unit web/1: hook failed: "config-changed"'
        world.played_machines["1"].fail("config-changed", 2)
        self.configure("bad")
        assert await self.rest(problem) == {f"web/{n}": ["config-changed"] for n in (0, 1, 3)}
        world.clock.advance(6)
        assert await self.rest(problem) == {"web/1": ["config-changed"]}
        unit_requests.resolve(world.ctx, world.model, ["web/1"], retry=True)
        assert await self.rest() == {"web/1": ["config-changed"]}
        assert world.agent("web/1") == ("idle", "")

    async def removed_with_its_machines(self) -> None:
        world = self.world
        removals.remove_applications(world.ctx, world.model, ["web"])
        new = await self.rest()
        assert all(new[unit][-2:] == ["stop", "remove"] for unit in ("web/0", "web/1", "web/3"))
        assert (world.applications(), world.machine_ids(), world.played_machines) == ([], [], {})
        for ran in self.hooks.values():
            check_order(ran)

    async def ended_with_its_model(self) -> None:
        world = self.world
        world.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
        await self.rest()
        assert self.work.cloud.destroyed == 1
        assert world.left() == {}


async def test_life_of_an_application(runtime: TestController) -> None:
    life = Life(runtime)
    await life.deployed()
    await life.configured()
    await life.refreshed_with_another_peer_endpoint()
    await life.grown_by_one()
    await life.shrunk_by_one()
    await life.failed_tried_again_and_resolved()
    await life.removed_with_its_machines()
    await life.ended_with_its_model()


async def test_model_is_destroyed_with_all_that_runs(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    runtime.deploy("a", 2)
    runtime.deploy("b", packed=runtime.charms.make("b", peers=None))
    assert (await drive(runtime, work)).problems == ()
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
    assert (await drive(runtime, work)).problems == ()
    assert sorted(work.cloud.stopped) == ["i-0", "i-1", "i-2"]
    assert runtime.left() == {}


async def test_two_units_of_one_machine_take_turns(runtime: TestController) -> None:
    from pushjuju.core.model.placement import Placement

    work = PlayedRuntime(runtime)
    runtime.deploy("a")
    runtime.deploy(
        "b", 2, packed=runtime.charms.make("b"), placements=[Placement.parse("0"), Placement.parse("0")]
    )
    assert (await drive(runtime, work)).problems == ()
    for unit in ("a/0", "b/0", "b/1"):
        assert runtime.agent(unit) == ("idle", "")
        check_order(runtime.of(unit))
    assert list(runtime.played_machines) == ["0"]
    removals.remove_applications(runtime.ctx, runtime.model, ["b"])
    assert (await drive(runtime, work)).problems == ()
    assert runtime.played_machines["0"].charms == {"a/0": "local:a-0"} or runtime.played_machines[
        "0"
    ].charms == {"a/0": "local:web-0"}
    removed = [frame for frame in runtime.played_machines["0"].frames if frame["kind"] == "remove-unit"]
    assert [(frame["unit"], frame["last"]) for frame in removed] == [("b/0", False), ("b/1", False)]
    assert runtime.status(StatusKind.MACHINE, "0") == ("started", "")
