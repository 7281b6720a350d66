"""Containers inside machines: recorded, made when their host answers, shown, ended; hosts wait for them."""

from __future__ import annotations

from typing import Any

import pytest

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.machine import machines
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.views import explain
from pushjuju.services.views.status import document
from pushjuju.uniter.wanted import wanted
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import PlayedRuntime, drive, worker
from tests.world.said import problems_of


def deploy(runtime: TestController, to: str, **more: Any) -> None:
    placements = [Placement.parse(to)] if to else []
    runtime.deploy(placements=placements, **more)


def remove(runtime: TestController, *ids: str, force: Force | None = None) -> None:
    removals.remove_machines(runtime.ctx, runtime.model, list(ids), force=force)


@pytest.mark.parametrize("word", ["lxd", "constraint"])
async def test_a_unit_in_a_container_on_a_new_machine(runtime: TestController, word: str) -> None:
    """The machine is made first; the container then, with what of the constraints is about it."""
    work = PlayedRuntime(runtime)
    wanted = {"mem": 1024, "instance-type": "big"}
    if word == "lxd":
        deploy(runtime, "lxd", constraints=wanted)
    else:
        deploy(runtime, "", constraints={**wanted, "container": "lxd"})
    assert runtime.machine_ids() == ["0", "0/lxd/0"]
    assert (await worker(work, "0/lxd/0")).reason == "waits for machine 0"
    assert (await drive(runtime, work)).problems == ()
    host, container = work.cloud.asked
    assert (host.machine_id, dict(host.constraints)) == ("0", wanted)
    assert (container.machine_id, dict(container.constraints)) == ("0/lxd/0", {"mem": 1024})
    assert container.hostname == f"juju-{runtime.model[-6:]}-0-lxd-0"
    assert (runtime.unit("web/0").machine, runtime.agent()[0]) == ("0/lxd/0", "idle")
    assert runtime.machine("0/lxd/0").provider == "lxd"
    shown = document.document(runtime.ctx, runtime.resolve_model())["machines"]
    assert list(shown) == ["0"]
    assert shown["0"]["containers"]["0/lxd/0"]["instance-id"] == "i-0/lxd/0"


async def test_containers_have_numbers_of_their_own_and_a_way_through_their_host(
    runtime: TestController,
) -> None:
    work = PlayedRuntime(runtime)
    deploy(runtime, "")
    deploy(runtime, "lxd:0", name="a")
    deploy(runtime, "lxd:0", name="b")
    assert runtime.machine_ids() == ["0", "0/lxd/0", "0/lxd/1"]
    await drive(runtime, work)
    target = work.target(runtime.machine("0/lxd/1"))
    assert target.jump is not None
    assert (target.host, target.host_key_alias, target.jump.host) == (
        "10.1.0.3",
        "machine-0-lxd-1",
        "10.0.0.2",
    )
    known = runtime.ctx.controller.known_hosts(runtime.model).read_text()
    assert "machine-0-lxd-1 ssh-ed25519 0/lxd/1\n" in known


async def test_a_machine_with_containers_stays(runtime: TestController) -> None:
    """Also when its own last unit goes; with the container it does not go by itself."""
    work = PlayedRuntime(runtime)
    deploy(runtime, "")
    deploy(runtime, "lxd:0", name="inner")
    await drive(runtime, work)
    with pytest.raises(NotValid, match='machine 0 is hosting containers "0/lxd/0"'):
        remove(runtime, "0")
    removals.remove_units(runtime.ctx, runtime.model, ["web/0"])
    await drive(runtime, work)
    assert runtime.machine_ids() == ["0", "0/lxd/0"]
    removals.remove_units(runtime.ctx, runtime.model, ["inner/0"])
    await drive(runtime, work)
    assert (runtime.machine_ids(), work.cloud.stopped) == (["0"], ["i-0/lxd/0"])
    remove(runtime, "0")
    await drive(runtime, work)
    assert runtime.machine_ids() == []


async def test_a_machine_that_is_forced_away_takes_its_containers_along(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    deploy(runtime, "lxd")
    await drive(runtime, work)
    remove(runtime, "0", force=Force())
    await drive(runtime, work)
    assert work.cloud.stopped == ["i-0/lxd/0", "i-0"]  # what is inside first
    assert (runtime.machine_ids(), runtime.units()) == ([], [])


async def test_both_can_be_removed_at_once(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    for to in (None, Placement.parse("lxd:0")):
        machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={}, container=to)
    await drive(runtime, work)
    remove(runtime, "0/lxd/0", "0")
    await drive(runtime, work)
    assert (runtime.machine_ids(), work.cloud.stopped) == ([], ["i-0/lxd/0", "i-0"])


async def test_a_machine_whose_container_cannot_go_says_so(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    for to in (None, Placement.parse("lxd:0")):
        machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={}, container=to)
    await drive(runtime, work)
    work.cloud.stuck = [ProviderError("the server is down")]
    remove(runtime, "0/lxd/0")
    assert len((await drive(runtime, work)).problems) == 1
    remove(runtime, "0")
    assert problems_of(await drive(runtime, work)) == (
        "machine 0: waits for container 0/lxd/0 (the server is down)",
    )
    (host,) = explain.explain(runtime.ctx, runtime.model, wanted, ["0"])
    assert host.reason == "waits for container 0/lxd/0 (the server is down)"
    assert [line.partition("    ")[0] for line in host.next] == [
        "explain 0/lxd/0",
        "remove-machine 0 --force",
    ]
    runtime.clock.advance(3600)
    assert (await drive(runtime, work)).problems == ()
    assert (runtime.machine_ids(), work.cloud.stopped) == ([], ["i-0/lxd/0", "i-0"])


async def test_a_model_goes_with_its_containers(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    deploy(runtime, "lxd")
    machines.add_machine(
        runtime.ctx, runtime.model, base=UBUNTU, constraints={}, container=Placement.parse("lxd")
    )
    await drive(runtime, work)
    assert runtime.machine_ids() == ["0", "0/lxd/0", "1", "1/lxd/0"]
    model = runtime.resolve_model()
    runtime.write(lambda tx: removal.destroy_model(tx, model))
    await drive(runtime, work)
    assert sorted(work.cloud.stopped) == ["i-0", "i-0/lxd/0", "i-1", "i-1/lxd/0"]
    assert work.cloud.destroyed == 1


async def test_why_a_container_cannot_be_made_is_told(runtime: TestController) -> None:
    work = PlayedRuntime(runtime)
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})
    await drive(runtime, work)
    machines.add_machine(
        runtime.ctx, runtime.model, base=UBUNTU, constraints={}, container=Placement.parse("lxd:0")
    )
    work.cloud.refusals.append(ProviderError("machine 0 has no LXD: install lxd there", retryable=False))
    assert len((await drive(runtime, work)).problems) == 1
    told = ("provisioning error", "machine 0 has no LXD: install lxd there")
    assert runtime.status(StatusKind.INSTANCE, "0/lxd/0") == told


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("kvm:0", "kvm containers are not supported"),
        ("kvm", "kvm containers are not supported"),
        ("lxd:0/lxd/0", "machine 0/lxd/0 cannot host lxd containers"),
        ("lxd:1", "machine 1 is not alive"),
    ],
)
def test_what_cannot_be_a_host_is_refused(runtime: TestController, to: str, why: str) -> None:
    deploy(runtime, "lxd")
    deploy(runtime, "", name="gone")
    runtime.write(lambda tx: tx.run("machine_set_life", id="1", life="dying"))
    before = runtime.machine_ids()
    with pytest.raises(NotValid, match=why):
        deploy(runtime, to, name="more")
    assert runtime.machine_ids() == before
