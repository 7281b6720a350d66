"""What a failure is about, as values, so that no code has to parse the texts for users."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """The entity that an error or a problem is about, for example of kind `unit` with the name `web/0`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure of some work that is tried again.

    Attributes:
        text: The sentence that users read; with a subject, the sentence begins with the subject's name.
        subject: The entity that failed, or None for the worker's own machine, or for the model.
        hint: What the user can do next.
        machine: The machine on which the work failed; empty for work that has no machine.
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
    """Return several problems as one text for users."""
    return "; ".join(map(str, problems))


def dumps(problems: Iterable[Problem]) -> str:
    """Return problems as the JSON text that the store keeps."""
    subjects = ((item, item.subject or Subject("", "")) for item in problems)
    return json.dumps([[it.kind, it.name, item.text, item.hint] for item, it in subjects])


def loads(text: str) -> tuple[Problem, ...]:
    """Return the problems of a stored text; a text that is not JSON becomes one problem."""
    try:
        rows = [
            Problem(problem, Subject(kind, name) if kind else None, hint)
            for kind, name, problem, hint in json.loads(text)
        ]
    except (TypeError, ValueError):
        rows = []
    return tuple(rows) or (Problem(text),)
