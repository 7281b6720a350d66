"""What was read before and has not changed since.

A unit's turn, its commit and its next turn read mostly the same rows. SQLite reports which columns a
statement reads and writes (cascades included), and whether another process has changed the file; a line
beside the statement declares which rows. So an answer is kept until one of its columns is written in one of
its rows, and what follows from many answers until one of them falls; no caller needs to know of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from pushjuju.store.statements import rows

MOST_KEPT = 8192  # answers in all; each is about a kilobyte. Four times as many saved a fleet nothing
MOST_CONCLUDED = 32768  # each is about a kilobyte as well, and spares dozens of answers
MOST_DERIVED = 2048  # some for each operation under way
MOST_ROWS = 100  # of an answer that is kept
_WRITES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
# The columns that identify the rows of a table. A statement that declares parameters for them uses only
# the rows with those values (`-- rows: unit(name)`); what other statements change may be in any row.
IDENTITY = {
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
_MOMENTS = {("machine", "last_seen")}  # it changes with each contact, and nothing follows from it
MOST_NOTED = 65536  # rows of which is known when they were written
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
Cells = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


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
        grounds: The same without the columns from which nothing follows.
        row: (table, parameters): in this table the statement uses only the rows that the parameters select.
        loose: The tables in which the statement may change any row.
    """

    reads: tuple[tuple[str, tuple[str, ...]], ...]
    writes: tuple[tuple[str, str], ...]
    kept: bool
    cells: Cells
    grounds: Cells
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
        row = rows().get(statement)
        changed = sorted({table for table, _ in writes})
        return Effects(
            reads=tuple((table, tuple(sorted(names))) for table, names in sorted(columns.items())),
            writes=tuple(sorted(writes)),
            kept=pure and bool(columns) and not writes,
            cells=_cells(columns),
            grounds=_cells(columns, _MOMENTS),
            row=row,
            loose=tuple(table for table in changed if row is None or table != row[0]),
        )

    def close(self) -> None:
        """Forget the empty store."""
        self._connection.close()


def _cells(columns: Mapping[str, Set[str]], without: Set[tuple[str, str]] = frozenset()) -> Cells:
    """Return the keys under which writes of columns are noted; an empty column stands for whole rows."""
    return tuple(
        (table, tuple((table, name) for name in ("", *sorted(names)) if (table, name) not in without))
        for table, names in columns.items()
    )


Entry = tuple[int, Effects, Place | None, Any]  # moment, statement, the rows that it reads, answer
Trail = dict[tuple[Effects, Place | None], None]  # a set that keeps its order


def _place(table: str, values: Collection[object]) -> Place | None:
    """Return which rows have these values, or None when it is not certain what SQLite takes for equal."""
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
        trail: The statements since tracking began, each with the rows that it reads; None without tracking,
            or after a statement whose answer may differ next time.
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
        self._derived = Recent(MOST_DERIVED)  # of the same
        self._data_version = -1
        self.values = Recent(MOST_KEPT)
        self.trail: Trail | None = None

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
        self._derived.clear()

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
        if entry is None or not self._holds(entry[0], effects.cells, entry[2]):
            answer = make(self._connection.execute(statement, params), *record)
            entry = (self._now, effects, effects.place(params), answer)
            if not isinstance(answer, list) or len(answer) <= MOST_ROWS:
                self._answers.put(key, entry)
        if self.trail is not None:
            self.trail[entry[1], entry[2]] = None
        return entry[3]

    def known(self, key: Hashable) -> Any:
        """Return the answer under a key if it holds, else None; the store is not asked."""
        entry: Entry | None = self._answers.get(key)
        return entry[3] if entry is not None and self._holds(entry[0], entry[1].cells, entry[2]) else None

    def know(self, key: Hashable, statement: str, params: Mapping[str, Any], answer: object) -> None:
        """Keep the answer that a statement gives from now on; the caller wrote the rows and so knows it."""
        effects = self.effects(statement)
        self._answers.put(key, (self._now, effects, effects.place(params), answer))

    def _holds(self, moment: int, cells: Cells, place: Place | None) -> bool:
        """Return True when nothing of what a statement reads was written since a moment."""
        if moment == self._now:
            return True
        touched, written = self._touched, self._written
        for table, columns in cells:
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
        self._note_row(table, _place(table, [values.get(column) for column in IDENTITY.get(table, ())]))

    def _note_row(self, table: str, place: Place | None) -> None:
        if len(self._rows) >= MOST_NOTED:
            self._loose.update(dict.fromkeys(IDENTITY, self._now))
            self._rows.clear()
        if place is None:
            self._loose[table] = self._now
        else:
            self._rows[place] = self._now

    # --- what follows from many answers -------------------------------------------------------------------

    def conclude(self, key: Hashable, value: object) -> None:
        """Keep what was concluded from the answers on the trail, all of which hold now."""
        if self.trail is not None:
            self._conclusions.put(key, (self._now, tuple(self.trail), value))

    def concluded(self, key: Hashable) -> Any:
        """Return what was concluded, if all that it follows from is as it was; else None."""
        found = self._conclusions.get(key)
        return found[2] if found is not None and self._stands(*found[:2]) else None

    def derived(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what a function makes of answers alone; it is called again when one of them has changed."""
        found, outer = self._derived.get(key), self.trail
        if found is None or not self._stands(*found[:2]):
            value, trail = self._tracked(make)
            if trail is None:
                return value
            found = self._now, trail, value
            self._derived.put(key, found)
        if outer is not None:
            outer.update(found[1])
        self.trail = outer
        return found[2]

    def _tracked(self, make: Callable[[], Any]) -> tuple[Any, Trail | None]:
        """Return what a function makes, and what it asked; `trail` is left to the caller."""
        self.trail = {}
        try:
            return make(), self.trail
        except BaseException:
            self.trail = None  # what was asked before is not known any more: nothing follows from it
            raise

    def _stands(self, moment: int, footing: Iterable[tuple[Effects, Place | None]]) -> bool:
        """Return True when all that something follows from is as it was at a moment."""
        return all(self._holds(moment, effects.grounds, place) for effects, place in footing)

    def close(self) -> None:
        """Let go of what it asks."""
        self._analyst.close()
