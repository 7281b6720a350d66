"""Waiting times, from random numbers that the caller draws. Pure.

Mirrors: juju worker/uniter/timer.go, utils BackoffTimer (3.6)
"""

from __future__ import annotations

RETRY_FIRST_S = 5.0
RETRY_MOST_S = 300.0
RETRY_SPREAD = 0.03


def retry_delay(attempt: int, jitter: float) -> float:
    """Return how long to wait before a failed hook is tried again, in seconds.

    Args:
        attempt: Number of the retry, from 1.
        jitter: Uniform in 0..1, drawn anew for each retry.
    """
    doublings = min(max(attempt, 1) - 1, 10)
    spread = 1.0 + (2.0 * jitter - 1.0) * RETRY_SPREAD
    return min(RETRY_FIRST_S * float(2**doublings) * spread, RETRY_MOST_S)


def next_update_status(interval_s: float, draw: float) -> float:
    """Return how long to wait until the next update-status is due, in seconds.

    Args:
        interval_s: Model config update-status-hook-interval.
        draw: Uniform in 0..1, drawn anew for each wait.
    """
    return interval_s * (0.8 + 0.4 * draw)
