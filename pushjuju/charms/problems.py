"""Collects everything wrong with a charm, so that its author sees it at once. Layer: charms."""

from __future__ import annotations

from dataclasses import dataclass

from pushjuju.core.errors import InvalidCharm


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One rule that a charm breaks.

    Attributes:
        file: File of the charm, relative to its root.
        key: Key path inside the file, dotted; may be empty.
        text: What is wrong, in Juju's words where Juju has them.
    """

    file: str
    key: str
    text: str

    @property
    def hides_key(self) -> bool:
        """Whether Juju's text leaves a part of the key path out; it often says `option` for `options`."""
        first, *more = self.key.split(".")
        return any(part not in self.text for part in more or [first])

    def __str__(self) -> str:
        return f"{self.text} (at {self.key})" if self.hides_key else self.text


class Problems:
    """The problems and warnings of one charm, in the order found."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.warnings: list[str] = []

    def add(self, file: str, text: str, *, key: str = "") -> None:
        """Note a broken rule."""
        self.found.append(Problem(file=file, key=key, text=text))

    def extend(self, other: Problems) -> None:
        """Take over what another reader found."""
        self.found += other.found
        for text in other.warnings:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Note something that does not stop the charm."""
        if text not in self.warnings:
            self.warnings.append(text)

    def raise_if_any(self) -> None:
        """Raise what was found as one error.

        Raises:
            InvalidCharm: Juju's text of the first problem; the others are its detail.
        """
        if not self.found:
            return
        first, rest = self.found[0], self.found[1:]
        lines = [f"at {first.key}"] if first.hides_key else []
        lines += ["also:", *(f"  {problem}" for problem in rest)] if rest else []
        detail = "\n".join(lines)
        raise InvalidCharm(first.text, file=first.file, key=first.key, detail=detail)
