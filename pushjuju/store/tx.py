"""Transactions: run named statements, return rows as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, cast

from pushjuju.core.errors import NotFound, StoreError, not_found
from pushjuju.core.problems import Subject
from pushjuju.core.values import assembler, changed, kinds
from pushjuju.portable.jsontext import compact
from pushjuju.store.statements import of_models, parameters, queries

if TYPE_CHECKING:
    from pushjuju.store.cache import Memo
    from pushjuju.store.engine import Connection, Row, Rows
    from pushjuju.store.scope import Scope
    from pushjuju.store.statement_names import StatementName

R = TypeVar("R")
Questions: TypeAlias = Iterable[tuple["StatementName", Mapping[str, Any]]]
K = TypeVar("K", bound=Hashable)


def _is_json(kind: str) -> bool:
    return kind.startswith(("Mapping[", "list["))


@cache
def _builder(record: Hashable, columns: tuple[str, ...]) -> Callable[[Iterable[Any]], Any]:
    """Return a function that makes a record from a row; the types of the fields say what it decodes."""
    kind: Any = record
    known = kinds(kind)
    if missing := known.keys() - set(columns):
        raise StoreError(f"a row for {kind.__name__} has no {min(missing)}")
    parts = [(name, _decoder(known[name])) if name in known else None for name in columns]
    build: Callable[[Iterable[Any]], Any] = assembler(record, parts)
    return build


def _decoder(kind: str) -> Callable[[Any], Any] | None:
    """Return the function that decodes a column for a field of a type, or None."""
    if kind == "bool":
        return _is_one
    if kind in ("datetime", "datetime | None"):
        return _moment
    return _document if _is_json(kind) else None


def _is_one(number: int) -> bool:
    return number == 1


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _document(text: str) -> Any:
    return {} if text == "{}" else json.loads(text)


def _names(rows: Rows) -> tuple[str, ...]:
    return tuple([column[0] for column in rows.description])


def _first(rows: Rows) -> Row | None:
    found: Row | None = rows.fetchone()
    return found


def _all(rows: Rows) -> list[Row]:
    return rows.fetchall()


def _first_record(rows: Rows, record: type[R]) -> R | None:
    row = rows.fetchone()
    if row is None:
        return None
    made: R = _builder(cast("Hashable", record), _names(rows))(row)
    return made


def _all_records(rows: Rows, record: type[R]) -> list[R]:
    build = _builder(cast("Hashable", record), _names(rows))
    return [build(row) for row in rows]


class Tx:
    """One transaction; invalid after the `with` block that opened it."""

    _own: Mapping[str, Any] = {}  # the model, for the statements with that parameter
    _with_model: frozenset[str] = frozenset()

    def __init__(self, connection: Connection, memo: Memo | None = None, scope: Scope | None = None) -> None:
        self._connection = connection
        self._queries = queries()
        self._memo = memo
        self._scope = scope  # None: the statements may be about any model

    def run(self, query: StatementName, /, **params: Any) -> int:
        """Run a statement; return the number of rows it changed."""
        statement = self._queries[query]
        if query in self._with_model:
            params = {**self._own, **params}
        if self._scope is not None:
            self._check(query, params)
        if self._memo is not None:
            self._memo.wrote(self._memo.effects(statement), params)
        return self._connection.execute(statement, params).rowcount

    def row(self, query: StatementName, /, **params: Any) -> Row | None:
        """Return the first row, or None."""
        return self._ask(_first, query, params)

    def rows(self, query: StatementName, /, **params: Any) -> list[Row]:
        return list(self._ask(_all, query, params))

    def made(self, make: Callable[[Iterable[Row]], R], query: StatementName, /, **params: Any) -> R:
        """Return the result of a pure function of all rows, cached until a row changes.

        Args:
            make: A module's function; with a new function for each call, no cached answer would serve.
        """
        return self._ask(make, query, params)

    def _ask(
        self, make: Callable[..., R], query: StatementName, params: Mapping[str, Any], *record: Any
    ) -> R:
        """Return `make(rows, *record)` for the rows of a statement, cached while they are the same."""
        if query in self._with_model:  # only then, as the parameters are a key of the cache
            params = {**self._own, **params}
        if self._scope is not None:
            self._check(query, params)
        if self._memo is not None:
            answer: R = self._memo.ask(make, self._queries[query], params, *record)
            return answer
        return make(self._connection.execute(self._queries[query], params), *record)

    def _check(self, query: StatementName, params: Mapping[str, Any]) -> None:
        """Refuse a statement outside of the scope (`store.scope`)."""
        assert self._scope is not None
        if query in of_models():
            self._scope.check(params["model"], query)
        elif query.startswith("sequence_"):
            self._scope.check_sequence(params["scope"], params.get("name", ""), query)
        else:
            self._scope.check_whole(query)

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
            NotFound: There is no row; `missing` is the message, or names the entity.
        """
        found = self.find(record, query, **params)
        if found is None:
            raise not_found(missing.kind, missing.name) if isinstance(missing, Subject) else NotFound(missing)
        return found

    def list(self, record: type[R], query: StatementName, /, **params: Any) -> list[R]:
        """Return all rows as records."""
        return list(self._ask(_all_records, query, params, record))

    def ahead(self, questions: Callable[[K], Questions], of: K, *, changes: bool = False) -> None:
        """Send the questions about something that come soon, so that one wait serves all of them.

        Args:
            changes: True when an answer mostly changes before the questions are sent again.
        """
        if self._memo is None or self._memo.ahead is None:
            return
        group = None if changes else (questions, of, *self._own.values())
        if group is None or not self._memo.is_ahead(group):
            asked = [(self._queries[query], self._checked(query, params)) for query, params in questions(of)]
            self._memo.ahead(group, asked)

    def _checked(self, query: StatementName, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the parameters of a statement with the model, if the statement may be run."""
        asked = {**self._own, **params} if query in self._with_model else params
        if self._scope is not None:
            self._check(query, asked)
        return asked

    def know(self, record: type[R], query: StatementName, answer: R | None, /, **params: Any) -> None:
        """Set the cached answer of `find` to the record that was just written; None for a deleted row."""
        if self._memo is not None:
            if query in self._with_model:
                params = {**self._own, **params}
            self._memo.know(self._queries[query], params, answer, _first_record, record)

    def forget(self, query: StatementName, /, **params: Any) -> None:
        """Drop the cached answer of `find`, for a row that is not read again."""
        if self._memo is not None:
            if query in self._with_model:
                params = {**self._own, **params}
            self._memo.drop(self._queries[query], params)

    def change(
        self,
        record: type[R],
        query: StatementName,
        by: StatementName,
        key: Mapping[str, Any],
        /,
        **columns: Any,
    ) -> None:
        """Set columns of the row that `find(record, query, **key)` returns, and of no other row.

        With a cache, a statement runs at the end of the transaction, or before a statement that could notice;
        so several changes of a row are written once.

        Args:
            by: The statement, whose parameters are the key and columns of the row. It sets each column to its
                parameter, and nothing else.
        """
        found = self.find(record, query, **key)
        if found is None:
            return
        row = changed(found, **columns)
        params = {name: key[name] if name in key else getattr(row, name) for name in parameters(by)}
        if self._memo is None:
            self.run(by, **params)
            return
        if self._scope is not None:
            self._check(by, params)
        self._memo.hold(self._queries[by], params)
        self.know(record, query, row, **key)

    def insert(self, table: str, record: Any) -> None:
        """Insert a record whose fields have the names of the table's columns."""
        statement, columns, documents = _insertion(table, cast("Hashable", type(record)))
        values = {name: getattr(record, name) for name in columns}
        values.update((name, compact(values[name])) for name in documents)
        if self._scope is not None:
            self._scope.check_row(values.get("model", ""), table)
        if self._memo is not None:
            self._memo.inserted(table, values)
        self._connection.execute(statement, values)

    def meaning(self, read: Callable[[str], R], text: str) -> R:
        """Return `read(text)`, or its value if it was computed or passed to `means` before."""
        if self._memo is None:
            return read(text)
        found: R | None = self._memo.values.get((read, text))
        if found is None:
            found = read(text)
            self._memo.values.put((read, text), found)
        return found

    def means(self, read: Callable[[str], R], text: str, value: R, instead_of: str = "") -> None:
        """Cache the value that `read(text)` would return, for later calls of `meaning`.

        Args:
            instead_of: A text whose value is dropped, because the store has the new text in its place.
        """
        if self._memo is not None:
            self._memo.values.pop((read, instead_of), None)
            self._memo.values.put((read, text), value)

    def watch(self) -> None:
        """Track the statements of this transaction from now on, for `conclude`."""
        if self._memo is not None:
            self._memo.watch()

    def conclude(self, key: Hashable, value: object) -> None:
        """Cache a value that depends only on the answers of statements since `watch`.

        The value must still be right at this call: no write since `watch` may have changed it.
        """
        if self._memo is not None:
            self._memo.conclude(key, value)

    def derived(self, make: Callable[[Self, K], R], of: K) -> R:
        """Return `make(tx, of)`, cached until a row that it reads changes.

        Args:
            make: A module's function that reads, writes nothing, and depends on nothing else.
        """
        if self._memo is None:
            return make(self, of)
        made: R = self._memo.derived((make, of), lambda: make(self, of))
        return made

    def next(self, scope: str, name: str, at_least: int = 0, count: int = 1) -> int:
        """Return the first of `count` numbers of a sequence that were never returned before.

        Args:
            at_least: The lowest number that may be returned.
        """
        return int(self.scalar("sequence_next", scope=scope, name=name, at_least=at_least, count=count))

    def give_back(self, scope: str, name: str, number: int) -> None:
        """Return an unused number to its sequence; later numbers may have been drawn meanwhile."""
        self.run("sequence_give_back", scope=scope, name=name, number=number)
        self.run("sequence_unused", scope=scope, name=name)


class ModelTx(Tx):
    """A transaction of one model: each statement gets the model as `:model`, unless the call passes one."""

    def __init__(self, tx: Tx, model: str, now: datetime) -> None:
        super().__init__(tx._connection, tx._memo, tx._scope)
        self.model = model  # the model's UUID
        self.now = now  # the time at which the transaction began
        self._own = {"model": model}
        self._with_model = of_models()

    def beside(self, model: str) -> ModelTx:
        """Return this transaction for the same or another model."""
        return self if model == self.model else ModelTx(self, model, self.now)


@cache
def _insertion(table: str, record: Hashable) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the INSERT statement for a record, its columns, and those columns that are JSON."""
    kind: Any = record
    columns = tuple(kinds(kind))
    documents = tuple(name for name, written in kinds(kind).items() if _is_json(written))
    names, marks = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({marks})", columns, documents  # noqa: S608 - ours
