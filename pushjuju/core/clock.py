"""Time as an argument. Rules never ask the system for the time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the present moment, aware, UTC."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the present moment, aware, UTC."""
        return datetime.now(UTC)


class FakeClock:
    """A clock for tests that moves only when told."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2025, 3, 1, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the moment that was set, aware, UTC."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move on by some seconds."""
        self._now += timedelta(seconds=seconds)


def to_iso(moment: datetime) -> str:
    """Write a moment as the store keeps it: UTC, microseconds, sortable as text."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def from_iso(text: str) -> datetime:
    """Read a moment that `to_iso` wrote."""
    return datetime.fromisoformat(text)
