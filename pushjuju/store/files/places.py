"""Finds the data directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

MAIN = "pushjuju.toml"


def locate(env: Mapping[str, str], cwd: Path) -> Path:
    """Return the data directory: `$PUSHJUJU_DATA`, `$JUJU_DATA`, `./state` with a pushjuju.toml, or XDG's."""
    if chosen := env.get("PUSHJUJU_DATA") or env.get("JUJU_DATA"):
        return Path(chosen).expanduser().absolute()
    if _is_file(cwd / "state" / MAIN):
        return cwd / "state"
    home = Path(env.get("HOME") or Path.home())
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "pushjuju"


def here() -> Path:
    """Return the working directory; `/` when it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def _is_file(path: Path) -> bool:
    """Return True when a file exists and this user may see it.

    After `sudo -u`, the data directory may still be the first user's, which the second may not enter.
    """
    try:
        return path.is_file()
    except PermissionError:
        return False
