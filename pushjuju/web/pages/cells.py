"""Tables of pages, as cells of text, links, statuses and moments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pushjuju.core.clock import from_iso
from pushjuju.core.values import dataclass
from pushjuju.web.pages.visit import Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table."""

    text: str = ""
    address: str = ""  # where a link leads; empty for plain text
    status: bool = False  # True for a word that is shown as a status
    time: datetime | None = None  # a moment that is shown in place of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a heading; `none` says in a sentence that there are no rows."""

    name: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    none: str


def row(*values: object) -> list[Cell]:
    """Return a row of cells: values become text."""
    return [value if isinstance(value, Cell) else Cell(text=_text(value)) for value in values]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def setting(value: object) -> object:
    """Return the value of a setting as commands take it: `true`, not `yes`."""
    return str(value).lower() if isinstance(value, bool) else value


def status(word: object) -> Cell:
    return Cell(text=str(word), status=True)


def time(moment: datetime | str | None) -> Cell:
    return Cell(time=from_iso(moment) if isinstance(moment, str) else moment)


def link(visit: Visit, kind: str, name: str) -> Cell:
    """Return a cell with a link to the page of an entity."""
    return Cell(text=name, address=visit.pages.entity(kind, name))
