"""Machines that their cloud has to install first: waited for, shown, given up, removed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.status import InstanceStatus, Life
from pushjuju.plugins.api.providers import Instance, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.services.entities.machine import machines
from pushjuju.workers.provision import installing
from tests.unit.workers.machine.test_machine_worker import _in, _instance
from tests.waiting import until
from tests.world.charms import UBUNTU
from tests.world.controller import TestController
from tests.world.runtime import PlayedCloud, PlayedRuntime, worker
from tests.world.said import reason_of

DEPLOYING = (InstanceStatus.ALLOCATING, "Deploying: Rebooting")
DEPLOYED = (InstanceStatus.RUNNING, "Deployed")
FAILED = (InstanceStatus.PROVISIONING_ERROR, "Failed deployment: no disk")


class Installing(PlayedCloud):
    """A cloud that says one thing after the other of its machines; the last one for good."""

    def __init__(self, world: TestController, *said: tuple[InstanceStatus, str]) -> None:
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


def _shop(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch, *said: tuple[InstanceStatus, str]
) -> PlayedRuntime:
    monkeypatch.setattr(installing, "LOOK_FIRST_S", 0.001)
    monkeypatch.setattr(installing, "LOOK_MOST_S", 0.001)
    work = PlayedRuntime(runtime)
    work.cloud = Installing(runtime, *said)
    monkeypatch.setattr(work, "features", lambda _: frozenset({"start", "installs"}))
    return work


def _add(runtime: TestController) -> None:
    machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={})


async def test_nobody_logs_in_before_a_machine_is_installed(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(runtime, monkeypatch, DEPLOYING, (DEPLOYING[0], "Deploying: Installing OS"), DEPLOYED)
    _add(runtime)
    assert not (await worker(work)).failed
    assert isinstance(work.cloud, Installing)
    assert work.cloud.seen == [DEPLOYING, DEPLOYING, (DEPLOYING[0], "Deploying: Installing OS")]
    assert [event.text for event in work.events if event.text.startswith("Depl")] == [
        "Deploying: Installing OS",
        "Deployed",
    ]
    assert work.opened == ["0"]
    assert runtime.machine("0").ssh["host"] == "10.0.0.2"
    assert runtime.machine("0").ssh["host_keys"] == ["ssh-ed25519 0"]
    assert _instance(runtime) == ("running", "Running")
    await worker(work)
    assert len(work.cloud.seen) == 3  # a machine that has answered is not asked about


async def test_a_machine_that_cannot_be_installed_waits_for_a_person(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(runtime, monkeypatch, FAILED)
    _add(runtime)
    outcome = await worker(work)
    assert (outcome.failed, _in(runtime, outcome)) == (True, installing.FAILED_LOOK_S)
    assert reason_of(outcome) == (
        "machine 0 could not be installed: Failed deployment: no disk; next: pushjuju retry-provisioning 0"
    )
    assert _instance(runtime) == FAILED
    assert (work.opened, len(work.cloud.asked)) == ([], 1)
    assert runtime.write(machines.not_started) == ["0"]
    runtime.write(lambda tx: machines.retry_start(tx, "0"))
    work.cloud = Installing(runtime, DEPLOYED)
    assert not (await worker(work)).failed
    assert (work.opened, len(work.cloud.asked)) == (["0"], 1)
    with pytest.raises(NotValid, match=r"machine 0 is not in an error state \(running\)"):
        runtime.write(lambda tx: machines.retry_start(tx, "0"))


async def test_a_machine_that_somebody_mended_in_its_cloud_goes_on(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(runtime, monkeypatch, FAILED, DEPLOYING, DEPLOYED)
    _add(runtime)
    assert (await worker(work)).failed
    assert not (await worker(work)).failed
    assert (work.opened, len(work.cloud.asked)) == (["0"], 1)


async def test_a_machine_that_is_removed_meanwhile_is_not_waited_for(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(runtime, monkeypatch, DEPLOYING)
    _add(runtime)
    working = asyncio.create_task(worker(work))
    await until(lambda: len(work.cloud.seen) >= 3)  # type: ignore[attr-defined]
    runtime.write(lambda tx: tx.run("machine_set_life", id="0", life=Life.DYING))
    await working
    assert (work.opened, work.cloud.stopped) == ([], ["i-0"])
    assert runtime.write(machines.list_machines) == []


async def test_a_machine_that_goes_while_it_is_installed(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(runtime, monkeypatch, DEPLOYING)
    _add(runtime)
    shop_start = work.cloud.start

    async def start_and_go(request: StartRequest) -> Started:
        started = await shop_start(request)
        runtime.played_machines.clear()
        return started

    monkeypatch.setattr(work.cloud, "start", start_and_go)
    outcome = await worker(work)
    assert reason_of(outcome) == (
        "machine 0 is gone from its cloud: no instance i-0; next: pushjuju remove-machine 0 --force"
    )


async def test_a_cloud_that_is_away_is_asked_again_later(
    runtime: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _shop(runtime, monkeypatch, DEPLOYING)
    _add(runtime)

    async def away(_ids: Sequence[str]) -> Sequence[Instance | None]:
        raise ProviderError("the MAAS server does not answer")

    monkeypatch.setattr(work.cloud, "get", away)
    outcome = await worker(work)
    assert (reason_of(outcome), _in(runtime, outcome)) == ("the MAAS server does not answer", 5.0)
    assert _instance(runtime) == DEPLOYING
