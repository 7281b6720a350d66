"""Models of thousands of units, written into the store: nothing of them runs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import timedelta

from pushjuju.core.clock import to_iso
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import Agent, InstanceStatus, MachineStatus, StatusKind, Workload
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.network import addresses_from_nics
from pushjuju.store.tx import ModelTx
from tests.world.charms import UBUNTU
from tests.world.controller import TestController

_HARDWARE = json.dumps({"arch": "amd64", "cores": "2", "mem": "2048M"})


def crowd(world: TestController, units: int, machines: int) -> None:
    """Deploy applications whose units share machines, a hundred units each; nothing of them runs."""
    world.deploy("app0", machines)
    placed = (Placement.parse(str(number % machines)) for number in range(units - machines))
    for number, part in enumerate(_hundreds(placed), 1):
        world.deploy(f"app{number}", len(part), placements=part)
    _run(world)


def _hundreds(placements: Iterator[Placement]) -> Iterator[list[Placement]]:
    while part := list(itertools.islice(placements, 100)):
        yield part


def populate(world: TestController, units: int) -> None:
    """Deploy two applications; their machines run and told of themselves, their units are active."""
    world.deploy("web", units // 2)
    world.deploy("store", units - units // 2)
    _run(world)


def _run(world: TestController) -> None:
    """Let all machines run and all units be active."""
    machines, names = world.machine_ids(), world.units()

    def write(tx: ModelTx) -> None:
        for machine in machines:
            _start(tx, world, machine)
        for name in names:
            _activate(tx, world, name)

    world.write(write)


def _start(tx: ModelTx, world: TestController, machine: str) -> None:
    number, now = int(machine), world.clock.now()
    address, since = f"10.{number // 250}.{number % 250}.7", now + timedelta(seconds=7 * number)
    lan = {"value": address, "cidr": f"{address}/16"}
    mac = f"00:16:3e:00:{number // 256:02x}:{number % 256:02x}"
    nics = [{"name": "eth0", "mac": mac, "up": True, "addresses": [lan]}]
    tx.run(
        "machine_set_instance", id=machine, provider="local", instance_id=f"i-{machine}",
        display_name="", hardware=_HARDWARE, ssh=json.dumps({"host": address}), base=str(UBUNTU), nonce="n"
    )  # fmt: skip
    tx.run(
        "machine_set_facts", id=machine, hostname=f"box-{machine}", boot_id="boot",
        hardware=_HARDWARE, now=to_iso(now)
    )  # fmt: skip
    addresses = json.dumps(addresses_from_nics(nics))
    tx.run("machine_set_addresses", id=machine, addresses=addresses)
    for kind, word in (
        (StatusKind.MACHINE, MachineStatus.STARTED),
        (StatusKind.INSTANCE, InstanceStatus.RUNNING),
    ):
        statuses.set_status(tx, kind, machine, word, now=since)


def _activate(tx: ModelTx, world: TestController, name: str) -> None:
    number = int(name.partition("/")[2])
    since, text = world.clock.now() + timedelta(seconds=11 * number), f"ready, serves page {number}"
    statuses.set_status(tx, StatusKind.WORKLOAD, name, Workload.ACTIVE, text, now=since)
    statuses.set_status(tx, StatusKind.AGENT, name, Agent.IDLE, now=since)
