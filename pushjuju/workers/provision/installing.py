"""Waits, before the first login, until a cloud has installed a machine's operating system.

A MAAS machine takes minutes from its start until its system runs, and meanwhile another system with other
keys answers SSH. Users see what the cloud reports meanwhile. There is no wait for a machine that is being
removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pushjuju.core.errors import PushjujuError
from pushjuju.core.status import InstanceStatus, Life, StatusInfo, StatusKind
from pushjuju.plugins.api.providers import Instance, Provider
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.store.rows.records import Machine
from pushjuju.workers.events import Event
from pushjuju.workers.provision.hostkeys import moved
from pushjuju.workers.runtime import Runtime, target_document
from pushjuju.workers.timeouts import CALL_S, login, lost

FEATURE = "installs"
LOOK_FIRST_S = 1.0
LOOK_MOST_S = 10.0
FAILED_LOOK_S = 300.0  # seconds until a failed machine is checked again: a user may have fixed it
_COMING = (InstanceStatus.ALLOCATING, InstanceStatus.PENDING)


class DeployFailed(PushjujuError, message="the machine could not be installed", code="deploy-failed"):
    """The cloud could not install a machine, which stays as it is until a user acts."""


async def wait(runtime: Runtime, machine: Machine) -> Machine:
    """Wait until a machine is installed or must be removed; return the machine with its new address."""
    if machine.last_seen or FEATURE not in runtime.features(machine.provider):
        return machine
    provider, pause = runtime.provider_of(machine), LOOK_FIRST_S
    while True:
        with runtime.ctx.read(machine.model) as tx:
            credential_validity.require(tx)
        (instance,) = await runtime.within(CALL_S, provider.get([machine.instance_id]))
        if instance is None:
            raise lost(machine)
        if _note(runtime.ctx, machine, instance):
            runtime.tell(Event(entity=f"machine {machine.id}", text=instance.message))
        if instance.status is InstanceStatus.PROVISIONING_ERROR:
            raise DeployFailed(
                f"machine {machine.id} could not be installed",
                detail=instance.message,
                hint=f"pushjuju retry-provisioning {machine.id}",
            )
        now = _now(runtime.ctx, machine)
        if instance.status not in _COMING:
            return await _reach(runtime.ctx, provider, now, instance)
        if now.life != Life.ALIVE and not _has_units(runtime.ctx, now):
            return now
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, LOOK_MOST_S)


def _now(ctx: Context, machine: Machine) -> Machine:
    with ctx.read(machine.model) as tx:
        return machines.get(tx, machine.id)


def _has_units(ctx: Context, machine: Machine) -> bool:
    with ctx.read(machine.model) as tx:
        return bool(machines.units_on(tx, machine.id))


def _note(ctx: Context, machine: Machine, instance: Instance) -> bool:
    """Record the status of an instance; return True when the status is new."""
    with ctx.write(machine.model) as tx:
        told = StatusInfo(status=instance.status, message=instance.message)
        return statuses.set_once(tx, StatusKind.INSTANCE, machine.id, told)


async def _reach(ctx: Context, provider: Provider, machine: Machine, instance: Instance) -> Machine:
    """Record the SSH target of an installed machine, which may not have been known before."""
    ssh: Mapping[str, Any] = target_document(await login(machine, provider.ssh_target(instance)))
    if not ssh["host_keys"]:
        ssh = {**ssh, "host_keys": machine.ssh.get("host_keys") or []}
    if dict(ssh) == dict(machine.ssh):
        return machine
    with ctx.write(machine.model) as tx:
        found = machines.set_ssh(tx, machine, ssh)
    moved(ctx, machine, found)
    return found
