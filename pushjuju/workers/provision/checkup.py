"""Checks what this computer has and lacks for a cloud, as the cloud's provider reports it."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pushjuju.core.clouds import Cloud
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.api.clouds import Reached
from pushjuju.plugins.api.findings import Finding
from pushjuju.plugins.api.providers import ModelInfo, Provider, Reachable, Services, no_progress
from pushjuju.plugins.install import install_packages, load_modules
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.cloud import opened as opened_clouds
from pushjuju.store.datadir import DataDir
from pushjuju.workers.clouds import services_for
from pushjuju.workers.timeouts import CALL_S, within


def examine(
    datadir: DataDir,
    cloud: str,
    *,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    install: bool = False,
) -> list[dict[str, Any]]:
    """Return what a provider finds: `subject`, `level` (ok, warning, error), `message`, `fix`.

    Args:
        datadir: The directory of clouds and credentials.
        cloud: `cloud[/region]`.
        warn: Called with the failures of plugins.
        install: First install the packages that are missing.
    """
    name, asked = clouds.split(cloud)
    host = PluginHost(environ=environ, warn=warn)
    places = clouds.folders(datadir)
    name = clouds.first_name(places, name)
    region = clouds.choose_region(places, clouds.definition(places, name, host), asked)
    provider = host.open_provider(
        cloud=opened_clouds.open_spec(places, name, region, host),
        credential=opened_clouds.open_credential(places, name, clouds.choose_credential(places, name)),
        model=ModelInfo(uuid="", name="doctor", controller_uuid=""),
        config={},
        services=Services(data_dir=datadir.root / "doctor", environ=environ, warn=warn),
    )
    return [_entry(item) for item in asyncio.run(_findings(provider, install=install))]


async def _findings(provider: Provider, *, install: bool) -> Sequence[Finding]:
    found = await provider.doctor()
    # A kernel test may have failed only for lack of a package: test again before modules are loaded.
    for mend in (install_packages, load_modules) if install else ():
        if await asyncio.to_thread(mend, found, no_progress):
            found = await provider.doctor()
    return found


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
    """Make one harmless call to a cloud; return None when its provider has no such call."""
    kind = host.provider_type(cloud.type)
    if not credential and "empty" not in kind.credential_schemas:
        raise NotValid(
            f"missing credentials for cloud {cloud.name}",
            hint=f"pushjuju autoload-credentials, or pushjuju add-credential {cloud.name}",
        )
    places = clouds.folders(datadir)
    provider = host.open_provider(
        cloud=opened_clouds.open_spec(places, cloud.name, region, host),
        credential=opened_clouds.open_credential(places, cloud.name, credential),
        model=ModelInfo(uuid="", name="bootstrap", controller_uuid=""),
        config={},
        services=Services(data_dir=datadir.root / "bootstrap", environ=environ, warn=warn),
    )
    if not isinstance(provider, Reachable):
        return None
    return asyncio.run(provider.check())


def check_settings(
    ctx: Context,
    given: Mapping[str, Any],
    cloud: Cloud,
    region: str,
    credential: str,
    settings: Mapping[str, Any],
    *,
    warn: Callable[[str], None],
) -> None:
    """Let a cloud refuse the settings of a new model; a cloud that does not answer refuses nothing.

    Args:
        given: The user's settings; the cloud is called when they include a setting of its provider.
        warn: Called when the cloud does not answer.
    """
    host = PluginHost(environ=ctx.environ, warn=warn)
    kind = next((item for item in host.provider_types() if item.name == cloud.type), None)
    asked = sorted({item.name for item in kind.config_schema} & given.keys()) if kind else []
    if not asked:
        return
    places = clouds.folders(ctx.datadir, ctx.controller)
    provider = host.open_provider(
        cloud=opened_clouds.open_spec(places, cloud.name, region, host),
        credential=opened_clouds.open_credential(places, cloud.name, credential),
        model=ModelInfo(uuid="", name="new", controller_uuid=""),
        config=settings,
        services=services_for(ctx, warn),
    )
    if not isinstance(provider, Reachable):
        return
    try:
        asyncio.run(within(CALL_S, provider.check()))
    except ProviderError as error:
        detail = f": {error.detail}" if error.detail else ""
        warn(f"{', '.join(asked)} could not be checked: {error.message}{detail}")


def _entry(item: Finding) -> dict[str, Any]:
    level = "ok" if item.ok else "error" if item.required else "warning"
    entry = {"subject": item.name, "level": level, "message": item.message}
    return {**entry, "fix": fix_text(item)} if not item.ok and item.fix else entry


def fix_text(item: Finding) -> str:
    """Return the command that fixes a finding, or ""."""
    if item.fix is None:
        return ""
    packages = [f"apt-get install {' '.join(item.fix.packages)}"] if item.fix.packages else []
    command = [shlex.join(item.fix.command)] if item.fix.command else []
    return " && ".join([*packages, *command])
