"""The engine of a store in a file: SQLite in WAL mode.

Each writing transaction is immediate, so processes queue up instead of failing.
"""

from __future__ import annotations

import sqlite3
import stat
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, StoreDamaged, StoreError, StoreGone
from pushjuju.store import late
from pushjuju.store.faults import FROM_COPY, explain_error, is_full, is_of_the_file
from pushjuju.store.files import full, unchanging
from pushjuju.store.files.private import explained, locked
from pushjuju.store.files.waits import TOLD_AFTER_S, patiently
from pushjuju.store.processes import lives_here
from pushjuju.store.schema import check_ours, migrate, require_here, schema_version

if TYPE_CHECKING:
    from pushjuju.store.engine import Figure, OpenStore
    from pushjuju.store.journal import Journal

BUSY_TIMEOUT_S = 30.0  # seconds that a writer waits for other processes
_RECENT_S = 0.05  # age of the last look that readers of a moment ago need

sqlite3.register_adapter(datetime, to_iso)  # a parameter of a statement may be a time


class SqliteEngine:
    """A file of SQLite, opened once per process."""

    locks_models = False  # SQLite has one writer at a time
    journal: Journal | None = None
    line = ""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = self.place = path
        self.connection = connection  # the connection, without transactions of its own
        self._caches = False
        self._unchanging = False  # True on a read-only disk
        self._copy_of: tuple[full.Stamp, StoreError] | None = None  # set when the disk is full
        self._copies = 0
        self._others = -1
        self._looked = float("-inf")
        self.is_late = False  # True when a reader's transaction begins with its first statement
        self._file = _identity(path)

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> SqliteEngine:
        """Open the file and bring its schema up to date.

        Args:
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
    def _open_unchanging(cls, path: Path) -> SqliteEngine:
        """Open a store on a read-only disk, for reading only."""
        try:
            made = cls(path, _connect_unchanging(path))
        except sqlite3.Error as error:
            raise explain_error(error, path) from error
        made._unchanging = True
        return made

    @classmethod
    def _open_on_full_disk(cls, path: Path, told: StoreError) -> SqliteEngine:
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
            problems = [row[0] for row in self.connection.execute("PRAGMA quick_check(1)")]
            problems = [] if problems == ["ok"] else problems
            strays = self.connection.execute("PRAGMA foreign_key_check").fetchmany(1)
            problems += [f"{row[0]}: a row without its {row[2]}" for row in strays]
        except sqlite3.Error as error:
            raise explain_error(error, self.path) from error
        if problems:
            text, hint = f"the store {self.path} is damaged", FROM_COPY
            raise StoreDamaged(text, detail=problems[0], hint=hint)

    @property
    def is_open(self) -> bool:
        return self.connection.in_transaction

    def begin(
        self,
        *,
        reads: bool,
        model: str = "",  # noqa: ARG002 - a file has one lock
        later: bool = False,  # noqa: ARG002 - all commits of a group are one
        recent: bool = False,
    ) -> int:
        if reads and recent and self._is_recent():
            self.is_late = True
            return self._others
        return self._begin(reads=reads)

    def begin_now(self) -> int:
        """Begin the transaction of a reader that is late; return the same as `begin`."""
        self.is_late = False
        return self._begin(reads=True)

    def _begin(self, *, reads: bool) -> int:
        if self._unchanging and not unchanging.is_unchanging(self.path):
            text = f"the disk of the store {self.path} can be written to again"
            raise StoreError(text, hint="run the command again: its data may be out of date")
        if self._copy_of is not None:
            self._copy_again(*self._copy_of, reads=reads)
        try:
            return patiently(self.connection, self.path, BUSY_TIMEOUT_S, lambda: self._lock(reads=reads))
        except sqlite3.Error as error:  # no transaction of this process is open yet
            raise explain_error(error, self.path) from error

    def _copy_again(self, stamp: full.Stamp, told: StoreError, *, reads: bool) -> None:
        """Copy a store on a full disk again if other processes have written to it."""
        self.require()
        if not reads:
            raise told
        if full.stamp(self.path) == stamp:
            return
        try:
            self._copy_of = (full.copy_into(self.connection, self.path), told)
            migrate(self.connection, self.path)
        except sqlite3.Error as error:
            text = f"the disk of the store {self.path} has room again, and others write to it"
            raise StoreError(text, hint="run the command again: its data may be out of date") from error
        self._copies += 1

    def _lock(self, *, reads: bool) -> int:
        self.connection.execute("BEGIN" if reads else "BEGIN IMMEDIATE")
        try:
            if self._caches or not reads:
                return self._look()
            self.connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except (sqlite3.Error, StoreError):
            self.rollback()
            raise
        return 0

    def _look(self) -> int:
        """Return `others`; after a write of another process, check that the store is still in this file."""
        others = self.others()
        if others != self._others:
            require_here(self.connection, self.path, schema_version(self.connection))
            self._others = others
        self._looked = time.monotonic()
        return others if self._caches else 0

    def _is_recent(self) -> bool:
        return self._caches and time.monotonic() - self._looked < _RECENT_S

    def commit(self) -> None:
        if not self.is_late:
            self.connection.execute("COMMIT")
        self.is_late = False

    def rollback(self) -> None:
        self.is_late = False
        if self.connection.in_transaction:  # SQLite rolls back by itself when the disk is full
            self.connection.execute("ROLLBACK")

    def group(self, store: OpenStore) -> None:  # noqa: ARG002 - writers share one transaction
        return None

    def explain(self, error: BaseException) -> StoreError | None:
        return explain_error(error, self.path) if is_of_the_file(error) else None

    def others(self, *, recent: bool = False) -> int:
        if recent and self._is_recent():
            return self._others
        if self._copy_of is not None:
            return self._copies
        version: int = self.connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    def version(self) -> tuple[int, int]:
        self.require()
        if self._copy_of is not None:
            return hash(full.stamp(self.path)), 0
        return self.others(), self.connection.total_changes

    def appear(self, owner: str) -> None:
        pass  # the kernel knows the processes of this computer

    def lives(self, owner: str) -> bool | None:
        return lives_here(owner)

    def seen(self, owners: Iterable[str]) -> Mapping[str, datetime]:
        del owners
        return {}

    def remember(self) -> type[late.LateMemo]:
        self._caches = True
        return late.LateMemo

    def clock(self) -> None:
        return None

    def wakes(self) -> None:
        return None

    def tables(self) -> Iterable[str]:
        asked = "SELECT sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"
        return [row[0] for row in self.connection.execute(asked)]

    def figures(self) -> Iterable[Figure]:
        return ()

    def standby(self) -> None:
        return None

    def throw_away(self) -> None:
        self.connection.execute("PRAGMA synchronous = OFF")

    def require(self) -> None:
        if _identity(self.path) != self._file:
            raise StoreGone(f"the store {self.path} is gone: its controller was removed or restored")

    def sizes(self) -> dict[str, int]:
        files = {"store": self.path, "store_wal": self.path.with_name(f"{self.path.name}-wal")}
        return {name: file.stat().st_size for name, file in files.items() if file.exists()}

    def doubts(self) -> list[str]:
        return []

    def close(self) -> None:
        self.connection.close()


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
