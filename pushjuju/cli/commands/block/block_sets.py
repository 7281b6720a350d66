"""The sets of commands that can be disabled."""

from __future__ import annotations

from pushjuju.core.errors import UsageError
from pushjuju.services.entities.basis import blocks

VALID = ", ".join(blocks.SETS)


def set_block(args: tuple[str, ...]) -> str:
    """Return the set of commands that the argument names."""
    if args[0] not in blocks.SETS:
        raise UsageError(f"bad command set, valid options: {VALID}")
    return args[0]
