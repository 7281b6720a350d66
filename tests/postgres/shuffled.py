"""A plugin for pytest that returns the rows of unordered statements in another order than SQLite does.

PostgreSQL may return them in any order. `make unordered` runs tests with this plugin: a test that fails shows
a statement that needs an ORDER BY.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from pushjuju.store.statements import queries
from pushjuju.store.tx import Tx


class Backwards:
    """A cursor whose rows come in the opposite order."""

    def __init__(self, cursor: Any) -> None:
        self.description = cursor.description
        self._rows = cursor.fetchall()[::-1]

    def fetchone(self) -> Any:
        return self._rows[0] if self._rows else None

    def fetchall(self) -> list[Any]:
        return self._rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)


@cache
def backwards(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `make` with the rows in the opposite order."""
    return lambda cursor, *record: make(Backwards(cursor), *record)


@cache
def is_unordered(query: str) -> bool:
    return queries()[query].startswith(("SELECT", "WITH")) and "ORDER BY" not in queries()[query]


_ask, _know = Tx._ask, Tx.know


def ask(tx: Tx, make: Callable[..., Any], query: Any, params: Mapping[str, Any], *record: Any) -> Any:
    return _ask(tx, backwards(make) if is_unordered(query) else make, query, params, *record)


def know(tx: Tx, query: Any, answer: Any, /, **params: Any) -> None:
    if not is_unordered(query):  # else the cache would be asked under another key
        _know(tx, query, answer, **params)


Tx._ask, Tx.know = ask, know  # type: ignore[method-assign]
