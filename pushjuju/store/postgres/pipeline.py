"""Runs statements on a connection to PostgreSQL: prepared once, and sent without waiting for each answer.

A write waits in the pipeline until the next question or the commit. So a transaction of ten writes takes two
round trips, not ten, at the price that the error of a write is raised later. psycopg's own cursors take five
times as long for a statement, so this module uses libpq through `psycopg.pq`.
"""

from __future__ import annotations

import asyncio
import re
import select
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import psycopg
from psycopg import pq

from pushjuju.core.values import regex
from pushjuju.store.files.waits import TOLD_AFTER_S
from pushjuju.store.postgres.values import READERS, Row, sent, type_of
from pushjuju.store.statements import queries

_MOST_PENDING = 100  # answers; more could fill the buffers of both sides, which then wait for each other
_SOON_MS = TOLD_AFTER_S * 1000
_OK = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
_KINDS = {"SELECT": "read", "INSERT": "write", "UPDATE": "write", "DELETE": "write"}
_OUTER = regex(r"(?m)^(SELECT|INSERT|UPDATE|DELETE)\b")  # the parts of WITH are indented
Columns = tuple[Mapping[str, int], Sequence[tuple[int, Callable[[bytes], Any]]], Sequence[tuple[str]]]
_PARAMETER = regex(r"(?<!:):([a-z_0-9]+)")


class Failed(Exception):
    """A statement failed, and with it the transaction; or the connection is lost."""

    def __init__(self, message: str, state: str = "") -> None:
        super().__init__(message)
        self.state = state  # PostgreSQL's code of five characters, or "" when the connection is lost


class Count:
    """The number of rows that a statement changed; the first use waits for the statement."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __index__(self) -> int:
        return self._answer.result().command_tuples or 0

    __int__ = __index__

    def __repr__(self) -> str:
        return str(self.__index__())

    def __bool__(self) -> bool:
        return bool(self.__index__())

    def __eq__(self, other: object) -> bool:
        return self.__index__() == other

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __add__(self, other: int) -> int:
        return self.__index__() + other

    __radd__ = __add__

    def __lt__(self, other: int) -> bool:
        return self.__index__() < other

    def __gt__(self, other: int) -> bool:
        return self.__index__() > other


class Answer:
    """The answer to a statement, which may still be on its way."""

    __slots__ = ("_next", "_pipeline", "_prepared", "found")

    def __init__(self, pipeline: Pipeline, prepared: _Statement) -> None:
        self._pipeline = pipeline
        self._prepared = prepared
        self._next = 0
        self.found: pq.abc.PGresult | None = None

    def result(self) -> pq.abc.PGresult:
        """Return the answer; wait for it first when it is on its way."""
        if self.found is None:
            self._pipeline.catch_up()
        if self.found is None:
            raise Failed("the transaction of this statement was undone")
        return self.found

    def is_undone(self) -> bool:
        """Return True when the statement did not run, or its connection was lost."""
        return self.found is None and self not in self._pipeline._pending

    @property
    def rowcount(self) -> int:
        return cast("int", Count(self))

    @property
    def statement(self) -> str:
        return self._prepared.statement

    @property
    def description(self) -> Sequence[tuple[str]]:
        return self._prepared.columns(self.result())[2]

    def __iter__(self) -> Iterator[Any]:
        result = self.result()
        numbers, readers, _ = self._prepared.columns(result)
        get = result.get_value
        while self._next < result.ntuples:
            row, self._next = self._next, self._next + 1
            yield Row(
                tuple([None if (v := get(row, at)) is None else read(v) for at, read in readers]), numbers
            )

    def fetchone(self) -> Any:
        return next(iter(self), None)

    def fetchall(self) -> list[Any]:
        return list(self)


class _Statement:
    """A statement that the server knows under a name."""

    __slots__ = ("_columns", "is_marked", "kind", "name", "parameters", "ready", "statement")

    def __init__(self, name: bytes, statement: str, parameters: Sequence[str], *, is_marked: bool) -> None:
        self.name = name
        self.statement = statement
        self.parameters = parameters
        self.is_marked = is_marked
        self.kind = _kind(statement)
        self.ready = False  # True when the server has confirmed the preparation
        self._columns: Columns | None = None

    def columns(self, result: pq.abc.PGresult) -> Columns:
        """Return the columns of the answers: as numbers by name, as (number, decoder), and as (name,)."""
        if self._columns is None:
            numbers = {(result.fname(at) or b"").decode(): at for at in range(result.nfields)}
            readers = [(at, READERS[result.ftype(at)]) for at in range(result.nfields)]
            self._columns = numbers, readers, [(name,) for name in numbers]
        return self._columns


class Pipeline:
    """A connection whose statements wait for no answer that nobody asks for.

    Attributes:
        first: A statement to send before the next statement, if there is a next statement.
        mark: The same, before the next statement that may write.
        trips: How often the connection has waited for the server.
        kinds: How many of them read, write, or begin and end transactions (other).
        waited: For how many seconds the connection has waited for the server.
        met_mark: Becomes True when one of the statements to notice has been sent.
        on_wait: Called once when the server has sent nothing for a second.

    Args:
        notice: Texts of statements.
    """

    def __init__(self, connection: pq.abc.PGconn, notice: Collection[str] = ()) -> None:
        self._names = 0
        self._notice = notice
        self._sends_soon = False
        self.met_mark = False
        self.on_wait: Callable[[], None] | None = None
        self.first = self.mark = ""
        self.trips = 0
        self.sent = 0
        self.kinds: Counter[str] = Counter()
        self.waited = 0.0
        self.use(connection)

    def use(self, connection: pq.abc.PGconn) -> None:
        """Go on with a new connection, on which nothing is prepared."""
        self._connection = connection
        self._statements: dict[str, _Statement] = {}
        self._pending: deque[Answer | _Statement | None] = deque()  # None: the end of a pipeline
        self._arrives = select.poll()
        self._arrives.register(connection.socket, select.POLLIN)
        connection.enter_pipeline_mode()

    def execute(self, statement: str, params: Any = (), /) -> Answer:
        """Send a statement, whose parameters are written `:name`; the answer is read when it is used."""
        if self.first:
            first, self.first = self.first, ""
            self.execute(first)
        prepared = self._statements.get(statement) or self._prepare(statement, params)
        if self.mark and prepared.kind != "read":
            mark, self.mark = self.mark, ""
            self.execute(mark)
        values = [sent(params[name]) for name in prepared.parameters]
        answer = Answer(self, prepared)
        try:
            self._connection.send_query_prepared(prepared.name, values)
        except psycopg.Error as error:
            raise self._lost() from error
        self._pending.append(answer)
        self.sent += 1
        self.kinds[prepared.kind] += 1
        if prepared.is_marked:
            self.met_mark = True
        if len(self._pending) > _MOST_PENDING:
            self.catch_up()
        return answer

    def _prepare(self, statement: str, params: Mapping[str, Any]) -> _Statement:
        names: list[str] = []

        def number(found: re.Match[str]) -> str:
            if found[1] not in names:
                names.append(found[1])
            return f"${names.index(found[1]) + 1}"

        text = _PARAMETER.sub(number, statement)
        self._names += 1
        made = _Statement(b"s%d" % self._names, statement, names, is_marked=statement in self._notice)
        try:
            self._connection.send_prepare(made.name, text.encode(), [type_of(params[name]) for name in names])
        except psycopg.Error as error:
            raise self._lost() from error
        self._statements[statement] = made
        self._pending.append(made)
        return made

    def catch_up(self) -> None:
        """Wait for all answers that are on their way.

        The server then counts a transaction that is open as idle, and ends it when it stays so for too long.

        Raises:
            Failed: A statement failed. All statements after it were not run.
        """
        if not self._pending:
            return
        self.trips += 1
        began = time.monotonic()
        try:
            self._catch_up()
        finally:
            self.waited += time.monotonic() - began

    def _catch_up(self) -> None:
        failed: Failed | None = None
        try:
            if self._pending[-1] is not None:
                self._connection.pipeline_sync()
                self._pending.append(None)
            self._connection.flush()
            while self._pending:
                failed = self._take(self._pending[0], failed)
                self._pending.popleft()
        except psycopg.Error as error:
            lost = self._lost()
            raise failed or lost from error
        if failed is not None:
            self._statements = {text: item for text, item in self._statements.items() if item.ready}
            raise failed

    def _take(self, item: Answer | _Statement | None, failed: Failed | None) -> Failed | None:
        """Read and keep the answer to a statement, or the end of the pipeline; return the first failure."""
        if item is None:
            self._result(ends=False)
            return failed
        result = self._result()
        if result.status not in _OK:
            return failed or _failure(result, item)
        if isinstance(item, _Statement):
            item.ready = True
        else:
            item.found = result
        return failed

    def _result(self, *, ends: bool = True) -> pq.abc.PGresult:
        """Return the next result.

        Args:
            ends: True for the result of a statement, behind which libpq returns an empty one.
        """
        result = self._next()
        if result is None:
            raise psycopg.OperationalError("the connection is lost")
        while ends and self._next() is not None:
            pass
        return result

    def _next(self) -> pq.abc.PGresult | None:
        """Return the next result, after a wait that lets other threads run: `get_result` holds them up."""
        connection = self._connection
        while connection.is_busy():
            # A server that has answers to send reads no more before these are read.
            unsent = connection.flush()
            self._arrives.modify(
                connection.socket, select.POLLIN | select.POLLOUT if unsent else select.POLLIN
            )
            if not self._arrives.poll(_SOON_MS if self.on_wait else None) and self.on_wait is not None:
                told, self.on_wait = self.on_wait, None
                told()
                continue
            connection.consume_input()
        return connection.get_result()

    def send_soon(self) -> None:
        """Send the statements that wait at the end of this turn of the event loop, or now without a loop.

        Each packet wakes the server's process. So the end of a transaction that only read goes in one packet
        with the next statement, when that follows within this turn.
        """
        loop = asyncio._get_running_loop()
        if loop is None:
            self._send()
        elif not self._sends_soon:
            self._sends_soon = True
            loop.call_soon(self._send)

    def _send(self) -> None:
        self._sends_soon = False
        with suppress(psycopg.Error):  # who asks next learns that the connection is lost
            self._connection.flush()

    def _lost(self) -> Failed:
        self._pending.clear()
        said = (self._connection.error_message or b"").decode(errors="replace").strip()
        return Failed(said or "the connection is lost")


def _kind(statement: str) -> str:
    """Return `read`, `write`, or `other` for a statement that begins or ends a transaction."""
    outer = _OUTER.search(statement)
    return _KINDS[outer[1]] if outer else "other"


def _failure(result: pq.abc.PGresult, item: Answer | _Statement) -> Failed:
    """Return the error of a statement with its name, since the error comes late."""
    state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
    said = (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message or b"").decode()
    name = next((name for name, text in queries().items() if text == item.statement), "")
    if not name and item.statement.startswith("INSERT INTO"):
        name = " ".join(item.statement.split()[:3])  # made of a record
    return Failed(f"{said.strip()} (statement {name})" if name else said.strip(), state)
