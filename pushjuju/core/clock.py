"""The clock that callers pass in, so that rules never ask the system for the time."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
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


class FakeClock:
    """A clock that only moves when a test moves it."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
        self._passed = 0.0

    def now(self) -> datetime:
        """Return the moment that the test set, timezone-aware, in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that have passed; a clock that is set back loses no seconds."""
        return self._passed

    def advance(self, seconds: float) -> None:
        """Move the clock on by some seconds."""
        self._now += timedelta(seconds=seconds)
        self._passed += max(seconds, 0.0)


def to_iso(moment: datetime) -> str:
    """Write a moment as the store keeps it: UTC, microseconds, sortable as text."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def from_iso(text: str) -> datetime:
    """Read a moment that `to_iso` wrote."""
    return datetime.fromisoformat(text)
