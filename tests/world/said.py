"""What workers report, as texts for users."""

from __future__ import annotations

from pushjuju.core.problems import sentence
from pushjuju.workers.driver import Settled
from pushjuju.workers.outcome import Outcome


def problems_of(settled: Settled) -> tuple[str, ...]:
    """Return the texts of what failed in the model."""
    return tuple(map(str, settled.problems))


def reason_of(outcome: Outcome) -> str:
    """Return the text of why a worker waits, or of what failed."""
    return outcome.reason or sentence(outcome.problems)
