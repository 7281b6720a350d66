"""The version that `version` prints: a Juju 3.6 number, because charms and test tools compare it."""

from __future__ import annotations

import os
from pathlib import Path

from pushjuju import JUJU_VERSION

_ARCHES = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64el"}


def version_text() -> str:
    """Return `3.6.14-ubuntu-amd64`: version, operating system, architecture of this client."""
    machine = os.uname().machine
    return f"{JUJU_VERSION}-{_release()}-{_ARCHES.get(machine, machine)}"


def _release() -> str:
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "genericlinux"
    return "ubuntu" if "ID=ubuntu" in lines else "genericlinux"
