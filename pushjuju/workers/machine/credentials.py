"""Checks a credential with the models that use it, before the credential is stored.

Mirrors: juju apiserver/common/credentialcommon/modelcredential.go (3.6)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pushjuju.core.clouds import StoredCredential
from pushjuju.core.errors import PushjujuError
from pushjuju.plugins.api.clouds import Credential
from pushjuju.plugins.api.providers import Provider, Reachable
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.store.rows.records import Machine, Model
from pushjuju.workers import clouds
from pushjuju.workers.provision.provisioner import is_manual
from pushjuju.workers.timeouts import CALL_S, within


def problems(
    ctx: Context,
    host: PluginHost,
    model: Model,
    name: str,
    stored: StoredCredential,
    *,
    warn: Callable[[str], None],
) -> list[str]:
    """Return why a model cannot use a credential; empty when the cloud accepts it and shows all machines.

    Args:
        stored: The content of the credential, decrypted.
    """
    credential = Credential(name=name, auth_type=stored.auth_type, attributes=stored.attributes)
    with ctx.read(model.uuid) as tx:
        known = [item for item in machines.list_machines(tx) if item.instance_id]
    known = [item for item in known if not is_manual(item)]
    try:
        provider = clouds.open_provider(ctx, host, model, warn=warn, credential=credential)
        return asyncio.run(_look(provider, known))
    except PushjujuError as error:
        return [error.full_text]


async def _look(provider: Provider, known: Sequence[Machine]) -> list[str]:
    if isinstance(provider, Reachable):
        await within(CALL_S, provider.check())
    if not known:
        return []
    found = await within(CALL_S, provider.get([machine.instance_id for machine in known]))
    return [
        f'couldn\'t find instance "{machine.instance_id}" for machine {machine.id}'
        for machine, instance in zip(known, found, strict=True)
        if instance is None
    ]
