"""The errors of queries, with the place of the fault in Juju's form. Pure.

Mirrors: juju cmd/juju/waitfor/errors.go, query/errors.go (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.errors import NotValid
from pushjuju.core.suggest import distance
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a token in a query: line and column, counted from 1, and its length."""

    line: int
    column: int
    length: int = 1


class BadQuery(NotValid, code="bad-query"):
    """A query that breaks the grammar, or names an unknown identifier or function."""


def cannot_parse(text: str, place: Place, reason: str, advice: str) -> BadQuery:
    """Return the error of a query that breaks the grammar."""
    lines = text.splitlines() or [""]
    ledger = f"{place.line} | "
    shown = lines[min(place.line, len(lines)) - 1]
    mark = " " * (len(ledger) + place.column - 1) + "^" * max(place.length, 1)
    return BadQuery(f"Cannot parse query: {reason}.\n\n{ledger}{shown}\n{mark}\n{advice}.")


def unexpected(text: str, place: Place, found: str) -> BadQuery:
    """Return the error of a character that cannot begin a token."""
    advice = f"wait-for doesn't support '{found}'. Maybe try removing the character and try again"
    return cannot_parse(text, place, "unexpected character", advice)


def expected(text: str, place: Place, wanted: str) -> BadQuery:
    """Return the error of a token in a place where another token must be."""
    advice = "The type doesn't match the expected syntax. Maybe try removing the character and try again"
    return cannot_parse(text, place, f"expected {wanted}", advice)


def unterminated(text: str, place: Place) -> BadQuery:
    """Return the error of a string without its closing quote."""
    reason = "string is not correctly terminated"
    return cannot_parse(text, place, reason, "Try adding a closing quote to the string")


def not_boolean(text: str, place: Place, operator: str) -> BadQuery:
    """Return the error of a side of `&&` or `||` that is not a boolean."""
    word = "AND" if operator == "&&" else "OR"
    advice = f"Ensure that each side of the {operator} operator can be evaluated to a boolean"
    return cannot_parse(text, place, f"invalid {word} ({operator}) operator", advice)


def cannot_run(text: str, why: str) -> BadQuery:
    """Return the error of a query that fails while it is evaluated."""
    return BadQuery(
        f"Cannot execute query: runtime error.\n\n{_listed(text)}"
        f"wait-for requires the {why}\nMaybe try removing the character and try again."
    )


def unknown_name(text: str, name: str, kind: str, known: Sequence[str]) -> BadQuery:
    """Return the error of an identifier that the entity does not have."""
    head = f"Cannot execute query: invalid identifier.\n\n{_listed(text)}"
    return BadQuery(f'{head}No possible matches for "{name}" on {kind}\n{_matches(name, known)}')


def unknown_function(text: str, name: str, known: Sequence[str]) -> BadQuery:
    """Return the error of a function that does not exist."""
    head = f"Cannot execute query: runtime syntax error.\n\n{_listed(text)}"
    return BadQuery(f'{head}wait-for has no function "{name}".\n{_matches(name, known)}')


def _listed(text: str) -> str:
    return "".join(f"{at} | {line}\n" for at, line in enumerate(text.splitlines(), 1)) + "\n"


def _matches(name: str, known: Sequence[str]) -> str:
    """Return the lines that list the most similar name and the other names."""
    if not known:
        return ""
    nearest = min(sorted(known), key=lambda other: distance(name, other))
    others = sorted(known)
    found = ""
    if distance(name, nearest) <= len(nearest) + 1:
        others.remove(nearest)
        found = f"Did you mean:\n\n    {nearest}\n"
    if others:
        found += "\nOther possible matches:\n\n    - " + "\n    - ".join(others)
    return found
