"""Profiles of charms: a container has them before its first hook; they follow refresh, and go unused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.core.placement import Placement
from pushjuju.plugins.types import CharmProfile
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.action.actions import CommandRequest
from pushjuju.services.entities.charm import charm_profiles
from pushjuju.services.entities.machine import machines
from pushjuju.services.lifecycle import removal
from pushjuju.services.views.status import document
from pushjuju.workers.rehearsal import rehearse
from tests.unit.services.world import SETUP, World
from tests.unit.workers.fakes import Cloud, Shop, drive, lane

PROFILE = """\
config: {security.nesting: true}
description: nests
devices: {tun: {path: /dev/net/tun, type: unix-char}}
"""
SHOWN = {
    "config": {"security.nesting": "true"},
    "description": "nests",
    "devices": {"tun": {"path": "/dev/net/tun", "type": "unix-char"}},
}


class ProfiledCloud(Cloud):
    """A cloud whose machines can have profiles.

    Attributes:
        given: (Instance, names of its profiles, those that stay), in order.
        refusal: Why the next ones are not given.
    """

    given: list[tuple[str, list[str], list[str]]]
    refusal: ProviderError | None = None

    async def set_profiles(
        self, instance_id: str, wanted: Sequence[CharmProfile], keep: Collection[str]
    ) -> None:
        """Note it, with the hooks that ran before."""
        if self.refusal is not None:
            raise self.refusal
        self.given.append((instance_id, [item.name for item in wanted], sorted(keep)))


def work_of(shop: World) -> tuple[Shop, ProfiledCloud]:
    """A workshop with such a cloud."""
    work = Shop(shop)
    cloud = ProfiledCloud(shop)
    cloud.given = []
    work.cloud = cloud
    work._features = {"local": frozenset({"charm-profiles"})}
    return work, cloud


def deploy(shop: World, name: str = "web", **more: Any) -> None:
    shop.deploy(name, packed=shop.charms.make(name, files={"lxd-profile.yaml": PROFILE}), **more)


async def test_a_container_starts_with_the_profiles_of_its_charms(shop: World) -> None:
    work, cloud = work_of(shop)
    deploy(shop)
    assert (await drive(shop, work)).problems == ()
    (request,) = cloud.asked
    model = shop.resolve_model().name
    name = f"juju-{model}-web-0"
    (profile,) = request.profiles
    assert (profile.name, profile.document()) == (name, SHOWN)
    assert cloud.given == [("i-0", [name], [name])]
    machine = document.document(shop.ctx, shop.resolve_model())["machines"]["0"]
    assert machine["lxd-profiles"] == {name: SHOWN}
    assert machine["modification-status"]["current"] == "applied"
    await drive(shop, work)
    assert len(cloud.given) == 1  # what it has it is not given again


async def test_units_wait_for_a_profile_that_cannot_be_had(shop: World) -> None:
    """No hook runs; the status says why; afterwards all goes on."""
    work, cloud = work_of(shop)
    cloud.refusal = ProviderError("no such device")
    deploy(shop)
    problems = (await drive(shop, work)).problems
    assert "machine 0 cannot have the LXD profiles of its charms: no such device" in problems[0]
    assert shop.hooks() == []
    machine = document.document(shop.ctx, shop.resolve_model())["machines"]["0"]
    assert machine["modification-status"]["current"] == "error"
    assert machine["modification-status"]["message"] == "cannot apply charm profiles: no such device"
    cloud.refusal = None
    shop.clock.advance(60)
    await drive(shop, work)
    assert shop.agent() == ("idle", "")
    machine = document.document(shop.ctx, shop.resolve_model())["machines"]["0"]
    assert machine["modification-status"]["current"] == "applied"


def shown(shop: World, unit: str) -> tuple[str, str, str]:
    """Workload status, its message and the agent's status, as `status` shows them."""
    found = document.document(shop.ctx, shop.resolve_model())
    row = found["applications"][unit.partition("/")[0]]["units"][unit]
    return (
        row["workload-status"]["current"],
        row["workload-status"].get("message", ""),
        row["juju-status"]["current"],
    )


WAITS = "required charm profile not yet applied to machine"


async def test_only_what_needs_a_profile_waits_for_one_that_cannot_be_had(shop: World) -> None:
    """An upgrade and a new unit wait, and say so; actions, hooks, neighbours and removals go on."""
    work, cloud = work_of(shop)
    deploy(shop)
    shop.deploy("zap", packed=shop.charms.make("zap"), placements=[Placement.parse("0")])
    await drive(shop, work)
    cloud.refusal = ProviderError("no such device")
    changed = PROFILE.replace("nests", "nests more")
    shop.refresh(shop.charms.make("web", files={"lxd-profile.yaml": changed}))
    deploy(shop, "new", placements=[Placement.parse("0")])
    shop.deploy("plain", packed=shop.charms.make("plain"), placements=[Placement.parse("0")])
    tasks = actions.enqueue_commands(
        shop.ctx, shop.model, CommandRequest(command="date", timeout_s=5, units=["web/0"])
    ).tasks
    before = len(shop.of("web/0"))
    problems = (await drive(shop, work)).problems
    why = "machine 0 cannot have the LXD profiles of its charms: no such device"
    assert problems == (f"unit new/0: {why}", f"unit web/0: {why}"), "neighbours have no part in it"
    assert [shop.of(name) for name in ("new/0", "plain/0")] == [[], list(SETUP)]
    assert (shop.of("web/0")[before:], shop.unit("web/0").charm_url) == ([], "local:web-0")
    assert {shop.read(lambda tx, t=t: actions.get_task(tx, shop.model, t.id)).status for t in tasks} == {
        "completed"
    }
    assert shown(shop, "web/0") == (*shown(shop, "new/0")[:2], "idle") == ("waiting", WAITS, "idle")
    assert shown(shop, "plain/0")[0] != "waiting"
    removal.remove_units(shop.ctx, shop.model, ["zap/0", "new/0"])
    await drive(shop, work)
    assert shop.units() == ["plain/0", "web/0"]
    cloud.refusal = None
    shop.clock.advance(60)
    assert (await drive(shop, work)).problems == ()
    assert shop.of("web/0")[before:] == ["upgrade-charm", "config-changed"]
    assert shown(shop, "web/0")[1:] == ("", "idle")


async def test_a_unit_that_waits_for_a_profile_can_be_removed(shop: World) -> None:
    work, cloud = work_of(shop)
    deploy(shop)
    await drive(shop, work)
    cloud.refusal = ProviderError("no such device")
    shop.refresh(shop.charms.make("web", files={"lxd-profile.yaml": PROFILE.replace("nests", "nests more")}))
    await drive(shop, work)
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    await drive(shop, work)
    assert (shop.units(), cloud.stopped) == ([], ["i-0"])


async def test_a_plan_takes_it_that_profiles_are_applied(shop: World) -> None:
    work, _ = work_of(shop)
    deploy(shop)
    await drive(shop, work)
    shop.refresh(shop.charms.make("web", files={"lxd-profile.yaml": PROFILE.replace("nests", "nests more")}))
    steps = [step.title for step in rehearse(shop.ctx).steps]
    assert steps == ["charm local:web-1", "upgrade-charm", "config-changed"]


class Died(BaseException):
    """The controller was killed."""


async def test_what_nobody_noted_is_given_again(shop: World) -> None:
    """The controller dies between the cloud's yes and the note of it."""

    def die(step: str) -> None:
        if step == "profiles-applied":
            raise Died

    first, cloud = work_of(shop)
    first.checkpoint = die
    deploy(shop)
    with pytest.raises(Died):
        await lane(first)
    second, again = work_of(shop)
    again.given = cloud.given
    assert (await drive(shop, second)).problems == ()
    assert [given[0] for given in cloud.given] == ["i-0", "i-0"]
    assert shop.agent() == ("idle", "")


async def test_profiles_follow_a_refresh_and_the_units(shop: World) -> None:
    """The new revision's takes the place of the old one's before upgrade-charm; what nobody wants goes."""
    work, cloud = work_of(shop)
    deploy(shop)
    deploy(shop, "more", placements=[Placement.parse("0")])
    await drive(shop, work)
    model = shop.resolve_model().name
    web, more, new = (f"juju-{model}-{end}" for end in ("web-0", "more-0", "web-1"))
    assert cloud.given[-1] == ("i-0", [more, web], [more, web])
    changed = PROFILE.replace("nests", "nests more")
    shop.refresh(shop.charms.make("web", files={"lxd-profile.yaml": changed}))
    with shop.ctx.store.read() as tx:
        assert charm_profiles.lacking(tx, machines.get(tx, shop.model, "0")) == {"web"}
    await drive(shop, work)
    assert cloud.given[-1] == ("i-0", [more, new], [more, new])
    removal.remove_units(shop.ctx, shop.model, ["more/0"])
    await drive(shop, work)
    assert cloud.given[-1] == ("i-0", [new], [new])
    removal.remove_units(shop.ctx, shop.model, ["web/0"])
    await drive(shop, work)
    assert (cloud.stopped, cloud.given[-1]) == (["i-0"], ("", [], []))


@pytest.mark.parametrize("text", ["", "description: nothing\n"])
async def test_a_profile_that_asks_for_nothing_is_none(shop: World, text: str) -> None:
    work, cloud = work_of(shop)
    shop.deploy(packed=shop.charms.make("web", files={"lxd-profile.yaml": text}))
    await drive(shop, work)
    assert cloud.given == []
    assert "lxd-profiles" not in document.document(shop.ctx, shop.resolve_model())["machines"]["0"]
