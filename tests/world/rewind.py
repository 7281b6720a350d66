"""A controller whose store a test can reset quickly."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Self

from pushjuju.store import databases
from tests.world.controller import TestController


class RewindController(TestController):
    """A controller for property tests: each example begins with the same store."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._kept: dict[str, sqlite3.Connection] = {}

    def keep_as(self, name: str) -> None:
        """Keep a copy of the store under a name."""
        store = self.ctx.store
        if isinstance(store.place, str):
            databases.to_file(store.place, self._file(name))
            return
        self._kept[name] = sqlite3.connect(":memory:")
        store._connection.backup(self._kept[name])

    def _file(self, name: str) -> Path:
        return self.ctx.datadir.root / f"{name}.kept"

    def back(self, name: str = "rest") -> Self:
        """Reset the store to a copy."""
        store = self.ctx.store
        if isinstance(store.place, str):
            databases.from_file(self._file(name), store.place)
            store.forget()
        else:
            self._kept[name].backup(store._connection)
        return self

    def close(self) -> None:
        """Close the store and its copies."""
        self.ctx.close()
        for copy in self._kept.values():
            copy.close()
