"""Checks the number of units that a user asks for."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core import limits
from pushjuju.core.errors import UsageError


def check_number(units: int, attach_storage: Sequence[str], least: int = 1) -> None:
    """Refuse a number of units that one command cannot add.

    Raises:
        UsageError: The number is too small or too large, or is not 1 and storage is to be attached.
    """
    if units < least:
        raise UsageError("--num-units must be a positive integer")
    if units > limits.UNITS:
        raise UsageError(f"--num-units must be at most {limits.UNITS}")
    if attach_storage and units != 1:
        raise UsageError("--attach-storage cannot be used with -n")
