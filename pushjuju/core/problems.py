"""What a failure is about, as values: no code has to read the sentences that users read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """An entity that an error or a problem is about: `unit`, `web/0`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that failed and is tried again.

    Attributes:
        text: The sentence that users read; with a subject, the sentence names the subject.
        subject: What failed, or None for the worker's own machine, or for the model.
        hint: What the user can do next.
        machine: The machine on which the work was tried; empty for work on no machine.
    """

    text: str
    subject: Subject | None = None
    hint: str = ""
    machine: str = ""

    @classmethod
    def of(cls, subject: Subject, text: str, hint: str = "") -> Problem:
        """Return a problem whose sentence begins with its subject."""
        return cls(f"{subject}: {text}", subject, hint)

    def __str__(self) -> str:
        return f"{self.text.rstrip('.')}; next: {self.hint}" if self.hint else self.text


def sentence(problems: Iterable[Problem]) -> str:
    """Return several problems as users read them together."""
    return "; ".join(map(str, problems))


def dumps(problems: Iterable[Problem]) -> str:
    """Return problems as the store keeps them."""
    subjects = ((item, item.subject or Subject("", "")) for item in problems)
    return json.dumps([[it.kind, it.name, item.text, item.hint] for item, it in subjects])


def loads(text: str) -> tuple[Problem, ...]:
    """Return the problems that the store keeps; any other text is one problem."""
    try:
        rows = [
            Problem(problem, Subject(kind, name) if kind else None, hint)
            for kind, name, problem, hint in json.loads(text)
        ]
    except (TypeError, ValueError):
        rows = []
    return tuple(rows) or (Problem(text),)
