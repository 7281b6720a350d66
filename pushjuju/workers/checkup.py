"""What this computer has and lacks for a cloud: asks the cloud's provider. Layer: workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from pushjuju.core.clouds import Cloud
from pushjuju.core.errors import NotValid
from pushjuju.plugins.install import install_missing
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.types import Finding, ModelInfo, Reachable, Reached, Services, no_progress
from pushjuju.services import clouds
from pushjuju.state.datadir import DataDir


async def examine(
    datadir: DataDir,
    cloud: str,
    *,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    install: bool = False,
) -> list[dict[str, Any]]:
    """Return what a provider finds: `subject`, `level` (ok, warning, error), `message`, `fix`.

    Args:
        datadir: Where clouds and credentials are.
        cloud: `cloud[/region]`.
        environ: The process environment.
        warn: Told of plugins that fail.
        install: Install the packages that are missing first.

    Raises:
        NotFound: No such cloud, or nobody drives it.
        ProviderError: The packages could not be installed.
    """
    name, asked = clouds.split(cloud)
    host = PluginHost(environ=environ, warn=warn)
    places = clouds.folders(datadir)
    region = clouds.choose_region(places, clouds.definition(places, name, host), asked)
    provider = host.open_provider(
        cloud=clouds.open_spec(places, name, region, host),
        credential=clouds.open_credential(places, name, clouds.choose_credential(places, name)),
        model=ModelInfo(uuid="", name="doctor", controller_uuid=""),
        config={},
        services=Services(data_dir=datadir.root / "doctor", environ=environ, warn=warn),
    )
    found = await provider.doctor()
    if install and any(not item.ok and item.fix for item in found):
        await asyncio.to_thread(install_missing, found, no_progress)
        found = await provider.doctor()
    return [_entry(item) for item in found]


def reach(
    datadir: DataDir,
    host: PluginHost,
    cloud: Cloud,
    *,
    region: str,
    credential: str,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
) -> Reached | None:
    """Make one harmless call to a cloud; None when its provider cannot tell.

    Raises:
        NotValid: It needs a credential, and none was given.
        ProviderError: It does not answer, or refuses the credential.
    """
    kind = host.provider_type(cloud.type)
    if not credential and "empty" not in kind.credential_schemas:
        raise NotValid(
            f"missing credentials for cloud {cloud.name}",
            hint=f"pushjuju autoload-credentials, or pushjuju add-credential {cloud.name}",
        )
    places = clouds.folders(datadir)
    provider = host.open_provider(
        cloud=clouds.open_spec(places, cloud.name, region, host),
        credential=clouds.open_credential(places, cloud.name, credential),
        model=ModelInfo(uuid="", name="bootstrap", controller_uuid=""),
        config={},
        services=Services(data_dir=datadir.root / "bootstrap", environ=environ, warn=warn),
    )
    if not isinstance(provider, Reachable):
        return None
    return asyncio.run(provider.check())


def _entry(item: Finding) -> dict[str, Any]:
    level = "ok" if item.ok else "error" if item.required else "warning"
    entry = {"subject": item.name, "level": level, "message": item.message}
    return {**entry, "fix": fix_text(item)} if not item.ok and item.fix else entry


def fix_text(item: Finding) -> str:
    """Return the command that puts a finding right."""
    if item.fix is None:
        return ""
    if item.fix.packages:
        return f"apt-get install {' '.join(item.fix.packages)}"
    return " ".join(item.fix.command)
