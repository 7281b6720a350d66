"""What this computer has and lacks for a cloud: asks the cloud's provider. Layer: workers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pushjuju.core.errors import NotPermitted
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.types import Finding, ModelInfo, Services
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
        NotPermitted: The packages could not be installed.
    """
    name, region = clouds.split(cloud)
    host = PluginHost(environ=environ, warn=warn)
    provider = host.open_provider(
        cloud=clouds.open_spec(datadir, name, region),
        credential=clouds.open_credential(datadir, name, ""),
        model=ModelInfo(uuid="", name="doctor", controller_uuid=""),
        config={},
        services=Services(data_dir=datadir.root / "doctor", environ=environ, warn=warn),
    )
    found = await provider.doctor()
    if install and _install(found):
        found = await provider.doctor()
    return [_entry(item) for item in found]


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


def _install(findings: Iterable[Finding]) -> bool:
    """Install the packages that are missing; tell whether there were any."""
    packages = [name for item in findings if not item.ok and item.fix for name in item.fix.packages]
    if not packages:
        return False
    sudo = () if os.geteuid() == 0 else ("sudo",)
    argv = [*sudo, "apt-get", "install", "-y", "--no-install-recommends", *dict.fromkeys(packages)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotPermitted("the packages could not be installed", detail=done.stderr.strip()[-2000:])
    return True
