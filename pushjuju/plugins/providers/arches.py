"""Juju's names of processor architectures. Mirrors: juju core/arch (3.6)."""

from __future__ import annotations

from collections.abc import Mapping

_JUJU: Mapping[str, str] = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64el"}


def juju_arch(machine: str) -> str:
    """Return Juju's name for an architecture that `uname -m` prints; an unknown name stays the same."""
    return _JUJU.get(machine, machine)
