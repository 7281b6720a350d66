"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


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
