"""The flag for overlays of a bundle."""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind


def _file(name: str, about: str) -> FlagSpec:
    return FlagSpec(name=name, kind=Kind.PATH, default="", help=about)


OVERLAY = flags.many("overlay", "Bundles to overlay on the primary bundle, applied in order")
