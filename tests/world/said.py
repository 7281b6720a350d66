"""What workers say, as users read it."""

from __future__ import annotations

from pushjuju.core.problems import sentence
from pushjuju.workers.driver import Settled
from pushjuju.workers.outcome import Outcome


def problems_of(settled: Settled) -> tuple[str, ...]:
    """Return the sentences about what failed in the model."""
    return tuple(map(str, settled.problems))


def reason_of(outcome: Outcome) -> str:
    """Return why a worker waits, or what failed."""
    return outcome.reason or sentence(outcome.problems)
