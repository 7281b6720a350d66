"""Kills a model that cannot be removed: ends its instances through the cloud, and deletes its rows.

No machine is contacted. Mirrors: juju cmd/juju/controller/kill.go (3.6)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import Model
from pushjuju.workers.provision.provisioner import is_manual
from pushjuju.workers.runtime import Runtime


def end_model(ctx: Context, model: Model, warn: Callable[[str], None]) -> list[str]:
    """End a model's instances and delete the model; return what could not be ended or was left alone."""
    with ctx.read(model.uuid) as tx:
        hosts = machines.list_machines(tx)
    problems = [
        f"machine {host.id} ({host.ssh.get('host', host.instance_id)}) was named by a user and stays as it is"
        for host in hosts
        if is_manual(host)
    ]
    try:
        asyncio.run(_end_instances(ctx, model, warn))
    except PushjujuError as error:
        left = ", ".join(host.instance_id for host in hosts if host.instance_id and not is_manual(host))
        problems.append(f"{error.message}; left in the cloud: {left or 'nothing that is known'}")
    with ctx.write(model.uuid) as tx:
        models.purge(tx)
    return problems


async def _end_instances(ctx: Context, model: Model, warn: Callable[[str], None]) -> None:
    provider = Runtime(ctx, warn=warn).provider(model.uuid)
    instances = await provider.list()
    await provider.stop([instance.id for instance in instances])
    await provider.destroy_model()
