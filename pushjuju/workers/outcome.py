"""The result of the work on a key of the queue, with which the key is given back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta

from pushjuju.core.clock import Clock
from pushjuju.core.errors import PushjujuError, StoreAway
from pushjuju.core.problems import Problem, Subject
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis import tally
from pushjuju.store.queue import Claim, WorkQueue
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact with a machine that ended."""

    result: str  # ok, failed or unreachable
    begun: datetime
    seconds: float
    sent: int = 0  # bytes to the machine, without what SSH adds to them
    received: int = 0  # bytes from the machine
    runs: Sequence[float] = ()  # how long each hook and action ran, in seconds

    def record(self, tx: ModelTx, machine: str) -> None:
        """Record the contact for the timeline, and count it."""
        ended = self.begun + timedelta(seconds=self.seconds)
        tx.run("contact_add", machine=machine, begun=self.begun, ended=ended, result=self.result)
        tally.count_contact(tx, self.result, self.seconds, self.sent, self.received)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a worker."""

    due: datetime | None = None  # when the worker must run again without being woken, or None
    attempts: int = 0  # number of failures in a row
    reason: str = ""  # why the worker waits, for users; "" after a failure
    problems: tuple[Problem, ...] = ()  # the failures of the work
    routine: bool = False  # True when the worker is due only for the next update-status
    contacts: tuple[Contact, ...] = field(default=(), compare=False)
    overtaken: bool = False  # True when the machine knew a later lease

    @property
    def failed(self) -> bool:
        """Return True when the work has failed."""
        return bool(self.problems)


def problem_of(error: PushjujuError) -> Problem:
    """Return an error of a machine's work as a problem, whose subject is the unit that the error names."""
    of_unit = error.subject is not None and error.subject.kind == "unit"
    return Problem(error.full_text, error.subject if of_unit else None, error.hint)


def of_unit(unit: str, error: PushjujuError) -> Problem:
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


class Returns:
    """The keys that a process gives back, each with the outcome of its work."""

    def __init__(self, queue: WorkQueue, clock: Clock, lost: int) -> None:
        self._queue = queue
        self._clock = clock
        self._lost = lost  # how often writes of this process were lost
        self.claiming = False  # True while claims are made, and after claims that failed
        self._kept: dict[str, tuple[Claim, Outcome]] = {}

    def finish(self, claim: Claim, outcome: Outcome) -> None:
        """Give a key back; while the store is away, keep the outcome for `again`."""
        try:
            self._queue.finish(
                claim,
                self._clock.now(),
                outcome.due,
                attempts=outcome.attempts,
                reason=outcome.reason,
                problems=outcome.problems,
                later=True,
            )
        except StoreAway:
            self._kept[claim.key] = claim, outcome

    def again(self, busy: Collection[str], lost: int) -> None:
        """Give back the keys that were kept, and after a loss those that nobody works; claims begin.

        A key whose lease is lost stays as it is.
        """
        kept, self._kept = self._kept, {}
        for claim, outcome in kept.values():
            self.finish(claim, outcome)
        if self.claiming or lost != self._lost:
            self._queue.give_back(self._clock.now(), busy)
        self.claiming, self._lost = True, lost
