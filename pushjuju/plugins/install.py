"""Installs what `doctor` found missing. Layer: plugins."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pushjuju.core import children
from pushjuju.core.errors import ProviderError
from pushjuju.plugins.types import Finding, Progress

_HINTS = {"modprobe": "apt-get install kmod", "apt-get": "This host has no apt; install it by hand."}


def install_missing(findings: Sequence[Finding], progress: Progress) -> list[str]:
    """Install what findings miss, through apt and with sudo when not root. Blocks.

    Args:
        findings: As `doctor` returned them; those that are fine are passed over.
        progress: Told what goes on.

    Returns:
        The packages that were installed.

    Raises:
        ProviderError: apt failed; its last lines are in the detail.
    """
    missing = [finding.fix for finding in findings if not finding.ok and finding.fix]
    packages = sorted({package for fix in missing for package in fix.packages})
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if packages:
        environ = ["env", "DEBIAN_FRONTEND=noninteractive"]
        progress("installing", "updating package lists")
        _install([*prefix, *environ, "apt-get", "update", "-q"])
        progress("installing", " ".join(packages))
        _install([*prefix, *environ, "apt-get", "install", "-y", "-q", "--no-install-recommends", *packages])
    for fix in missing:
        if fix.command[:1] == ("modprobe",):
            progress("installing", " ".join(fix.command))
            _install([*prefix, *fix.command])
    return packages


def _install(argv: Sequence[str]) -> None:
    try:
        done = children.run(argv, environ=children.SYSTEM)
    except FileNotFoundError as error:
        raise ProviderError(
            f"cannot run {argv[0]}: it is not installed", hint=_HINTS.get(argv[0], "")
        ) from error
    if done.returncode != 0:
        text = (done.stdout + done.stderr).strip().splitlines()[-20:]
        words = [word for word in argv if word not in ("sudo", "env") and "=" not in word]
        raise ProviderError(
            f"{' '.join(words)} failed with exit code {done.returncode}", detail="\n".join(text)
        )
