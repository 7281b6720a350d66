"""Collects everything wrong with a charm, so that its author sees it at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pushjuju.core.errors import InvalidCharm

_MOST = 500  # most problems that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One rule that a charm breaks.

    Attributes:
        file: File of the charm, relative to its root.
        key: Key path inside the file, dotted; may be empty.
        text: The fault, in Juju's words where Juju has a text for it.
        place: The place in the file, `path:line`; empty until it was looked up.
    """

    file: str
    key: str
    text: str
    place: str = ""

    @property
    def hides_key(self) -> bool:
        """Whether Juju's text leaves a part of the key path out; it often says `option` for `options`."""
        first, *more = self.key.split(".")
        return any(part not in self.text for part in more or [first])

    @property
    def where(self) -> str:
        """The key, where the text hides it, and the place; may be empty."""
        return ", ".join(part for part in (self.key if self.hides_key else "", self.place) if part)

    def __str__(self) -> str:
        return f"{self.text} ({self.where})" if self.where else self.text


Locate = Callable[[Problem], str]
"""Returns where a broken rule stands, `path:line`; empty if nobody can say."""


class Problems:
    """The problems and warnings of one charm, in the order found."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.warnings: list[str] = []

    def add(self, file: str, text: str, *, key: str = "") -> None:
        """Note a broken rule."""
        self.found.append(Problem(file=file, key=key, text=text))

    def take(self, error: InvalidCharm) -> None:
        """Note what a reader would have refused."""
        self.add(error.file, error.message, key=error.key)

    def extend(self, other: Problems) -> None:
        """Take over what another reader found."""
        self.found += other.found
        for text in other.warnings:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Note something that does not stop the charm."""
        if text not in self.warnings:
            self.warnings.append(text)

    def raise_if_any(self, locate: Locate | None = None, *, prefix: str = "", hint: str = "") -> None:
        """Raise what was found as one error.

        Args:
            locate: Finds the places; asked only when something was found.
            prefix: Stands before the first text.
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
