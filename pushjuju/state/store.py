"""One SQLite store: open, migrate, read, write.

Every statement is named and lives in `sql/*.sql`; callers pass names and parameters, never SQL. Writes are
one immediate transaction each, so two processes on one store queue up instead of failing; a read sees one
moment.
"""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast

from pushjuju.core.errors import NotFound, StoreBusy, StoreDamaged, StoreError, StoreGone, StoreTooNew
from pushjuju.core.values import changed, slots
from pushjuju.portable.jsontext import compact
from pushjuju.state import full, unchanging
from pushjuju.state.files import explained, locked
from pushjuju.state.waits import TOLD_AFTER_S, is_busy, patiently

if TYPE_CHECKING:
    from pushjuju.state.group import CommitGroup
    from pushjuju.state.memo import Memo

_HERE = Path(__file__).parent
TABLES = ("model", "application", "unit", "machine", "operation", "status", "sequence", "work")
PAGES_KIB = (
    65536  # of the file that SQLite may keep in memory, in a process that reads all of it again and again
)
_LEAST_ROOM = 64 * 1024
FROM_COPY = "pushjuju restore-backup FILE    restores it from a copy"
BUSY_TIMEOUT_S = 30.0  # how long a writer waits for another process before it gives up

R = TypeVar("R")


@cache
def queries() -> Mapping[str, str]:
    """Return every named statement: name -> SQL."""
    found: dict[str, str] = {}
    for path in sorted((_HERE / "sql").glob("*.sql")):
        for block in path.read_text().split("-- name: ")[1:]:
            name, _, body = block.partition("\n")
            lines = (line for line in body.splitlines() if not line.startswith("--"))
            found[name.strip()] = "\n".join(lines).strip()
    return found


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Return the migrations: (number, SQL), ascending."""
    files = sorted((_HERE / "migrations").glob("*.sql"))
    return tuple((int(path.name[:4]), path.read_text()) for path in files)


@cache
def _builder(record: Hashable, columns: tuple[str, ...]) -> Callable[[Iterable[Any]], Any]:
    """Return what makes a record of a row with these columns; fields marked `json` are decoded."""
    kind: Any = record
    known = {field.name: bool(field.metadata.get("json")) for field in fields(kind)}
    if missing := known.keys() - set(columns):
        raise StoreError(f"a row for {kind.__name__} has no {min(missing)}")
    puts = [_put(kind, name, known) for name in columns]
    new = kind.__new__

    def build(row: Iterable[Any]) -> Any:
        made = new(kind)
        for put, value in zip(puts, row, strict=True):
            put(made, value)
        return made

    return build


def _put(kind: Any, name: str, known: Mapping[str, bool]) -> Callable[[Any, Any], None]:
    """Return what writes a column into a record; columns that it has no field for are left out."""
    if name not in known:
        return _leave_out
    put = slots(kind)[name][1]
    if not known[name]:
        return put
    return lambda made, text: put(made, {} if text == "{}" else json.loads(text))


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

    def __init__(self, connection: sqlite3.Connection, memo: Memo | None = None) -> None:
        self._connection = connection
        self._queries = queries()
        self._memo = memo

    def run(self, query: str, /, **params: Any) -> int:
        """Run a statement; return the number of rows it changed."""
        statement = self._queries[query]
        if self._memo is not None:
            self._memo.wrote(self._memo.effects(statement), params)
        return self._connection.execute(statement, params).rowcount

    def row(self, query: str, /, **params: Any) -> sqlite3.Row | None:
        """Return the first row, or None."""
        return self._ask(_first, query, params)

    def rows(self, query: str, /, **params: Any) -> list[sqlite3.Row]:
        """Return all rows."""
        return list(self._ask(_all, query, params))

    def made(self, make: Callable[[Iterable[sqlite3.Row]], R], query: str, /, **params: Any) -> R:
        """Return what a pure function makes of all rows; it is remembered as long as they are the same.

        Args:
            make: A function of a module, not made anew each time: it is part of what is remembered.
        """
        return self._ask(make, query, params)

    def _ask(self, make: Callable[..., R], query: str, params: Mapping[str, Any], *record: Any) -> R:
        """Return what a statement answers, made into something by `make(rows, *record)`."""
        if self._memo is not None:
            answer: R = self._memo.ask(make, self._queries[query], params, *record)
            return answer
        return make(self._connection.execute(self._queries[query], params), *record)

    def scalar(self, query: str, /, **params: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(query, **params)
        return None if row is None else row[0]

    def find(self, record: type[R], query: str, /, **params: Any) -> R | None:
        """Return the first row as a record, or None."""
        return self._ask(_first_record, query, params, record)

    def get(self, record: type[R], query: str, missing: str, /, **params: Any) -> R:
        """Return the first row as a record.

        Raises:
            NotFound: No row; `missing` is the message.
        """
        found = self.find(record, query, **params)
        if found is None:
            raise NotFound(missing)
        return found

    def list(self, record: type[R], query: str, /, **params: Any) -> list[R]:
        """Return all rows as records."""
        return list(self._ask(_all_records, query, params, record))

    def know(self, query: str, answer: Any, /, **params: Any) -> None:
        """Tell what `find` answers from now on: what was just written to that row."""
        if self._memo is not None:
            key = (_first_record, self._queries[query], (type(answer),), *params.items())
            self._memo.know(key, self._queries[query], params, answer)

    def change(self, record: type[R], query: str, by: str, key: Mapping[str, Any], /, **columns: Any) -> None:
        """Set columns of the row that `find(record, query, **key)` finds, and of no other.

        Args:
            by: The statement, with the key and the columns as its parameters. It sets each column as it is
                given, and nothing else.
        """
        known: Any = None
        if self._memo is not None:
            known = self._memo.known((_first_record, self._queries[query], (record,), *key.items()))
        self.run(by, **key, **columns)
        if known is not None:
            self.know(query, changed(known, **columns), **key)

    def insert(self, table: str, record: Any) -> None:
        """Insert a record whose fields are named as the columns of the table."""
        statement, columns = _insertion(table, cast("Hashable", type(record)))
        values = {name: _encode(getattr(record, name), is_json) for name, is_json in columns}
        if self._memo is not None:
            self._memo.inserted(table, values)
        self._connection.execute(statement, values)

    def meaning(self, read: Callable[[str], R], text: str) -> R:
        """Return what a text means by `read(text)`, or as it was told or found before."""
        if self._memo is None:
            return read(text)
        found: R | None = self._memo.values.get((read, text))
        if found is None:
            found = read(text)
            self._memo.values.put((read, text), found)
        return found

    def means(self, read: Callable[[str], R], text: str, value: R) -> None:
        """Tell what `read(text)` would come to, for whoever asks next."""
        if self._memo is not None:
            self._memo.values.put((read, text), value)

    def watch(self) -> None:
        """Note from now on what is asked in this transaction: what follows from it may be concluded."""
        if self._memo is not None:
            self._memo.trail = []

    def conclude(self, key: Hashable, value: object) -> None:
        """Keep a value that follows from the answers since `watch`, and from nothing else.

        They are to be the same when they are asked now: what was written since must not change them.
        """
        if self._memo is not None:
            self._memo.conclude(key, value)

    def next(self, scope: str, name: str, at_least: int = 0) -> int:
        """Return the next number of a sequence, never below `at_least`, never one given before."""
        return int(self.scalar("sequence_next", scope=scope, name=name, at_least=at_least))

    def give_back(self, scope: str, name: str, number: int) -> None:
        """Give a number back that nothing was recorded under; later ones may have been given meanwhile."""
        self.run("sequence_give_back", scope=scope, name=name, number=number)
        self.run("sequence_unused", scope=scope, name=name)


@cache
def _insertion(table: str, record: Hashable) -> tuple[str, tuple[tuple[str, bool], ...]]:
    """Return the statement that inserts a record, and its columns: (name, whether it is kept as JSON)."""
    kind: Any = record
    columns = tuple((field.name, bool(field.metadata.get("json"))) for field in fields(kind))
    names, marks = ", ".join(name for name, _ in columns), ", ".join(f":{name}" for name, _ in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({marks})", columns  # noqa: S608 - names are ours


def _encode(value: Any, is_json: bool) -> Any:
    if is_json:
        return compact(value)
    return int(value) if isinstance(value, bool) else value


class Store:
    """A store file, opened once per process."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._depth = 0
        self._group: CommitGroup | None = None
        self._memo: Memo | None = None
        self._unchanging = False  # nobody can write to its disk
        self._copy_of: tuple[full.Stamp, StoreError] | None = None  # of a store whose disk is full, and why
        self._file = _identity(path)

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Store:
        """Open the store and bring its schema up to date.

        Args:
            path: Its file.
            create: Make it if there is none, or go on where making it was cut off. Else a file that is empty
                or has no schema is damaged: it is never taken for a new one.

        Raises:
            NotFound: There is none and `create` is not set.
            StoreTooNew: It was made by a newer pushjuju.
            StoreBusy: Another process holds it for longer than the time-out.
            StoreDamaged: It is no store, or cut short; `check` looks at all of it.
            StoreError: It cannot be read.
        """
        if create:
            with explained(path):
                path.touch(mode=0o600, exist_ok=True)
        else:
            _check_file(path)
        try:
            return cls(path, _connect(path, create=create))
        except sqlite3.Error as error:
            told = explain_error(error, path)
            if create or not (unchanging.is_unchanging(path) or is_full(error, path)):
                raise told from error
        if unchanging.is_unchanging(path):
            return cls._open_unchanging(path)
        return cls._open_on_full_disk(path, told)

    @classmethod
    def _open_unchanging(cls, path: Path) -> Store:
        """Open a store that nobody can write to, for reading only."""
        try:
            made = cls(path, _connect_unchanging(path))
        except sqlite3.Error as error:
            raise explain_error(error, path) from error
        made._unchanging = True
        return made

    @classmethod
    def _open_on_full_disk(cls, path: Path, told: StoreError) -> Store:
        """Open what a store holds now, for reading only.

        Raises:
            StoreError: It cannot be read either; what is told is why it could not be opened.
        """
        try:
            connection, stamp = full.copied(path)
        except sqlite3.Error as error:
            raise told from error
        _check_ours(connection, path, create=False)
        _migrate(connection, path)
        made = cls(path, connection)
        made._copy_of = (stamp, told)
        return made

    def check(self) -> None:
        """Look at every page and reference; takes as long as reading the file.

        Raises:
            StoreDamaged: Something does not fit; the first problem is in the detail.
            StoreError: Nothing can be written, because its disk is full.
        """
        if self._copy_of is not None:
            raise self._copy_of[1]
        try:
            problems = [row[0] for row in self._connection.execute("PRAGMA quick_check(1)")]
            problems = [] if problems == ["ok"] else problems
            strays = self._connection.execute("PRAGMA foreign_key_check").fetchmany(1)
            problems += [f"{row[0]}: a row without its {row[2]}" for row in strays]
        except sqlite3.Error as error:
            raise explain_error(error, self.path) from error
        if problems:
            text, hint = f"the store {self.path} is damaged", FROM_COPY
            raise StoreDamaged(text, detail=problems[0], hint=hint)

    def close(self) -> None:
        """Close the store."""
        if self._group is not None:
            self._group.flush()
        if self._memo is not None:
            self._memo.close()
        self._connection.close()

    def remember(self) -> None:
        """Keep what is read until it changes: for a process that reads the same things again and again."""
        from pushjuju.state.memo import Memo

        if self._memo is None:
            self._memo = Memo(self._connection)
            self._connection.execute(f"PRAGMA cache_size = -{PAGES_KIB:d}")

    def version(self) -> tuple[int, int]:
        """Return what changes with every write, here or in another process; costs a moment, reads no row.

        Raises:
            StoreGone: The file is not there any more.
        """
        self.require_file()
        if self._copy_of is not None:
            return hash(full.stamp(self.path)), 0
        found = self._connection.execute("PRAGMA data_version").fetchone()
        return int(found[0]), self._connection.total_changes

    def require_file(self) -> None:
        """Check that the file is still the one that was opened: who follows it would wait for ever.

        Raises:
            StoreGone: The file was removed or replaced.
        """
        if _identity(self.path) != self._file:
            raise StoreGone(f"the store {self.path} is gone: its controller was removed or restored")

    def concluded(self, key: Hashable) -> Any:
        """Return what was concluded under a key (`Tx.conclude`) if it would be concluded again, else None."""
        memo = self._memo
        found = memo.concluded(key) if memo is not None else None
        if memo is None or found is None or self._connection.in_transaction:
            return found
        memo.begin()
        return memo.concluded(key)

    def throw_away(self) -> None:
        """Write without waiting for the disk: for a copy that nobody needs after this process."""
        self._connection.execute("PRAGMA synchronous = OFF")

    def forget(self) -> None:
        """Read everything anew: something was undone."""
        if self._memo is not None:
            self._memo.clear()

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """Open a transaction that sees one moment of the store and changes nothing."""
        if self._group is not None and self._group.is_open:
            with self.within() as tx:
                yield tx
        else:
            with self._transaction("BEGIN") as tx:
                yield tx

    @contextmanager
    def write(self, *, later: bool = False) -> Iterator[Tx]:
        """Open the one writing transaction; all of it is kept, or, after an exception, nothing.

        Args:
            later: It may become durable with the next shared commit (`state.group`).
        """
        later = later and _loop_runs()
        group = self.group() if later else self._group
        if group is None or not (later or group.is_open):
            with self._transaction("BEGIN IMMEDIATE") as tx:
                yield tx
            return
        with group.part() as tx:
            yield tx
        if not later:
            group.flush()

    def group(self) -> CommitGroup:
        """Return the transaction that writers share who need not be durable at once."""
        from pushjuju.state.group import CommitGroup

        if self._group is None:
            self._group = CommitGroup(self._connection, self)
        return self._group

    def begin(self) -> None:
        """Begin a writing transaction that outlives a block.

        Raises:
            StoreBusy: Another process holds the store for too long.
        """
        self._start("BEGIN IMMEDIATE")

    def _start(self, begin: str) -> None:
        if self._unchanging and not unchanging.is_unchanging(self.path):
            text = f"the disk of the store {self.path} can be written to again"
            raise StoreError(text, hint="run the command again: what it has read may be of old")
        if self._copy_of is not None:
            self._copy_again(*self._copy_of, reads=begin == "BEGIN")
        try:
            patiently(self._connection, self.path, BUSY_TIMEOUT_S, lambda: self._lock(begin))
        except sqlite3.Error as error:  # what is open already, if anything, is somebody else's
            raise explain_error(error, self.path) from error

    def _copy_again(self, stamp: full.Stamp, told: StoreError, *, reads: bool) -> None:
        """Copy a store whose disk was full anew, if others have written to it.

        Raises:
            StoreError: It is for writing, or others have it open now.
        """
        self.require_file()
        if not reads:
            raise told
        if full.stamp(self.path) == stamp:
            return
        try:
            self._copy_of = (full.copy_into(self._connection, self.path), told)
            _migrate(self._connection, self.path)
        except sqlite3.Error as error:
            text = f"the disk of the store {self.path} has room again, and others write to it"
            raise StoreError(text, hint="run the command again: what it has read may be of old") from error
        self.forget()

    def _lock(self, begin: str) -> None:
        """Begin a transaction and get all locks that it needs: no later statement has to wait."""
        self._connection.execute(begin)
        try:
            if self._memo is not None:
                self._memo.begin()
            elif begin == "BEGIN":
                self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def within(self) -> Iterator[Tx]:
        """Read and write within the transaction that is open."""
        if self._depth:
            raise StoreError("a transaction is open already")
        self._depth = 1
        try:
            yield Tx(self._connection, self._memo)
        finally:
            self._end()

    def _end(self) -> None:
        self._depth = 0
        if self._memo is not None:
            self._memo.trail = None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Tx]:
        if self._depth:
            raise StoreError("a transaction is open already")
        self._start(begin)
        self._depth = 1
        try:
            yield Tx(self._connection, self._memo)
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self.forget()
            if is_of_the_file(error):
                raise explain_error(error, self.path) from error
            raise
        finally:
            self._end()


def _loop_runs() -> bool:
    """Tell whether somebody would come to commit later."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _check_file(path: Path) -> None:
    """Check what is at a path before SQLite looks: beside an empty file it deletes the WAL.

    Raises:
        NotFound: Nothing is there.
        StoreDamaged: Something else is there, or nothing in it.
        StoreError: We may not look.
    """
    try:
        found = path.stat()
    except PermissionError as error:
        text = f"the store {path} cannot be read: permission denied"
        raise StoreError(text, hint=f"check who owns {path.parent}") from error
    except OSError:
        raise NotFound(f"no store at {path}", hint=FROM_COPY) from None
    what = "empty" if stat.S_ISREG(found.st_mode) else "not a file"
    if what != "empty" or not found.st_size:
        raise StoreDamaged(f"the store {path} is damaged: it is {what}", hint=FROM_COPY)


def _connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    patience = min(BUSY_TIMEOUT_S, TOLD_AFTER_S)
    connection = sqlite3.connect(path, isolation_level=None, timeout=patience, cached_statements=512)
    try:
        connection.row_factory = sqlite3.Row
        patiently(connection, path, BUSY_TIMEOUT_S, lambda: _make_ready(connection, path, create=create))
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_unchanging(path: Path) -> sqlite3.Connection:
    """Open a file that nobody changes: without locks, and without the files that SQLite keeps beside it."""
    connection = sqlite3.connect(unchanging.uri(path), uri=True, isolation_level=None, cached_statements=512)
    try:
        connection.row_factory = sqlite3.Row
        _check_ours(connection, path, create=False)
        _migrate(connection, path)  # refuses, where there is something to migrate
    except BaseException:
        connection.close()
        raise
    return connection


def _make_ready(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    _check_ours(connection, path, create=create)
    _configure(connection, path)
    _migrate(connection, path)


def _configure(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        with locked(path.with_name(f".{path.name}.lock")):  # SQLite does not queue two processes here
            connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration applied; 0 for an empty store."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    newest = migrations()[-1][0]
    version = schema_version(connection)
    if version > newest:
        raise StoreTooNew(
            f"the store {path} has schema {version}; this pushjuju knows up to {newest}",
            hint="upgrade pushjuju: pip install --upgrade pushjuju",
        )
    for number, script in migrations():
        if number > version:
            _apply(connection, number, script)


def _check_ours(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    """Check that a file is a store before anything is written to it; SQLite itself finds one cut short.

    Raises:
        StoreDamaged: It is another program's, or was emptied.
    """
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    version = schema_version(connection)
    if create and not names and not version:
        return
    wanted = TABLES if version <= migrations()[-1][0] else TABLES[:1]  # a newer one may have others
    missing = [f"no table {name}" for name in wanted if name not in names]
    if missing or not version:
        lacks = (missing or ["no number of a schema"])[0]
        raise StoreDamaged(f"the store {path} cannot be used: it has {lacks}", hint=FROM_COPY)


def _apply(connection: sqlite3.Connection, number: int, script: str) -> None:
    """Apply one migration in its own transaction, unless another process was faster."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if schema_version(connection) < number:
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends it by itself when the disk is full
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from the next one of its name; None: there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_of_the_file(error: BaseException) -> TypeGuard[sqlite3.Error]:
    """Tell whether the store is at fault (full, locked, damaged), not the statement."""
    return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError


def explain_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Return what went wrong with the file, as people read it, with the way out."""
    text = str(error)
    if is_busy(error):
        return StoreBusy(
            f"the store {path} is held by another process",
            hint="wait for the other pushjuju to end, then run the command again",
        )
    if is_full(error, path):
        return StoreError(
            f"the store {path} cannot be written: the disk is full",
            detail=text,
            hint="free some space on that disk, then run the command again",
        )
    if "readonly" in text or ("unable to open" in text and _is_read_only(path)):
        return StoreError(
            f"the store {path} cannot be written: it is read-only",
            detail=text,
            hint="check who owns the file, and whether its disk is mounted read-only",
        )
    text = f"the store {path} cannot be used: {text}"
    if "malformed" in text or "not a database" in text:
        return StoreDamaged(text, hint=FROM_COPY)
    return StoreError(text)


def _is_read_only(path: Path) -> bool:
    """Tell whether a file is in a folder that takes no others: SQLite needs some there, also to read."""
    import os

    return path.exists() and not os.access(path.parent, os.W_OK)


def is_full(error: sqlite3.Error, path: Path) -> bool:
    """Tell whether there is no room for what SQLite wanted to write: also the files beside a store."""
    text = str(error)
    return "full" in text or ("disk I/O" in text and _no_room(path))


def _no_room(path: Path) -> bool:
    """Tell whether the disk of a file has no room for the least that SQLite writes."""
    import shutil

    try:
        return shutil.disk_usage(path.parent).free < _LEAST_ROOM
    except OSError:
        return False
