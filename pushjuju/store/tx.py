"""Transactions: named statements, and rows as values."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from functools import cache
from operator import truth
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from pushjuju.core.clock import from_iso, to_iso
from pushjuju.core.errors import NotFound, StoreError, not_found
from pushjuju.core.problems import Subject
from pushjuju.core.values import changed, slots
from pushjuju.portable.jsontext import compact
from pushjuju.store.statements import queries

if TYPE_CHECKING:
    from pushjuju.store.cache import Memo
    from pushjuju.store.statement_names import StatementName

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)

sqlite3.register_adapter(datetime, to_iso)  # a parameter of a statement may be a time


# How a column is decoded, by the type of its field. A mapping or list is JSON; every other type stays.
_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "bool": truth,
    "datetime": from_iso,
    "datetime | None": from_iso,
}


def _is_json(kind: str) -> bool:
    return kind.startswith(("Mapping[", "list["))


def _document(text: str) -> Any:
    return {} if text == "{}" else json.loads(text)


@cache
def _builder(record: Hashable, columns: tuple[str, ...]) -> Callable[[Iterable[Any]], Any]:
    """Return what makes a record of a row with these columns; the types of its fields say what is decoded."""
    kind: Any = record
    known = {field.name: str(field.type) for field in fields(kind)}
    if missing := known.keys() - set(columns):
        raise StoreError(f"a row for {kind.__name__} has no {min(missing)}")
    puts = [_put(kind, name, known[name]) if name in known else _leave_out for name in columns]
    new = kind.__new__

    def build(row: Iterable[Any]) -> Any:
        made = new(kind)
        for put, value in zip(puts, row, strict=True):
            put(made, value)
        return made

    return build


def _put(record: Any, name: str, kind: str) -> Callable[[Any, Any], None]:
    """Return the function that writes a column into a record."""
    put = slots(record)[name][1]
    decode = _document if _is_json(kind) else _DECODERS.get(kind)
    if decode is None:
        return put
    return lambda made, value: put(made, None if value is None else decode(value))


def _leave_out(_record: Any, _value: Any) -> None:
    pass


def _names(rows: sqlite3.Cursor) -> tuple[str, ...]:
    return tuple([column[0] for column in rows.description])


def _first(rows: sqlite3.Cursor) -> sqlite3.Row | None:
    found: sqlite3.Row | None = rows.fetchone()
    return found


def _all(rows: sqlite3.Cursor) -> list[sqlite3.Row]:
    return rows.fetchall()


def _first_record(rows: sqlite3.Cursor, record: type[R]) -> R | None:
    row = rows.fetchone()
    if row is None:
        return None
    made: R = _builder(cast("Hashable", record), _names(rows))(row)
    return made


def _all_records(rows: sqlite3.Cursor, record: type[R]) -> list[R]:
    build = _builder(cast("Hashable", record), _names(rows))
    return [build(row) for row in rows]


class Tx:
    """One transaction. Ends with the `with` block that opened it; never kept beyond."""

    _own: Mapping[str, Any] = {}  # parameters of every statement that it runs

    def __init__(self, connection: sqlite3.Connection, memo: Memo | None = None) -> None:
        self._connection = connection
        self._queries = queries()
        self._memo = memo

    def run(self, query: StatementName, /, **params: Any) -> int:
        """Run a statement; return the number of rows it changed."""
        statement, params = self._queries[query], {**self._own, **params}
        if self._memo is not None:
            self._memo.wrote(self._memo.effects(statement), params)
        return self._connection.execute(statement, params).rowcount

    def row(self, query: StatementName, /, **params: Any) -> sqlite3.Row | None:
        """Return the first row, or None."""
        return self._ask(_first, query, params)

    def rows(self, query: StatementName, /, **params: Any) -> list[sqlite3.Row]:
        """Return all rows."""
        return list(self._ask(_all, query, params))

    def made(self, make: Callable[[Iterable[sqlite3.Row]], R], query: StatementName, /, **params: Any) -> R:
        """Return what a pure function makes of all rows; it is remembered as long as they are the same.

        Args:
            make: A function of a module, not made anew each time: it is part of what is remembered.
        """
        return self._ask(make, query, params)

    def _ask(
        self, make: Callable[..., R], query: StatementName, params: Mapping[str, Any], *record: Any
    ) -> R:
        """Return what a statement answers, made into something by `make(rows, *record)`."""
        params = {**self._own, **params}
        if self._memo is not None:
            answer: R = self._memo.ask(make, self._queries[query], params, *record)
            return answer
        return make(self._connection.execute(self._queries[query], params), *record)

    def scalar(self, query: StatementName, /, **params: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(query, **params)
        return None if row is None else row[0]

    def find(self, record: type[R], query: StatementName, /, **params: Any) -> R | None:
        """Return the first row as a record, or None."""
        return self._ask(_first_record, query, params, record)

    def get(self, record: type[R], query: StatementName, missing: str | Subject, /, **params: Any) -> R:
        """Return the first row as a record.

        Raises:
            NotFound: No row; `missing` is the message, or what the message names.
        """
        found = self.find(record, query, **params)
        if found is None:
            raise not_found(missing.kind, missing.name) if isinstance(missing, Subject) else NotFound(missing)
        return found

    def list(self, record: type[R], query: StatementName, /, **params: Any) -> list[R]:
        """Return all rows as records."""
        return list(self._ask(_all_records, query, params, record))

    def know(self, query: StatementName, answer: Any, /, **params: Any) -> None:
        """Tell what `find` answers from now on: what was just written to that row."""
        if self._memo is not None:
            params = {**self._own, **params}
            key = (_first_record, self._queries[query], (type(answer),), *params.items())
            self._memo.know(key, self._queries[query], params, answer)

    def change(
        self,
        record: type[R],
        query: StatementName,
        by: StatementName,
        key: Mapping[str, Any],
        /,
        **columns: Any,
    ) -> None:
        """Set columns of the row that `find(record, query, **key)` finds, and of no other.

        Args:
            by: The statement, with the key and the columns as its parameters. It sets each column as it is
                given, and nothing else.
        """
        known: Any = None
        if self._memo is not None:
            own = {**self._own, **key}.items()
            known = self._memo.known((_first_record, self._queries[query], (record,), *own))
        self.run(by, **key, **columns)
        if known is not None:
            self.know(query, changed(known, **columns), **key)

    def insert(self, table: str, record: Any) -> None:
        """Insert a record whose fields are named as the columns of the table."""
        statement, columns, documents = _insertion(table, cast("Hashable", type(record)))
        values = {name: getattr(record, name) for name in columns}
        values.update((name, compact(values[name])) for name in documents)
        if self._memo is not None:
            self._memo.inserted(table, values)
        self._connection.execute(statement, values)

    def meaning(self, read: Callable[[str], R], text: str) -> R:
        """Return `read(text)`, or the value that was computed or passed to `means` before."""
        if self._memo is None:
            return read(text)
        found: R | None = self._memo.values.get((read, text))
        if found is None:
            found = read(text)
            self._memo.values.put((read, text), found)
        return found

    def means(self, read: Callable[[str], R], text: str, value: R) -> None:
        """Keep the value that `read(text)` would return, for the next caller of `meaning`."""
        if self._memo is not None:
            self._memo.values.put((read, text), value)

    def watch(self) -> None:
        """Note from now on what is asked in this transaction: what follows from it may be concluded."""
        if self._memo is not None:
            self._memo.trail = {}

    def conclude(self, key: Hashable, value: object) -> None:
        """Keep a value that follows from the answers since `watch`, and from nothing else.

        The rows are read again now: a write in between must not change the conclusion.
        """
        if self._memo is not None:
            self._memo.conclude(key, value)

    def derived(self, make: Callable[[Self, K], R], of: K) -> R:
        """Return `make(tx, of)`, or what it was before when it would read the same rows again.

        Args:
            make: A function of a module that reads, writes nothing, and depends on nothing else.
        """
        if self._memo is None:
            return make(self, of)
        made: R = self._memo.derived((make, of), lambda: make(self, of))
        return made

    def next(self, scope: str, name: str, at_least: int = 0) -> int:
        """Return the next number of a sequence, never below `at_least`, never one given before."""
        return int(self.scalar("sequence_next", scope=scope, name=name, at_least=at_least))

    def give_back(self, scope: str, name: str, number: int) -> None:
        """Give a number back that nothing was recorded under; later ones may have been given meanwhile."""
        self.run("sequence_give_back", scope=scope, name=name, number=number)
        self.run("sequence_unused", scope=scope, name=name)


class ModelTx(Tx):
    """A transaction of one model: each statement gets the model as `:model`, unless another one is given.

    Attributes:
        model: The model's uuid.
        now: When the transaction began.
    """

    def __init__(self, tx: Tx, model: str, now: datetime) -> None:
        super().__init__(tx._connection, tx._memo)
        self.model = model
        self.now = now
        self._own = {"model": model}

    def beside(self, model: str) -> ModelTx:
        """Return the same transaction for a model that may be another one."""
        return self if model == self.model else ModelTx(self, model, self.now)


@cache
def _insertion(table: str, record: Hashable) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the statement that inserts a record, its columns, and those of them that are kept as JSON."""
    kind: Any = record
    columns = tuple(field.name for field in fields(kind))
    documents = tuple(field.name for field in fields(kind) if _is_json(str(field.type)))
    names, marks = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({marks})", columns, documents  # noqa: S608 - ours
