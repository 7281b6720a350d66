"""A plugin for tests: MAAS whose machines have a machine of the cloud `local` behind them.

Everything that is asked of MAAS goes over HTTP to the server; only the boot is ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pushjuju.core.errors import TransportError
from pushjuju.plugins.api.clouds import CloudSpec, Credential, ProviderType
from pushjuju.plugins.api.providers import Instance, ModelInfo, Provider, Services, StartRequest
from pushjuju.plugins.api.storage_types import StorageProvider, StorageType
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.providers import maas
from pushjuju.plugins.providers.maas import disks
from pushjuju.plugins.providers.maas.documents import Document, identity
from pushjuju.plugins.providers.maas.provider import MaasProvider
from tests.clouds.standing import Standing

KIND = "maas-here"
DISKS = "/var/tmp/maas-disk-"  # on the machine


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """The same as MAAS in all but its name."""
    return [replace(kind, name=KIND) for kind in maas.pushjuju_provider_types()]


@hookimpl
def pushjuju_open_provider(
    cloud: CloudSpec, credential: Credential, model: ModelInfo, config: Mapping[str, Any], services: Services
) -> Provider | None:
    """Open it."""
    del config
    if cloud.type != KIND:
        return None
    return BackedMaas(cloud=cloud, credential=credential, model=model, services=services)


@hookimpl
def pushjuju_storage_types(cloud_type: str) -> Sequence[StorageType]:
    """Those of MAAS."""
    return maas.pushjuju_storage_types("maas") if cloud_type == KIND else []


@hookimpl(tryfirst=True)
def pushjuju_open_storage(type_name: str, provider: Provider | None) -> StorageProvider | None:
    """That of MAAS."""
    return provider.storage() if type_name == "maas" and isinstance(provider, BackedMaas) else None


def is_of(document: Document, machine_id: str) -> bool:
    """Tell whether MAAS gave a machine for one of ours."""
    return identity(document)[0] == machine_id


class BackedMaas(Standing, MaasProvider):
    """MAAS with machines."""

    def __init__(self, *, model: ModelInfo, services: Services, **more: Any) -> None:
        super().__init__(model=model, **more)
        self.stand(model, services)

    async def furnish(self, instance: Instance, booted: Instance, request: StartRequest) -> None:
        """Give a machine the disks that MAAS chose for it."""
        if request.volumes:
            await self._put_disks(instance.id, booted)

    async def strip(self, booted: Sequence[Instance]) -> None:
        """Take its disks from it."""
        await self._take_disks([item for item in booted if await self._has_disks(item)])

    async def _put_disks(self, name: str, booted: Instance) -> None:
        """Have a machine show the disks that MAAS says it has, small as they are."""
        lines = ["set -e", "mkdir -p /dev/disk/by-id"]
        for disk in disks.listed(await self.document(name))[1:]:
            file, path = f"{DISKS}{disk['id']}", disk["id_path"]
            lines.append(f"truncate -s 64M {file}; ln -sf $(losetup -f --show {file}) {path}")
        await self._run(booted, "\n".join(lines) + "\n")

    async def _take_disks(self, booted: Sequence[Instance]) -> None:
        """Let go of them: they are this host's, and would stay behind."""
        script = f"for file in {DISKS}*; do losetup -nO NAME -j $file; done | xargs -r -n 1 losetup -d\n"
        for instance in booted:
            await self._run(instance, script)

    async def _has_disks(self, booted: Instance) -> bool:
        found = [item for item in await self._documents() if is_of(item, booted.machine_id)]
        return any(name.startswith(disks.VOLUME_KEY) for item in found for name in item["owner_data"])

    async def _run(self, booted: Instance, script: str) -> None:
        assert self._remote is not None
        target = await self._here.ssh_target(booted)
        async with asyncio.timeout(60):
            while True:
                try:
                    done = await self._remote.run_script(target, script, sudo=True)
                except TransportError:
                    await asyncio.sleep(0.2)
                else:
                    assert done.rc == 0, done.stderr
                    return
