"""Machines that are there already: taken in whole, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, AuthFailed, NotValid, ProviderError, PushjujuError
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.plugins.api.providers import Hardware, Instance, Started
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.workers.provision.enlist import add_given_machine
from tests.world.charms import SETUP
from tests.world.controller import TestController
from tests.world.machine import PlayedMachine
from tests.world.runtime import PlayedCloud, PlayedRuntime, worker

TARGET = "ssh:kim@192.0.2.7:2222"


class Manual(PlayedCloud):
    """A provider that takes machines in."""

    refused: PushjujuError | None = None
    keys: Sequence[str] = ()

    async def enlist(
        self,
        target: str,
        *,
        machine_id: str,
        authorized_keys: Sequence[str],
        identities: Sequence[Path] = (),
        progress: Any = None,
    ) -> Started:
        """Take one in."""
        progress("allocating", "logging in")
        self.keys = authorized_keys
        if self.refused:
            raise self.refused
        self.world.played_machines[machine_id] = PlayedMachine(id=machine_id, address="192.0.2.7")
        instance = Instance(
            id=f"manual:{target}",
            status=InstanceStatus.RUNNING,
            message="Manually provisioned machine",
            hardware=Hardware(arch="amd64", cores=4),
        )
        return Started(instance=instance, base=Base.parse("ubuntu@22.04"))

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return where it answers."""
        return SSHTarget(host="192.0.2.7", port=2222, user="kim", host_keys=("ssh-ed25519 k",))


def _shop(runtime: TestController) -> tuple[PlayedRuntime, Manual]:
    work, cloud = PlayedRuntime(runtime), Manual(runtime)
    work.cloud = cloud
    return work, cloud


async def test_machine_taken_in(runtime: TestController) -> None:
    work, cloud = _shop(runtime)
    runtime.forget_work()
    machine = await add_given_machine(work, runtime.model, TARGET, public_keys=["ssh-ed25519 mine"])
    assert machine == runtime.machine("0")
    assert (machine.provider, machine.instance_id, machine.base) == (
        "manual",
        f"manual:{TARGET}",
        "ubuntu@22.04/stable",
    )
    assert {key: machine.ssh[key] for key in ("host", "port", "user")} == {
        "host": "192.0.2.7", "port": 2222, "user": "kim",
    }  # fmt: skip
    own = runtime.ctx.controller.public_key.read_text().strip()
    assert list(cloud.keys) == [own, "ssh-ed25519 mine"]
    assert runtime.status(StatusKind.MACHINE, "0") == ("pending", "")
    assert runtime.status(StatusKind.INSTANCE, "0") == ("running", "Manually provisioned machine")
    assert runtime.touched() == ["machine/0"]
    known = runtime.ctx.controller.known_hosts(runtime.model).read_text()
    assert known == "[192.0.2.7]:2222 ssh-ed25519 k\n"
    assert ("machine 0", "logging in") in [(item.entity, item.text) for item in work.events]


async def test_units_come_to_it_and_leave_it_clean(runtime: TestController) -> None:
    work, cloud = _shop(runtime)
    await add_given_machine(work, runtime.model, TARGET)
    runtime.deploy(placements=[Placement.parse("0")])
    assert not (await worker(work)).failed
    assert tuple(runtime.of("web/0")) == SETUP
    assert runtime.status(StatusKind.INSTANCE, "0") == ("running", "Manually provisioned machine")
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    played = runtime.played_machines["0"]
    await worker(work)
    assert (played.frames[-1]["kind"], played.frames[-1]["last"]) == ("remove-unit", True)
    assert cloud.stopped == [f"manual:{TARGET}"]
    assert runtime.machine_ids() == []


@pytest.mark.parametrize(
    "error",
    [
        AuthFailed("the machine refuses the login"),
        AlreadyExists("machine is already provisioned"),
        ProviderError("no python"),
    ],
)
async def test_a_refused_machine_leaves_nothing(runtime: TestController, error: PushjujuError) -> None:
    work, cloud = _shop(runtime)
    before = runtime.dump()
    cloud.refused = error
    with pytest.raises(type(error)):
        await add_given_machine(work, runtime.model, TARGET)
    after = runtime.dump()
    assert {table for table in after if after[table] != before[table]} <= {"sequence"}
    cloud.refused = None
    assert (await add_given_machine(work, runtime.model, TARGET)).id == "0"


async def test_dying_model_takes_nothing_in(runtime: TestController) -> None:
    work, _ = _shop(runtime)
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx)))
    before = runtime.dump()
    with pytest.raises(NotValid, match='model "shop" is no longer alive'):
        await add_given_machine(work, runtime.model, TARGET)
    assert runtime.dump() == before


async def test_provider_that_takes_nothing_in(runtime: TestController) -> None:
    with pytest.raises(NotValid, match="the manual provider cannot take in machines"):
        await add_given_machine(PlayedRuntime(runtime), runtime.model, TARGET)
    assert runtime.machine_ids() == []
