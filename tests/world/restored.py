"""A store that returns to how it was after each call that has changed it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any


class Restored:
    """Sees whether anybody has written to a store, and undoes what was written."""

    def __init__(self, path: Path) -> None:
        self._store = sqlite3.connect(path, timeout=10, isolation_level=None)
        self._copy = sqlite3.connect(":memory:")
        self.keep()

    def __enter__(self) -> Restored:
        """Return this object, which the end of the block closes."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store and its copy."""
        self._store.close()
        self._copy.close()

    def keep(self) -> None:
        """Take the present content as the one to return to."""
        self._store.backup(self._copy)
        self._kept = _but_for_audit(self._copy)
        self._seen = self._version()

    def _version(self) -> int:
        return int(self._store.execute("PRAGMA data_version").fetchone()[0])

    def undo(self) -> bool:
        """Return True when anything but the audit log was written to since; bring the kept content back."""
        if self._version() == self._seen:
            return False
        is_changed = _but_for_audit(self._store) != self._kept
        if is_changed:  # else only the audit log has grown
            self._copy.backup(self._store)
        self._seen = self._version()
        return is_changed


def _but_for_audit(store: sqlite3.Connection) -> list[list[Any]]:
    """Return the rows of all tables; the audit log notes also what failed."""
    asked = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'audit' ORDER BY name"
    return [store.execute(f"SELECT * FROM {name}").fetchall() for (name,) in store.execute(asked).fetchall()]
