"""The time of the server: all hosts of a controller agree on it, whatever their own clocks say."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_RENEWED_S = 60.0  # seconds after which an estimate gives way to a new one: clocks drift apart
_STEP_S = 1.0  # the clock goes back only by more than this, when somebody has set the clock of the server


class ServerClock:
    """A clock that goes on from the moment that the server named last, as `core.clock.Clock`."""

    def __init__(self) -> None:
        self._start = float("-inf")  # seconds from the epoch to the zero of this host's monotonic clock
        self._renew = 0.0
        self._latest = 0.0

    def hear(self, moment: float) -> None:
        """Take the time of the server that has just come, in seconds from the epoch.

        Answers come late, so the latest start is the best estimate.
        """
        passed = time.monotonic()
        start = moment - passed
        if start > self._start or passed > self._renew or self._start - start > _STEP_S:
            self._start, self._renew = start, passed + _RENEWED_S

    def now(self) -> datetime:
        moment = self._start + time.monotonic()
        if moment < self._latest < moment + _STEP_S:
            moment = self._latest
        self._latest = moment
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment)

    def monotonic(self) -> float:
        return time.monotonic()
