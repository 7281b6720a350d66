"""The sets of commands that can be disabled."""

from __future__ import annotations

from pushjuju.core.errors import UsageError
from pushjuju.services.entities.basis import blocks

VALID = ", ".join(blocks.SETS)


def set_block(args: tuple[str, ...]) -> str:
    """Return the set of commands that the argument names.

    Raises:
        UsageError: There is no such set; the message is Juju's.
    """
    if args[0] not in blocks.SETS:
        raise UsageError(f"bad command set, valid options: {VALID}")
    return args[0]
