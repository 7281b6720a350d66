"""The cache of a process whose store is a file: a reader begins its transaction with its first statement."""

from __future__ import annotations

from typing import Any, Protocol

from pushjuju.store.cache import Memo
from pushjuju.store.engine import Engine, Rows


class LateEngine(Engine, Protocol):
    """An engine whose readers begin their transaction late."""

    is_late: bool  # True when a reader's transaction begins with its first statement

    def begin_now(self) -> int:
        """Begin the transaction; return the same as `begin`."""


class LateMemo(Memo):
    """The cached answers of one connection to a file."""

    def __init__(self, engine: LateEngine) -> None:
        super().__init__(engine)
        self._engine = engine
        self._file: Any = engine.connection
        self._connection = self  # what no cached answer serves comes to `execute`

    def execute(self, statement: str, params: Any = (), /) -> Rows:
        """Run a statement, in a transaction that begins now if it has not begun."""
        if self._engine.is_late and (others := self._engine.begin_now()) != self._others:
            self.begin(others)
            self.trail = None  # earlier answers are older than this one, so no value is derived from them
        rows: Rows = self._file.execute(statement, params)
        return rows
