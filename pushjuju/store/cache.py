"""What was read before and has not changed since.

A unit's turn, its commit and its next turn read mostly the same rows. SQLite reports which columns a
statement reads and writes (cascades included), and whether another process has changed the file; the
statement itself shows, where it is plain enough, which rows. So an answer is kept until one of its columns is
written in one of its rows, and what follows from many answers until one of them falls; no caller needs to
know of it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_KEPT = 8192  # answers in all; each is about a kilobyte. Four times as many saved a fleet nothing
MOST_CONCLUDED = 32768  # each is about a kilobyte as well, and spares dozens of answers
MOST_ROWS = 100  # of an answer that is kept
_WRITES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
# The columns that identify the rows of a table for most of its statements. A statement that has them in its
# condition changes only the rows with those values; what other statements change may be in any row.
_ROWS = {
    "application": ("name",),
    "charm_state": ("unit",),
    "decided": ("operation",),
    "lease": ("application",),
    "machine": ("id",),
    "machine_firewall": ("machine",),
    "operation": ("id",),
    "port": ("unit",),
    "relation": ("id",),
    "relation_bag": ("relation",),
    "relation_scope": ("unit",),
    "status": ("entity", "kind"),
    "status_history": ("entity",),
    "unit": ("name",),
    "work": ("key",),
}
MOST_NOTED = 65536  # rows of which is known when they were written
_NOT_PLAIN = re.compile(r"\b(OR|NOT|CASE|JOIN|UNION|EXCEPT|INTERSECT|REPLACE|IGNORE)\b")
_TARGET = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)\b")
_INSERT = re.compile(
    r"INSERT INTO \w+ \(([\w, ]+)\) VALUES \(([:\w, ]+)\)(?: ON CONFLICT \(([\w, ]+)\) DO .*)?"
)
_TAIL = re.compile(r" (ORDER BY|LIMIT|RETURNING|GROUP BY)\b.*")
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


Place = tuple[str, ...]  # a table, and the values of the columns that identify a row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Effects:
    """The rows and columns that a statement reads and writes.

    Attributes:
        reads: The columns on which the answer depends: (table, column).
        writes: The columns that the statement changes, also by foreign keys: (table, column). An empty column
            means whole rows.
        kept: True when the answer depends on nothing else and the statement changes nothing, so it can be
            cached.
        cells: The reads, with the keys under which writes are noted: (table, ((table, column), ...)).
        row: (table, parameters): in this table the statement uses only the rows that the parameters select.
        loose: The tables in which the statement may change any row.
    """

    reads: tuple[tuple[str, tuple[str, ...]], ...]
    writes: tuple[tuple[str, str], ...]
    kept: bool
    cells: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    row: tuple[str, tuple[str, ...]] | None
    loose: tuple[str, ...]

    def place(self, params: Mapping[str, Any]) -> Place | None:
        """Return the rows that the statement uses with these parameters, or None when it may use any row."""
        if self.row is None:
            return None
        return _place(self.row[0], [params[name] for name in self.row[1]])


class Analyst:
    """An empty store of the same schema, used to find out which rows a statement reads and writes."""

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
        """Return which rows and columns a statement reads and writes, without running the statement."""
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
        row = _row_of(" ".join(statement.split()), columns, writes)
        changed = sorted({table for table, _ in writes})
        return Effects(
            reads=tuple((table, tuple(sorted(names))) for table, names in sorted(columns.items())),
            writes=tuple(sorted(writes)),
            kept=pure and bool(columns) and not writes,
            cells=tuple(
                (table, tuple((table, name) for name in ("", *sorted(names))))
                for table, names in columns.items()
            ),
            row=row,
            loose=tuple(table for table in changed if row is None or table != row[0]),
        )

    def close(self) -> None:
        """Forget the empty store."""
        self._connection.close()


Entry = tuple[int, Effects, Place | None, Any]  # moment, statement, the rows that it reads, answer


def _row_of(
    text: str, reads: Mapping[str, object], writes: Collection[tuple[str, str]]
) -> tuple[str, tuple[str, ...]] | None:
    """Return the table in which a statement uses only rows that parameters select, with these parameters."""
    if _NOT_PLAIN.search(text) or text.count("SELECT") != (not writes):
        return None
    target = _TARGET.match(text)
    table = target[1] if target else next(iter(reads)) if len(reads) == 1 else ""
    columns = _ROWS.get(table, ())
    if not columns or any((table, column) in writes for column in columns):
        return None
    known = _inserted(text, columns) if text.startswith("INSERT") else _compared(text)
    return (table, tuple(known[column] for column in columns)) if known.keys() >= set(columns) else None


def _compared(text: str) -> dict[str, str]:
    """Return the conditions on every row that a statement uses: column -> the parameter that it equals."""
    condition = _TAIL.sub("", text.partition(" WHERE ")[2])
    found = (re.fullmatch(r"(\w+) = :(\w+)", part.strip()) for part in condition.split(" AND "))
    return {match[1]: match[2] for match in found if match}


def _inserted(text: str, columns: Iterable[str]) -> dict[str, str]:
    """Return what a statement puts into its row: column -> parameter; nothing if it may change others."""
    found = _INSERT.fullmatch(_TAIL.sub("", text))
    if found is None:
        return {}
    names, values, conflict = ([item.strip() for item in (part or "").split(",")] for part in found.groups())
    if found[3] and not set(columns) <= set(conflict):
        return {}
    return {name: value[1:] for name, value in zip(names, values, strict=True) if value.startswith(":")}


def _place(table: str, values: Collection[object]) -> Place | None:
    """Return which rows have these values; None where it is not certain what SQLite takes for equal."""
    if all(isinstance(value, str) or type(value) is int for value in values):
        return table, *map(str, values)  # it takes 5 for '5' as well
    return None


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
        values: Decoded values of texts that were read from the store or written to it: never out of date.
        trail: The statements since tracking began; None without tracking, or after a statement whose answer
            may differ next time.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._analyst = Analyst(connection)
        self._effects: dict[str, Effects] = {}
        self._now = 0  # grows with each write
        self._touched: dict[str, int] = {}  # table -> when anything of it was last written
        self._written: dict[tuple[str, str], int] = {}  # the same of a column, or, for none, of its rows
        self._rows: dict[Place, int] = {}  # the same of single rows
        self._loose: dict[str, int] = {}  # the same for rows that are not identified
        self._answers = Recent(MOST_KEPT)  # of entries
        self._conclusions = Recent(MOST_CONCLUDED)  # of (moment, what it follows from, value)
        self._data_version = -1
        self.values = Recent(MOST_KEPT)
        self.trail: list[Entry] | None = None

    def begin(self) -> None:
        """Check, as the first step of a transaction, whether other processes have written."""
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._data_version:
            self._data_version = version
            self.clear()

    def clear(self) -> None:
        """Forget every answer: a transaction was rolled back, or rows changed in an unknown way."""
        self._answers.clear()
        self._conclusions.clear()

    def effects(self, statement: str) -> Effects:
        """Return which rows and columns a statement reads and writes."""
        found = self._effects.get(statement)
        if found is None:
            found = self._effects[statement] = self._analyst.ask(statement)
        return found

    def ask(self, make: Callable[..., Any], statement: str, params: Mapping[str, Any], *record: Any) -> Any:
        """Return what a statement answers, made into something by `make(rows, *record)`, or what it was."""
        effects = self._effects.get(statement) or self.effects(statement)
        if not effects.kept:
            self.trail = None  # it answers something else each time
            self.wrote(effects, params)
            return make(self._connection.execute(statement, params), *record)
        key = (make, statement, record, *params.items())
        entry: Entry | None = self._answers.get(key)
        if entry is None or not self._holds(entry[0], entry[1], entry[2]):
            answer = make(self._connection.execute(statement, params), *record)
            entry = (self._now, effects, effects.place(params), answer)
            if not isinstance(answer, list) or len(answer) <= MOST_ROWS:
                self._answers.put(key, entry)
        if self.trail is not None:
            self.trail.append(entry)
        return entry[3]

    def known(self, key: Hashable) -> Any:
        """Return the answer under a key if it holds, else None; the store is not asked."""
        entry: Entry | None = self._answers.get(key)
        return entry[3] if entry is not None and self._holds(entry[0], entry[1], entry[2]) else None

    def know(self, key: Hashable, statement: str, params: Mapping[str, Any], answer: object) -> None:
        """Keep the answer that a statement gives from now on; the caller wrote the rows and so knows it."""
        effects = self.effects(statement)
        self._answers.put(key, (self._now, effects, effects.place(params), answer))

    def _holds(self, moment: int, effects: Effects, place: Place | None) -> bool:
        """Return True when nothing that a statement reads was written since a moment."""
        if moment == self._now:
            return True
        touched, written = self._touched, self._written
        for table, columns in effects.cells:
            if touched.get(table, 0) <= moment:
                continue
            if (
                place is not None
                and self._loose.get(table, 0) <= moment
                and self._rows.get(place, 0) <= moment
            ):
                continue  # it was in other rows
            for column in columns:
                if written.get(column, 0) > moment:
                    return False
        return True

    def wrote(self, effects: Effects, params: Mapping[str, Any]) -> None:
        """Note what a statement changes with these parameters."""
        self._now = now = self._now + 1
        for item in effects.writes:
            self._written[item] = self._touched[item[0]] = now
        for table in effects.loose:
            self._loose[table] = now
        if effects.row is not None and effects.writes:
            self._note_row(effects.row[0], effects.place(params))

    def inserted(self, table: str, values: Mapping[str, Any]) -> None:
        """Note that a table has a row more, with these values."""
        self._now = now = self._now + 1
        self._written[table, ""] = self._touched[table] = now
        self._note_row(table, _place(table, [values.get(column) for column in _ROWS.get(table, ())]))

    def _note_row(self, table: str, place: Place | None) -> None:
        if len(self._rows) >= MOST_NOTED:
            self._loose.update(dict.fromkeys(_ROWS, self._now))
            self._rows.clear()
        if place is None:
            self._loose[table] = self._now
        else:
            self._rows[place] = self._now

    # --- what follows from many answers -------------------------------------------------------------------

    def conclude(self, key: Hashable, value: object) -> None:
        """Keep what was concluded from the answers on the trail, all of which hold now."""
        if self.trail is not None:
            footing = tuple({(entry[1], entry[2]) for entry in self.trail})
            self._conclusions.put(key, (self._now, footing, value))

    def concluded(self, key: Hashable) -> Any:
        """Return what was concluded, if all that it follows from is as it was; else None."""
        found = self._conclusions.get(key)
        if found is None:
            return None
        moment = found[0]
        for effects, place in found[1]:
            if not self._holds(moment, effects, place):
                return None
        return found[2]

    def close(self) -> None:
        """Let go of what it asks."""
        self._analyst.close()
