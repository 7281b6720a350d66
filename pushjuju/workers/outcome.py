"""The result of the work on a key of the queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from datetime import datetime

from pushjuju.core.errors import PushjujuError
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact with a machine that ended.

    Attributes:
        result: ok, failed or unreachable.
        sent: Bytes to the machine, without what SSH adds to them.
        received: Bytes from the machine.
    """

    result: str
    seconds: float
    sent: int = 0
    received: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a worker.

    Attributes:
        due: When the worker must run again without being woken, or None.
        attempts: Number of failures in a row.
        reason: Why the worker waits, for users; "" after a failure.
        problems: The failures of the work.
        routine: True when the worker is due only for the next update-status.
        contacts: The contacts with the machine.
    """

    due: datetime | None = None
    attempts: int = 0
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    routine: bool = False
    contacts: tuple[Contact, ...] = field(default=(), compare=False)

    @property
    def failed(self) -> bool:
        """Return True when the work has failed."""
        return bool(self.problems)


def problem_of(error: PushjujuError) -> Problem:
    """Return an error of a machine's work as a problem, whose subject is the unit that the error names."""
    of_unit = error.subject is not None and error.subject.kind == "unit"
    return Problem(error.full_text, error.subject if of_unit else None, error.hint)


def of_unit(unit: str, error: PushjujuError) -> Problem:
    """Return an error as a problem of a unit."""
    found = problem_of(error)
    subject = Subject("unit", unit)
    return found if found.subject == subject else Problem.of(subject, found.text, found.hint)


def problems_of(key: str, problems: Iterable[Problem]) -> list[Problem]:
    """Return the failures of a key, each with the machine on which the work was tried."""
    _, kind, name = key.split("/", 2)
    if kind != "machine":
        return list(problems)
    subject = Subject("machine", name)
    named = (item if item.subject else Problem.of(subject, item.text, item.hint) for item in problems)
    return [replace(item, machine=name) for item in named]
