"""What was read before and has not changed since. Layer: state.

A unit's turn, its commit and its next turn read mostly the same rows. SQLite tells which tables a statement
reads and writes (cascades included), and whether another process has changed the file; so an answer is kept
until one of its tables is written, and no caller needs to know of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_KEPT = 8192  # answers in all; each is about a kilobyte. Four times as many saved a fleet nothing
MOST_ROWS = 100  # of an answer that is kept
_WRITES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
_PURE = frozenset(
    [
        "avg",
        "coalesce",
        "count",
        "glob",
        "ifnull",
        "instr",
        "length",
        "like",
        "max",
        "min",
        "substr",
        "sum",
        "total",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a statement touches.

    Attributes:
        reads: What its answer depends on: (table, columns).
        writes: What it changes, by way of foreign keys as well: (table, column); an empty column: rows.
        kept: Its answer depends on nothing else, and it changes nothing.
    """

    reads: tuple[tuple[str, tuple[str, ...]], ...]
    writes: tuple[tuple[str, str], ...]
    kept: bool


class Analyst:
    """An empty store of the same schema that is asked what statements would do."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        tables = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL")
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.execute("PRAGMA foreign_keys = ON")
        for row in tables:
            self._connection.execute(row[0])
        self._seen: list[tuple[int, str, str]] = []
        self._connection.set_authorizer(self._note)

    def _note(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        self._seen.append((action, first or "", second or ""))
        return sqlite3.SQLITE_OK

    def ask(self, statement: str) -> Effects:
        """Tell what a statement touches; it is not run."""
        self._seen.clear()
        self._connection.execute(f"EXPLAIN {statement}", _Nothing())
        columns: dict[str, set[str]] = {}
        writes = set()
        pure = True
        for action, first, second in self._seen:
            if action == sqlite3.SQLITE_READ:
                columns.setdefault(first, set()).add(second)
            elif action in _WRITES:
                writes.add((first, second if action == sqlite3.SQLITE_UPDATE else ""))
            elif action == sqlite3.SQLITE_FUNCTION:
                pure &= second.lower() in _PURE
        return Effects(
            reads=tuple((table, tuple(sorted(names))) for table, names in sorted(columns.items())),
            writes=tuple(sorted(writes)),
            kept=pure and bool(columns) and not writes,
        )

    def close(self) -> None:
        """Forget the empty store."""
        self._connection.close()


class _Nothing(dict[str, None]):
    """Parameters of a statement that is not run."""

    def __missing__(self, key: str) -> None:
        return None


class Recent:
    """A dictionary that forgets what was not asked for in a long time.

    Two generations: what is found in the old one moves to the young one, and when that is full the old one
    goes.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._young: dict[Hashable, Any] = {}
        self._old: dict[Hashable, Any] = {}

    def get(self, key: Hashable) -> Any:
        """Return what is kept under a key, or None."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: Hashable, value: Any) -> None:
        """Keep something."""
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def clear(self) -> None:
        """Forget all."""
        self._young, self._old = {}, {}


class Memo:
    """The answers of one connection.

    Nothing is valid beyond the transaction that it was read in but by `begin`, which looks whether another
    connection has written since.

    Attributes:
        values: What texts mean that were read from the store or written to it: never out of date.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._analyst = Analyst(connection)
        self._effects: dict[str, Effects] = {}
        self._now = 0  # grows with each write
        self._touched: dict[str, int] = {}  # table -> when anything of it was last written
        self._written: dict[tuple[str, str], int] = {}  # the same of a column, or, for none, of its rows
        self._answers = Recent(MOST_KEPT)  # of (moment, answer)
        self._data_version = -1
        self.values = Recent(MOST_KEPT)

    def begin(self) -> None:
        """Look, as the first thing in a transaction, whether others have written."""
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._data_version:
            self._data_version = version
            self.clear()

    def clear(self) -> None:
        """Forget every answer: something was undone, or changed in a way that nobody told."""
        self._answers.clear()

    def effects(self, statement: str) -> Effects:
        """Return what a statement touches."""
        found = self._effects.get(statement)
        if found is None:
            found = self._effects[statement] = self._analyst.ask(statement)
        return found

    def ask(self, make: Callable[..., Any], statement: str, params: Mapping[str, Any], *record: Any) -> Any:
        """Return what a statement answers, made into something by `make(rows, *record)`, or what it was."""
        effects = self._effects.get(statement) or self.effects(statement)
        if not effects.kept:
            self.wrote(effects.writes)
            return make(self._connection.execute(statement, params), *record)
        key = (make, statement, record, *params.items())
        entry = self._answers.get(key)
        if entry is not None and self._holds(entry[0], effects):
            return entry[1]
        answer = make(self._connection.execute(statement, params), *record)
        if not isinstance(answer, list) or len(answer) <= MOST_ROWS:
            self._answers.put(key, (self._now, answer))
        return answer

    def _holds(self, moment: int, effects: Effects) -> bool:
        touched = self._touched
        for table, columns in effects.reads:
            if touched.get(table, 0) > moment:
                written = self._written
                if written.get((table, ""), 0) > moment:
                    return False
                for column in columns:
                    if written.get((table, column), 0) > moment:
                        return False
        return True

    def wrote(self, what: Iterable[tuple[str, str]]) -> None:
        """Note that columns, or for an empty one the rows of a table, have changed."""
        self._now += 1
        for item in what:
            self._written[item] = self._touched[item[0]] = self._now

    def close(self) -> None:
        """Let go of what it asks."""
        self._analyst.close()
