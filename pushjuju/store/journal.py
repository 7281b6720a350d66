"""The writes of a transaction in a form that other processes apply to what they have cached.

A note names a statement and the rows that the statement may have changed. So a process drops only the answers
that the writes of others have changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache

from pushjuju.store.statements import queries, rows

Place = tuple[str, ...]  # a table, and the values of the columns that identify a row
Note = tuple[str, Place | None]  # a statement, or "" for a new row; the changed rows, None for any
MOST_NEWS = 1000  # transactions; who has missed more takes everything for changed


class Journal:
    """The notes of the transaction that is open, and the news of other processes."""

    def __init__(self) -> None:
        self._own: dict[Note, None] = {}  # ordered, each once
        self._news: list[str | None] = []

    def begin(self) -> None:
        """Begin with a new transaction."""
        self._own.clear()

    def note(self, statement: str, place: Place | None) -> None:
        """Note what the transaction has written."""
        self._own[statement, place] = None

    def text(self) -> str:
        """Return the notes as JSON; "" when nothing was written."""
        if not self._own:
            return ""
        names = _names()
        return json.dumps([_release(), *([names.get(sql, ""), place] for sql, place in self._own)])

    def hear(self, news: Iterable[str | None]) -> None:
        """Take in the notes of other processes; None for writes without notes."""
        self._news += news

    def taken(self) -> list[Note] | None:
        """Return what others have written since the last call, or None when anything may have changed."""
        news, self._news = self._news, []
        if len(news) > MOST_NEWS:
            return None
        found: dict[Note, None] = {}
        for text in news:
            release, *notes = json.loads(text) if text is not None else ("",)
            if release != _release():
                return None
            for name, place in notes:
                found[queries()[name] if name else "", None if place is None else tuple(place)] = None
        return list(found)


@cache
def _names() -> dict[str, str]:
    return {sql: name for name, sql in queries().items()}


@cache
def _release() -> str:
    """Return a short digest of all statements: only the same statements change the same rows."""
    said = repr((sorted(queries().items()), sorted(rows().items())))
    return hashlib.sha256(said.encode()).hexdigest()[:12]
