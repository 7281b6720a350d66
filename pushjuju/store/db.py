"""One SQLite store: open, migrate, read, write.

Every statement has a name and is in `sql/*.sql`; callers pass names and parameters, never SQL. Each write is
an immediate transaction, so processes queue up instead of failing; a read sees the store at one moment.
"""

from __future__ import annotations

import sqlite3
import stat
import sys
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core.errors import NotFound, StoreDamaged, StoreError, StoreGone
from pushjuju.store import cache
from pushjuju.store.faults import FROM_COPY, explain_error, is_full, is_of_the_file
from pushjuju.store.files import full, unchanging
from pushjuju.store.files.private import explained, locked
from pushjuju.store.files.waits import TOLD_AFTER_S, patiently
from pushjuju.store.schema import check_ours, migrate
from pushjuju.store.tx import Tx

if TYPE_CHECKING:
    from pushjuju.store.commits import CommitGroup

PAGES_KIB = 65536  # of memory for pages of the file, in a process that caches rows

BUSY_TIMEOUT_S = 30.0  # seconds that a writer waits for other processes


class Store:
    """A store file, opened once per process."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._depth = 0
        self._group: CommitGroup | None = None
        self._memo: cache.Memo | None = None
        self._unchanging = False  # True on a read-only disk
        self._copy_of: tuple[full.Stamp, StoreError] | None = None  # set when the disk is full
        self._file = _identity(path)

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Store:
        """Open the store and bring its schema up to date.

        Args:
            path: The file of the store.
            create: Make the store if it does not exist, or continue an interrupted creation. When False, a
                file that is empty or has no schema counts as damaged.

        Raises:
            StoreDamaged: The file is no store, or is truncated; only `check` reads the whole file.
            StoreError: The file cannot be read.
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
        """Open a store on a read-only disk, for reading only."""
        try:
            made = cls(path, _connect_unchanging(path))
        except sqlite3.Error as error:
            raise explain_error(error, path) from error
        made._unchanging = True
        return made

    @classmethod
    def _open_on_full_disk(cls, path: Path, told: StoreError) -> Store:
        """Open a copy in memory of a store on a full disk, for reading only."""
        try:
            connection, stamp = full.copied(path)
        except sqlite3.Error as error:
            raise told from error
        check_ours(connection, path, create=False)
        migrate(connection, path)
        made = cls(path, connection)
        made._copy_of = (stamp, told)
        return made

    def check(self) -> None:
        """Check every page and reference, which takes as long as reading the file.

        Raises:
            StoreDamaged: The store is damaged; the detail is the first problem.
            StoreError: The disk is full, so nothing can be written.
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
        """Cache rows until they change, in a process that reads the same rows again and again."""
        if self._memo is None:
            self._memo = cache.Memo(self._connection)
            self._connection.execute(f"PRAGMA cache_size = -{PAGES_KIB:d}")

    def version(self) -> tuple[int, int]:
        """Return a value that every write of any process changes; reading it is cheap and reads no row."""
        self.require_file()
        if self._copy_of is not None:
            return hash(full.stamp(self.path)), 0
        found = self._connection.execute("PRAGMA data_version").fetchone()
        return int(found[0]), self._connection.total_changes

    def require_file(self) -> None:
        """Check that the file is still the file that was opened, not deleted or replaced."""
        if _identity(self.path) != self._file:
            raise StoreGone(f"the store {self.path} is gone: its controller was removed or restored")

    def concluded(self, key: Hashable) -> Any:
        """Return the value that `Tx.conclude` cached under a key while the value is valid, else None."""
        found = self._memo.concluded(key) if self._memo is not None else None
        if self._memo is None or found is None or self._connection.in_transaction:
            return found
        return found if self._memo.begin() else None

    def throw_away(self) -> None:
        """Write without waiting for the disk, to a copy that is deleted at the end of the process."""
        self._connection.execute("PRAGMA synchronous = OFF")

    def forget(self) -> None:
        """Drop all cached rows, after a rollback."""
        if self._memo is not None:
            self._memo.clear()

    def read(self) -> AbstractContextManager[Tx]:
        """Open a transaction that reads the store as it is at one moment."""
        if self._group is not None and self._group.is_open:
            return self.within()
        return self._transaction("BEGIN")

    def write(self, *, later: bool = False) -> AbstractContextManager[Tx]:
        """Open a writing transaction, which is committed at the end, or rolled back after an exception.

        Args:
            later: True when the write may become durable with the next shared commit (`store.commits`).
        """
        later = later and _loop_runs()
        group = self.group() if later else self._group
        if group is None or not (later or group.is_open):
            return self._transaction("BEGIN IMMEDIATE")
        return group.part() if later else self._last_part(group)

    @contextmanager
    def _last_part(self, group: CommitGroup) -> Iterator[Tx]:
        with group.part() as tx:
            yield tx
        group.flush()

    def group(self) -> CommitGroup:
        """Return the transaction that is shared by writers which need not be durable at once."""
        from pushjuju.store.commits import CommitGroup  # imports asyncio, which only writers need

        if self._group is None:
            self._group = CommitGroup(self._connection, self)
        return self._group

    def begin(self) -> None:
        """Begin a writing transaction that does not end with a block."""
        self._start("BEGIN IMMEDIATE")

    def _start(self, begin: str) -> None:
        if self._unchanging and not unchanging.is_unchanging(self.path):
            text = f"the disk of the store {self.path} can be written to again"
            raise StoreError(text, hint="run the command again: its data may be out of date")
        if self._copy_of is not None:
            self._copy_again(*self._copy_of, reads=begin == "BEGIN")
        try:
            patiently(self._connection, self.path, BUSY_TIMEOUT_S, lambda: self._lock(begin))
        except sqlite3.Error as error:  # no transaction of this process is open yet
            raise explain_error(error, self.path) from error

    def _copy_again(self, stamp: full.Stamp, told: StoreError, *, reads: bool) -> None:
        """Copy a store on a full disk again if other processes have written to it."""
        self.require_file()
        if not reads:
            raise told
        if full.stamp(self.path) == stamp:
            return
        try:
            self._copy_of = (full.copy_into(self._connection, self.path), told)
            migrate(self._connection, self.path)
        except sqlite3.Error as error:
            text = f"the disk of the store {self.path} has room again, and others write to it"
            raise StoreError(text, hint="run the command again: its data may be out of date") from error
        self.forget()

    def _lock(self, begin: str) -> None:
        """Begin a transaction and acquire all its locks, so that no later statement has to wait."""
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
        """Return the open transaction, for reading and writing."""
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
    """Return True when an event loop runs, which can commit later."""
    asyncio = sys.modules.get("asyncio")  # no loop runs while asyncio is not imported
    return asyncio is not None and asyncio._get_running_loop() is not None


def _check_file(path: Path) -> None:
    """Check a path before SQLite opens it, because SQLite deletes the WAL of an empty file."""
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
    """Open a file that no process changes, without locks and without SQLite's files beside it."""
    connection = sqlite3.connect(unchanging.uri(path), uri=True, isolation_level=None, cached_statements=512)
    try:
        connection.row_factory = sqlite3.Row
        check_ours(connection, path, create=False)
        migrate(connection, path)  # fails if a migration is needed
    except BaseException:
        connection.close()
        raise
    return connection


def _make_ready(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    check_ours(connection, path, create=create)
    _configure(connection, path)
    migrate(connection, path)


def _configure(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        with locked(path.with_name(f".{path.name}.lock")):  # SQLite does not let a second process wait here
            connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode, which differ when the file was replaced, or None when there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
