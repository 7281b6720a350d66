"""What working a key leaves behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from pushjuju.core.errors import PushjujuError
from pushjuju.core.problems import Problem, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a worker.

    Attributes:
        due: When the worker runs again without being woken; never, when None.
        attempts: Failures in a row.
        reason: Why the worker waits, for users; empty after a failure.
        problems: Why the worker could not do what it should.
        routine: The worker is due for nothing but the next update-status.
    """

    due: datetime | None = None
    attempts: int = 0
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    routine: bool = False

    @property
    def failed(self) -> bool:
        """Return True when the worker could not do what it should."""
        return bool(self.problems)


def problem_of(error: PushjujuError) -> Problem:
    """Return the problem that an error of a machine's work is: a unit's, when the error names the unit."""
    of_unit = error.subject is not None and error.subject.kind == "unit"
    return Problem(error.full_text, error.subject if of_unit else None, error.hint)


def of_unit(unit: str, error: PushjujuError) -> Problem:
    """Return the problem of one unit that an error is."""
    found = problem_of(error)
    subject = Subject("unit", unit)
    return found if found.subject == subject else Problem.of(subject, found.text, found.hint)


def problems_of(key: str, problems: Iterable[Problem]) -> list[Problem]:
    """Return what failed under a key, with the machine where the work was tried."""
    _, kind, name = key.split("/", 2)
    if kind != "machine":
        return list(problems)
    subject = Subject("machine", name)
    named = (item if item.subject else Problem.of(subject, item.text, item.hint) for item in problems)
    return [replace(item, machine=name) for item in named]
