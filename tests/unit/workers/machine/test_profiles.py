"""Profiles of charms: a container has them before its first hook; they follow refresh, and go unused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.core.model.placement import Placement
from pushjuju.plugins.api.providers import CharmProfile
from pushjuju.services.entities.action import actions
from pushjuju.services.entities.charm import charm_profiles
from pushjuju.services.entities.machine import machines
from pushjuju.services.requests import removals
from pushjuju.services.requests.action import operations
from pushjuju.services.requests.action.operations import CommandRequest
from pushjuju.services.views.status import document
from pushjuju.workers.rehearsal import rehearse
from tests.world.charms import SETUP
from tests.world.controller import TestController
from tests.world.runtime import Died, PlayedCloud, PlayedRuntime, die_at, drive, worker
from tests.world.said import problems_of

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


class ProfiledCloud(PlayedCloud):
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


def work_of(runtime: TestController) -> tuple[PlayedRuntime, ProfiledCloud]:
    """A runtime with such a cloud."""
    work = PlayedRuntime(runtime)
    cloud = ProfiledCloud(runtime)
    cloud.given = []
    work.cloud = cloud
    work._features = {"local": frozenset({"charm-profiles"})}
    return work, cloud


def deploy(runtime: TestController, name: str = "web", **more: Any) -> None:
    runtime.deploy(name, packed=runtime.charms.make(name, files={"lxd-profile.yaml": PROFILE}), **more)


async def test_a_container_starts_with_the_profiles_of_its_charms(runtime: TestController) -> None:
    work, cloud = work_of(runtime)
    deploy(runtime)
    assert (await drive(runtime, work)).problems == ()
    (request,) = cloud.asked
    model = runtime.resolve_model().name
    name = f"juju-{model}-web-0"
    (profile,) = request.profiles
    assert (profile.name, profile.document()) == (name, SHOWN)
    assert cloud.given == [("i-0", [name], [name])]
    machine = document.document(runtime.ctx, runtime.resolve_model())["machines"]["0"]
    assert machine["lxd-profiles"] == {name: SHOWN}
    assert machine["modification-status"]["current"] == "applied"
    await drive(runtime, work)
    assert len(cloud.given) == 1  # what it has it is not given again


async def test_units_wait_for_a_profile_that_cannot_be_had(runtime: TestController) -> None:
    """No hook runs; the status says why; afterwards all goes on."""
    work, cloud = work_of(runtime)
    cloud.refusal = ProviderError("no such device")
    deploy(runtime)
    problems = problems_of(await drive(runtime, work))
    assert "machine 0 cannot have the LXD profiles of its charms: no such device" in problems[0]
    assert runtime.hooks() == []
    machine = document.document(runtime.ctx, runtime.resolve_model())["machines"]["0"]
    assert machine["modification-status"]["current"] == "error"
    assert machine["modification-status"]["message"] == "cannot apply charm profiles: no such device"
    cloud.refusal = None
    runtime.clock.advance(60)
    await drive(runtime, work)
    assert runtime.agent() == ("idle", "")
    machine = document.document(runtime.ctx, runtime.resolve_model())["machines"]["0"]
    assert machine["modification-status"]["current"] == "applied"


def shown(runtime: TestController, unit: str) -> tuple[str, str, str]:
    """Workload status, its message and the agent's status, as `status` shows them."""
    found = document.document(runtime.ctx, runtime.resolve_model())
    row = found["applications"][unit.partition("/")[0]]["units"][unit]
    return (
        row["workload-status"]["current"],
        row["workload-status"].get("message", ""),
        row["juju-status"]["current"],
    )


WAITS = "required charm profile not yet applied to machine"


async def test_only_what_needs_a_profile_waits_for_one_that_cannot_be_had(runtime: TestController) -> None:
    """An upgrade and a new unit wait, and say so; actions, hooks, neighbours and removals go on."""
    work, cloud = work_of(runtime)
    deploy(runtime)
    runtime.deploy("zap", packed=runtime.charms.make("zap"), placements=[Placement.parse("0")])
    await drive(runtime, work)
    cloud.refusal = ProviderError("no such device")
    changed = PROFILE.replace("nests", "nests more")
    runtime.refresh(runtime.charms.make("web", files={"lxd-profile.yaml": changed}))
    deploy(runtime, "new", placements=[Placement.parse("0")])
    runtime.deploy("plain", packed=runtime.charms.make("plain"), placements=[Placement.parse("0")])
    tasks = operations.enqueue_commands(
        runtime.ctx, runtime.model, CommandRequest(command="date", timeout_s=5, units=["web/0"])
    ).tasks
    before = len(runtime.of("web/0"))
    problems = problems_of(await drive(runtime, work))
    why = "machine 0 cannot have the LXD profiles of its charms: no such device"
    assert problems == (f"unit new/0: {why}", f"unit web/0: {why}"), "neighbours have no part in it"
    assert [runtime.of(name) for name in ("new/0", "plain/0")] == [[], list(SETUP)]
    assert (runtime.of("web/0")[before:], runtime.unit("web/0").charm_url) == ([], "local:web-0")
    assert {runtime.read(lambda tx, t=t: actions.get_task(tx, t.id)).status for t in tasks} == {"completed"}
    assert shown(runtime, "web/0") == (*shown(runtime, "new/0")[:2], "idle") == ("waiting", WAITS, "idle")
    assert shown(runtime, "plain/0")[0] != "waiting"
    removals.remove_units(runtime.ctx, runtime.model, ["zap/0", "new/0"])
    await drive(runtime, work)
    assert runtime.units() == ["plain/0", "web/0"]
    cloud.refusal = None
    runtime.clock.advance(60)
    assert (await drive(runtime, work)).problems == ()
    assert runtime.of("web/0")[before:] == ["upgrade-charm", "config-changed"]
    assert shown(runtime, "web/0")[1:] == ("", "idle")


async def test_a_unit_that_waits_for_a_profile_can_be_removed(runtime: TestController) -> None:
    work, cloud = work_of(runtime)
    deploy(runtime)
    await drive(runtime, work)
    cloud.refusal = ProviderError("no such device")
    runtime.refresh(
        runtime.charms.make("web", files={"lxd-profile.yaml": PROFILE.replace("nests", "nests more")})
    )
    await drive(runtime, work)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    assert (runtime.units(), cloud.stopped) == ([], ["i-0"])


async def test_a_plan_takes_it_that_profiles_are_applied(runtime: TestController) -> None:
    work, _ = work_of(runtime)
    deploy(runtime)
    await drive(runtime, work)
    runtime.refresh(
        runtime.charms.make("web", files={"lxd-profile.yaml": PROFILE.replace("nests", "nests more")})
    )
    steps = [step.title for step in rehearse(runtime.ctx).steps]
    assert steps == ["charm local:web-1", "upgrade-charm", "config-changed"]


async def test_what_nobody_noted_is_given_again(runtime: TestController) -> None:
    """The controller dies between the cloud's yes and the note of it."""

    first, cloud = work_of(runtime)
    first.checkpoint = die_at("profiles-applied")
    deploy(runtime)
    with pytest.raises(Died):
        await worker(first)
    second, again = work_of(runtime)
    again.given = cloud.given
    assert (await drive(runtime, second)).problems == ()
    assert [given[0] for given in cloud.given] == ["i-0", "i-0"]
    assert runtime.agent() == ("idle", "")


async def test_profiles_follow_a_refresh_and_the_units(runtime: TestController) -> None:
    """The new revision's takes the place of the old one's before upgrade-charm; what nobody wants goes."""
    work, cloud = work_of(runtime)
    deploy(runtime)
    deploy(runtime, "more", placements=[Placement.parse("0")])
    await drive(runtime, work)
    model = runtime.resolve_model().name
    web, more, new = (f"juju-{model}-{end}" for end in ("web-0", "more-0", "web-1"))
    assert cloud.given[-1] == ("i-0", [more, web], [more, web])
    changed = PROFILE.replace("nests", "nests more")
    runtime.refresh(runtime.charms.make("web", files={"lxd-profile.yaml": changed}))
    with runtime.ctx.read(runtime.model) as tx:
        assert charm_profiles.lacking(tx, machines.get(tx, "0")) == {"web"}
    await drive(runtime, work)
    assert cloud.given[-1] == ("i-0", [more, new], [more, new])
    removals.remove_units(runtime.ctx, runtime.model, ["more/0"])
    await drive(runtime, work)
    assert cloud.given[-1] == ("i-0", [new], [new])
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    assert (cloud.stopped, cloud.given[-1]) == (["i-0"], ("", [], []))


async def test_a_machine_goes_though_its_cloud_keeps_the_profiles(runtime: TestController) -> None:
    work, cloud = work_of(runtime)
    deploy(runtime)
    await drive(runtime, work)
    cloud.refusal = ProviderError("the server is read-only")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    assert problems_of(await drive(runtime, work)) == ()
    assert (cloud.stopped, runtime.machine_ids()) == (["i-0"], [])
    text = "profiles of charms stay on the server: the server is read-only"
    assert [(item.entity, item.state) for item in work.events if item.text == text] == [
        ("machine 0", "failed")
    ]


@pytest.mark.parametrize("text", ["", "description: nothing\n"])
async def test_a_profile_that_asks_for_nothing_is_none(runtime: TestController, text: str) -> None:
    work, cloud = work_of(runtime)
    runtime.deploy(packed=runtime.charms.make("web", files={"lxd-profile.yaml": text}))
    await drive(runtime, work)
    assert cloud.given == []
    assert "lxd-profiles" not in document.document(runtime.ctx, runtime.resolve_model())["machines"]["0"]
