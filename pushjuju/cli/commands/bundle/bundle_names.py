"""Which words name bundles; light, for commands that seldom meet bundles."""

from __future__ import annotations

from pathlib import Path

from pushjuju.services.bundles.read.source import is_bundle

NOT_THERE = "not in the bundle"  # under which a plan finds what the model has beyond a bundle


def names_bundle(argument: str) -> bool:
    """Return True when an argument of `deploy` is the path of a bundle."""
    if not argument.startswith((".", "/", "~")):
        return False

    return is_bundle(Path(argument).expanduser())
