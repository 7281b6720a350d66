"""A plugin for tests: machines of the cloud `local` that come without user data, as some clouds' do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.clouds import CloudSpec, ProviderType
from pushjuju.plugins.api.providers import Instance, ModelInfo, Provider, Services, Started, StartRequest
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.plugins.hookspecs import hookimpl
from pushjuju.plugins.providers.local.provider import LocalProvider

KIND = "bare"


@hookimpl
def pushjuju_provider_types() -> Sequence[ProviderType]:
    """Machines that the controller sets up over SSH."""
    return [ProviderType(name=KIND, summary="bare images", features=frozenset({"start", "script"}))]


@hookimpl
def pushjuju_open_provider(cloud: CloudSpec, model: ModelInfo, services: Services) -> Provider | None:
    """Open it."""
    return Bare(cloud=cloud, model=model, services=services) if cloud.type == KIND else None


class Bare(LocalProvider):
    """Starts machines from a bare image; nobody knows their host keys in advance."""

    async def start(self, request: StartRequest) -> Started:
        """Start one; a document would be lost."""
        if request.user_data or request.host_keys:
            raise NotValid("there is no user data here")
        return await super().start(request)

    async def ssh_target(self, instance: Instance) -> SSHTarget:
        """Return the login of the image."""
        return replace(await super().ssh_target(instance), host_keys=None)
