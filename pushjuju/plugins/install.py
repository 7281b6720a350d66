"""Installs the packages and loads the kernel modules that `doctor` found missing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pushjuju.core import children
from pushjuju.core.errors import ProviderError
from pushjuju.plugins.api.findings import Finding, Fix
from pushjuju.plugins.api.providers import Progress

_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_HINTS = {
    "apt-get": "This host has no apt; install the packages by hand.",
    "sudo": "Run the same command as root.",
}


def install_packages(findings: Sequence[Finding], progress: Progress) -> bool:
    """Install the packages that findings name as missing, with apt; users other than root need sudo. Blocks.

    Args:
        findings: The findings of `doctor`; those without a fault are skipped.

    Returns:
        True when packages were installed, so that the findings may be out of date.
    """
    packages = sorted({package for fix in _fixes(findings) for package in fix.packages})
    if packages:
        quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
        progress("installing", "updating package lists")
        _as_root([*quiet, "apt-get", "update", "-q"])
        progress("installing", " ".join(packages))
        _as_root([*quiet, "apt-get", "install", "-y", "-q", "--no-install-recommends", *packages])
    return bool(packages)


def load_modules(findings: Sequence[Finding], progress: Progress) -> bool:
    """Load the kernel modules that findings name as missing; users other than root need sudo. Blocks.

    Args:
        findings: The findings of `doctor` after the packages were installed.

    Returns:
        True when modules were loaded.
    """
    lacking = [item for item in findings if _loads_a_module(item)]
    install_packages(lacking, progress)
    for fix in _fixes(lacking):
        progress("installing", " ".join(fix.command))
        _as_root(fix.command)
    return bool(lacking)


def _fixes(findings: Sequence[Finding]) -> list[Fix]:
    return [finding.fix for finding in findings if not finding.ok and finding.fix]


def _loads_a_module(finding: Finding) -> bool:
    return not finding.ok and finding.fix is not None and finding.fix.command[:1] == ("modprobe",)


def _as_root(command: Sequence[str]) -> None:
    """Run a command as root. Proxies are passed by variable names, because addresses may hold passwords."""
    kept = {name: value for name, value in os.environ.items() if name.lower() in _PROXIES}
    keep = [f"--preserve-env={','.join(sorted(kept))}"] if kept else []
    argv = list(command) if os.geteuid() == 0 else ["sudo", *keep, "--", *command]
    environ = {**children.SYSTEM, **kept}
    _run(argv, environ, shown=[word for word in command if word != "env" and "=" not in word])


def _run(argv: Sequence[str], environ: Mapping[str, str], *, shown: Sequence[str]) -> None:
    try:
        done = children.run(argv, environ=environ)
    except FileNotFoundError as error:
        raise ProviderError(
            f"cannot run {argv[0]}: it is not installed", hint=_HINTS.get(argv[0], "")
        ) from error
    if done.returncode != 0:
        text = (done.stdout + done.stderr).strip().splitlines()[-20:]
        raise ProviderError(
            f"{' '.join(shown)} failed with exit code {done.returncode}", detail="\n".join(text)
        )
