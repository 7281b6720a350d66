"""Collects all faults of a charm, so that one error shows them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pushjuju.core.errors import InvalidCharm
from pushjuju.core.values import dataclass

_MOST = 500  # faults that an error lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One rule that a charm breaks."""

    file: str  # file of the charm, relative to its root
    key: str  # key path inside the file, dotted; may be empty
    text: str  # the fault, in Juju's words where Juju has a text for it
    place: str = ""  # the `path:line` of the fault; empty until it was looked up

    @property
    def hides_key(self) -> bool:
        """True when Juju's text leaves out a part of the key path: it often says `option` for `options`."""
        first, *more = self.key.split(".")
        return any(part not in self.text for part in more or [first])

    @property
    def where(self) -> str:
        """The key, when the text leaves a part of it out, and the place; may be empty."""
        return ", ".join(part for part in (self.key if self.hides_key else "", self.place) if part)

    def __str__(self) -> str:
        return f"{self.text} ({self.where})" if self.where else self.text


Locate = Callable[[Problem], str]
"""Returns the `path:line` of a fault, or an empty text when it is unknown."""


class Problems:
    """The problems and warnings of one charm, in the order in which they were found."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.warnings: list[str] = []

    def add(self, file: str, text: str, *, key: str = "") -> None:
        self.found.append(Problem(file=file, key=key, text=text))

    def take(self, error: InvalidCharm) -> None:
        """Add an error that a reader raised."""
        self.add(error.file, error.message, key=error.key)

    def extend(self, other: Problems) -> None:
        """Add the problems and warnings that another reader found."""
        self.found += other.found
        for text in other.warnings:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Add a warning; the charm is valid all the same."""
        if text not in self.warnings:
            self.warnings.append(text)

    def raise_if_any(self, locate: Locate | None = None, *, prefix: str = "", hint: str = "") -> None:
        """Raise all problems as one error; without problems, do nothing.

        Args:
            locate: Returns the place of a problem; called only when there are problems.
            prefix: Text in front of the first problem.
            hint: The next command to type.
        """
        if not self.found:
            return
        found, more = self.found[:_MOST], len(self.found) - _MOST
        if locate:
            found = [replace(item, place=locate(item)) for item in found]
        first, rest = found[0], found[1:]
        lines = [f"at {first.where}"] if first.where else []
        lines += ["also:", *(f"  {problem}" for problem in rest)] if rest else []
        lines += [f"  and {more} more"] if more > 0 else []
        detail = "\n".join(lines)
        raise InvalidCharm(prefix + first.text, file=first.file, key=first.key, detail=detail, hint=hint)
