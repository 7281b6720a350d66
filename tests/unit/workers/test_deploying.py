"""Machines that their cloud has to install first: waited for, shown, given up, removed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.life import Life
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.types import Instance, ProviderType, SSHTarget, Started, StartRequest
from pushjuju.services.entities.machine import machines
from pushjuju.workers import deploying
from tests.unit.services.world import UBUNTU, World
from tests.unit.workers.fakes import Cloud, Shop, lane
from tests.unit.workers.test_lane import _in, _instance

DEPLOYING = (InstanceStatus.ALLOCATING, "Deploying: Rebooting")
DEPLOYED = (InstanceStatus.RUNNING, "Deployed")
FAILED = (InstanceStatus.PROVISIONING_ERROR, "Failed deployment: no disk")


class Installing(Cloud):
    """A cloud that says one thing after the other of its machines; the last one for good."""

    def __init__(self, world: World, *said: tuple[InstanceStatus, str]) -> None:
        super().__init__(world)
        self.said = list(said)
        self.seen: list[tuple[str, str]] = []

    async def start(self, request: StartRequest) -> Started:
        """Begin."""
        started = await super().start(request)
        return replace(started, instance=replace(started.instance, status=DEPLOYING[0], message=DEPLOYING[1]))

    async def get(self, ids: Sequence[str]) -> Sequence[Instance | None]:
        """Say the next thing; note what is shown until then."""
        self.seen.append(_instance(self.world))
        status, message = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        found = await super().get(ids)
        return [item and replace(item, status=status, message=message) for item in found]

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Another address than before, once it is there."""
        target = await super().ssh_target(instance)
        return target if instance.status is DEPLOYED[0] else replace(target, host="able.maas")


def _shop(shop: World, monkeypatch: pytest.MonkeyPatch, *said: tuple[InstanceStatus, str]) -> Shop:
    monkeypatch.setattr(deploying, "LOOK_FIRST_S", 0.001)
    monkeypatch.setattr(deploying, "LOOK_MOST_S", 0.001)
    work = Shop(shop)
    work.cloud = Installing(shop, *said)
    kind = ProviderType(name="local", summary="", features=frozenset({"start", "installs"}))
    monkeypatch.setattr(work.host, "provider_types", lambda: (kind,))
    return work


def _add(shop: World) -> None:
    machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={})


async def test_nobody_logs_in_before_a_machine_is_installed(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(shop, monkeypatch, DEPLOYING, (DEPLOYING[0], "Deploying: Installing OS"), DEPLOYED)
    _add(shop)
    assert not (await lane(work)).failed
    assert isinstance(work.cloud, Installing)
    assert work.cloud.seen == [DEPLOYING, DEPLOYING, (DEPLOYING[0], "Deploying: Installing OS")]
    assert [event.text for event in work.events if event.text.startswith("Depl")] == [
        "Deploying: Installing OS",
        "Deployed",
    ]
    assert work.opened == ["0"]
    assert shop.machine("0").ssh["host"] == "10.0.0.2"
    assert shop.machine("0").ssh["host_keys"] == ["ssh-ed25519 0"]
    assert _instance(shop) == ("running", "Running")
    await lane(work)
    assert len(work.cloud.seen) == 3  # a machine that has answered is not asked about


async def test_a_machine_that_cannot_be_installed_waits_for_a_person(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(shop, monkeypatch, FAILED)
    _add(shop)
    outcome = await lane(work)
    assert (outcome.failed, _in(shop, outcome)) == (True, deploying.FAILED_LOOK_S)
    assert outcome.reason == (
        "machine 0 could not be installed: Failed deployment: no disk; next: pushjuju retry-provisioning 0"
    )
    assert _instance(shop) == FAILED
    assert (work.opened, len(work.cloud.asked)) == ([], 1)
    assert shop.write(lambda tx: machines.not_started(tx, shop.model)) == ["0"]
    shop.write(lambda tx: machines.retry_provisioning(tx, shop.model, "0", shop.clock.now()))
    work.cloud = Installing(shop, DEPLOYED)
    assert not (await lane(work)).failed
    assert (work.opened, len(work.cloud.asked)) == (["0"], 1)
    with pytest.raises(NotValid, match=r"machine 0 is not in an error state \(running\)"):
        shop.write(lambda tx: machines.retry_provisioning(tx, shop.model, "0", shop.clock.now()))


async def test_a_machine_that_somebody_mended_in_its_cloud_goes_on(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(shop, monkeypatch, FAILED, DEPLOYING, DEPLOYED)
    _add(shop)
    assert (await lane(work)).failed
    assert not (await lane(work)).failed
    assert (work.opened, len(work.cloud.asked)) == (["0"], 1)


async def test_a_machine_that_is_removed_meanwhile_is_not_waited_for(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(shop, monkeypatch, DEPLOYING)
    _add(shop)
    working = asyncio.create_task(lane(work))
    while len(work.cloud.seen) < 3:  # type: ignore[attr-defined]  # noqa: ASYNC110 - a list grows
        await asyncio.sleep(0.001)
    shop.write(lambda tx: tx.run("machine_set_life", model=shop.model, id="0", life=Life.DYING))
    await working
    assert (work.opened, work.cloud.stopped) == ([], ["i-0"])
    assert shop.write(lambda tx: machines.list_machines(tx, shop.model)) == []


async def test_a_machine_that_goes_while_it_is_installed(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(shop, monkeypatch, DEPLOYING)
    _add(shop)
    shop_start = work.cloud.start

    async def start_and_go(request: StartRequest) -> Started:
        started = await shop_start(request)
        shop.boxes.clear()
        return started

    monkeypatch.setattr(work.cloud, "start", start_and_go)
    outcome = await lane(work)
    assert outcome.reason == (
        "machine 0 is gone from its cloud: no instance i-0; next: pushjuju remove-machine 0 --force"
    )


async def test_a_cloud_that_is_away_is_asked_again_later(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(shop, monkeypatch, DEPLOYING)
    _add(shop)

    async def away(_ids: Sequence[str]) -> Sequence[Instance | None]:
        raise ProviderError("the MAAS server does not answer")

    monkeypatch.setattr(work.cloud, "get", away)
    outcome = await lane(work)
    assert (outcome.reason, _in(shop, outcome)) == ("the MAAS server does not answer", 5.0)
    assert _instance(shop) == DEPLOYING
