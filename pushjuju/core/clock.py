"""The clock that callers pass in, so that rules never ask the system for the time."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A source of the time."""

    def now(self) -> datetime:
        """Return the present moment, timezone-aware, in UTC."""

    def monotonic(self) -> float:
        """Return seconds from a clock that never jumps when somebody sets the time of day."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def to_iso(moment: datetime) -> str:
    """Write a moment as the store keeps it: UTC, microseconds, sortable as text."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def from_iso(text: str) -> datetime:
    """Read a moment that `to_iso` wrote."""
    return datetime.fromisoformat(text)
