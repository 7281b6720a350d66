"""What a statement of the store reads and writes: its columns and rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Set
from functools import cache
from typing import Any

from pushjuju.core.values import dataclass
from pushjuju.store.statements import rows

_WRITES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
_ROWS = {sqlite3.SQLITE_INSERT: "+", sqlite3.SQLITE_DELETE: ""}  # columns that stand for whole rows
# The columns that identify the rows of a table. A statement that declares parameters for these columns uses
# only the rows with these values (`-- rows: unit(model, name)`); any other statement may use all rows.
IDENTITY = {
    "application": ("model", "name"),
    "charm_state": ("model", "unit"),
    "decided": ("operation",),
    "lease": ("model", "application"),
    "machine": ("model", "id"),
    "machine_firewall": ("model", "machine"),
    "operation": ("id",),
    "port": ("model", "unit"),
    "relation": ("model", "id"),
    "relation_bag": ("model", "relation"),
    "relation_scope": ("model", "unit"),
    "status": ("model", "entity", "kind"),
    "status_history": ("model", "entity"),
    "unit": ("model", "name"),
    "work": ("key",),
}
_MOMENTS = {("machine", "last_seen")}  # changes with each contact; no derived value depends on it
_PURE = frozenset([
    "avg", "coalesce", "count", "hex", "ifnull", "instr", "length", "like", "max", "min", "substr", "sum",
    "total",
])  # fmt: skip

_CHANGING = ("INSERT", "UPDATE", "DELETE")  # what statements that read nothing begin with

Place = tuple[str, ...]  # a table, and the values of the columns that identify a row
Held = Mapping[tuple[str, Place | None], Mapping[str, Any]]  # statements to run later: parameters
Cells = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Effects:
    """The rows and columns that a statement reads and writes."""

    statement: str  # its SQL
    reads: tuple[tuple[str, tuple[str, ...]], ...]  # the columns on which the answer depends: (table, column)
    # the columns that the statement changes, also through foreign keys: (table, column). The column "" means
    # rows that it deletes, and "+" rows that it adds.
    writes: tuple[tuple[str, str], ...]
    # True when the answer may be cached: it depends only on the rows, and the statement changes nothing
    kept: bool
    cells: Cells  # `reads`, for comparison with writes: (table, ((table, "", "+" or column), ...))
    found: Cells  # the same for an answer that is not empty: without "+" if the answer is one row that exists
    grounds: Cells  # `cells` without the columns on which no derived value depends
    touched: frozenset[tuple[str, str]]  # the columns that the statement reads or writes: (table, column)
    # (table, parameters): in this table, the statement uses only the rows that the parameters select
    row: tuple[str, tuple[str, ...]] | None
    loose: tuple[str, ...]  # the tables in which the statement may change any row

    def place(self, params: Mapping[str, Any]) -> Place | None:
        """Return the rows that the statement uses with these parameters, or None when it may use any row."""
        if self.row is None:
            return None
        return place_of(self.row[0], [params[name] for name in self.row[1]])


class Analyst:
    """An empty store with the same schema, in which SQLite reports what a statement reads and writes."""

    def __init__(self, tables: Iterable[str]) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.executescript(";\n".join(("BEGIN", *tables, "COMMIT")))
        self._unique = {table for table, columns in IDENTITY.items() if self._is_key(table, columns)}
        self._seen: list[tuple[int, str, str]] = []
        self._connection.set_authorizer(self._note)

    def _is_key(self, table: str, columns: Collection[str]) -> bool:
        """Return True when the columns are the primary key of a table, so that they select one row."""
        asked = self._connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0", (table,))
        return {name for (name,) in asked} == set(columns)

    def _note(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        self._seen.append((action, first or "", second or ""))
        return sqlite3.SQLITE_OK

    def ask(self, statement: str) -> Effects:
        """Return the rows and columns that a statement reads and writes, without running the statement."""
        self._seen.clear()
        self._connection.execute(f"EXPLAIN {statement}", _Nothing())
        columns: dict[str, set[str]] = {}
        writes = set()
        functions: set[str] = set()
        for action, first, second in self._seen:
            if action == sqlite3.SQLITE_READ:
                columns.setdefault(first, set()).add(second)
            elif action in _WRITES:
                writes.add((first, _ROWS.get(action, second)))
            elif action == sqlite3.SQLITE_FUNCTION:
                functions.add(second.lower())
        row = rows().get(statement)
        is_row = row is not None and row[0] in self._unique and not functions  # a count is an answer, too
        changed = sorted({table for table, _ in writes})
        return Effects(
            statement=statement,
            reads=tuple((table, tuple(sorted(names))) for table, names in sorted(columns.items())),
            writes=tuple(sorted(writes)),
            kept=functions <= _PURE and bool(columns) and not writes,
            cells=_cells(columns),
            found=_cells(columns, {(table, "+") for table in columns} if is_row else frozenset()),
            grounds=_cells(columns, _MOMENTS),
            touched=frozenset({(table, name) for table in columns for name in columns[table]} | writes),
            row=row,
            loose=tuple(table for table in changed if row is None or table != row[0]),
        )

    def close(self) -> None:
        """Close the empty store."""
        self._connection.close()


@cache
def reads_alone(statement: str) -> bool:
    """Return True when no other statement reads only the rows of its table that its parameters select."""
    table, _ = rows().get(statement, ("", ()))
    of_table = [text for text, row in rows().items() if row[0] == table]
    return [text for text in of_table if not text.lstrip().startswith(_CHANGING)] == [statement]


def _cells(columns: Mapping[str, Set[str]], without: Set[tuple[str, str]] = frozenset()) -> Cells:
    """Return `Effects.cells` for columns that a statement reads, without some of them."""
    return tuple(
        (table, tuple((table, name) for name in ("", "+", *sorted(names)) if (table, name) not in without))
        for table, names in columns.items()
    )


def place_of(table: str, values: Collection[object]) -> Place | None:
    """Return the place of rows with these values, or None for values that SQLite may compare differently."""
    if all(isinstance(value, str) or type(value) is int for value in values):
        return table, *map(str, values)  # SQLite may treat 5 and '5' as equal
    return None


class _Nothing(dict[str, None]):
    """Parameters for a statement that does not run: each is None."""

    def __missing__(self, key: str) -> None:
        return None
