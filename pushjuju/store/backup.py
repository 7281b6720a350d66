"""Copies of the store: made, checked and restored while other processes go on writing.

A copy is the store at one moment. To restore a copy, one transaction replaces every row of the store in use.
The file itself is never replaced: a process that has the file open would go on writing to a deleted file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from pushjuju.core.errors import NotFound, StoreDamaged, StoreError
from pushjuju.store import databases
from pushjuju.store.db import Store
from pushjuju.store.faults import explain_error, is_full
from pushjuju.store.files import full, unchanging
from pushjuju.store.files.blobs import FOLDER as BLOBS
from pushjuju.store.files.blobs import Blobs
from pushjuju.store.files.known_hosts import FOLDER, HostKey, entries, texts
from pushjuju.store.files.private import explained, private_dir, replace_text, sync_dir
from pushjuju.store.queue import lease_at_least
from pushjuju.store.schema import MOVED, mark_moved, schema_version
from pushjuju.store.tx import Tx

_BUSY_S = 30.0
_FIRST_PROBLEMS = 3


@contextlib.contextmanager
def _opened(path: Path, mode: str = "ro") -> Iterator[sqlite3.Connection]:
    place = f"{path.absolute().as_uri()}?mode={mode}" if mode == "ro" else unchanging.uri(path)
    connection = sqlite3.connect(place, uri=True, timeout=_BUSY_S)
    try:
        yield connection
    finally:
        connection.close()


@contextlib.contextmanager
def _source(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store to copy it; on a full disk, copy it into memory, since WAL needs room even for reading."""
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(_opened(path, "rw"))
        try:
            source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.Error as error:
            if not is_full(error, path):
                raise
            source.close()  # its lock would prevent the exclusive copy
            source = stack.enter_context(contextlib.closing(full.copied(path)[0]))
        yield source


def copy_store(place: Path | str, target: Path, *, compare: bool = False) -> None:
    """Copy a store into a file, as the store is at one moment; the copy is durable when this returns.

    Args:
        place: The file, or the address of a database.
        compare: Compare all rows of a database with the copy.

    Raises:
        StoreError: The store cannot be read, or the copy cannot be written; no part of the copy is left.
        OSError: The disk of the copy is full; no part of the copy is left.
    """
    new = target.with_name(f".new-{target.name}")
    try:
        with explained(target):
            new.unlink(missing_ok=True)
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _fill(new, place, compare=compare)
        check_copy(new)
        with explained(target):
            _sync(new)
            new.replace(target)
            sync_dir(target.parent)
    except sqlite3.Error as error:
        if is_full(error, new):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
        raise explain_error(error, Path(place)) from error
    finally:
        new.unlink(missing_ok=True)


def _fill(new: Path, place: Path | str, *, compare: bool) -> None:
    """Write the content of a store into an empty file."""
    if isinstance(place, str):
        databases.to_file(place, new, compare=compare)
        return
    with _source(place) as source, _opened(new, "rw") as copy:
        source.backup(copy)  # all pages in one step: a consistent copy while others write
        copy.execute("PRAGMA journal_mode = DELETE")  # makes the copy a single file


def forget(place: Path | str) -> None:
    """Delete what a removed controller has in a database; a file goes with its directory."""
    if isinstance(place, str):
        databases.forget(place)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_copy(path: Path) -> None:
    """Check every page, index and reference of a store that no process writes to."""
    try:
        with _opened(path) as connection:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            problems = [] if problems == ["ok"] else problems
            problems += [
                f"{row[0]}: a row without its {row[2]}"
                for row in connection.execute("PRAGMA foreign_key_check")
            ]
    except sqlite3.DatabaseError as error:
        problems = [str(error)]
    if problems:
        detail = "; ".join(problems[:_FIRST_PROBLEMS])
        raise StoreDamaged(f"the store {path} is damaged", detail=detail, hint="use another copy")


def schema_of(path: Path) -> int:
    """Return the number of a copy's schema."""
    with _opened(path) as connection:
        return schema_version(connection)


def bring_up_to_date(copy: Path, change: Callable[[Tx], None]) -> None:
    """Migrate a copy that no other process uses to today's schema, and change it; it stays a single file."""
    store = Store.open(copy)
    try:
        with store.write() as tx:
            change(tx)
    finally:
        store.close()
    with _opened(copy, "rw") as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def put_in_place(copy: Path, path: Path, before: Path) -> Path | None:
    """Install a copy as the store where no store is, or a damaged store, which is moved to `before`.

    A kill at any point leaves the damaged store, no store, or the new store; a second call completes the
    work. SQLite's files beside the old store are moved with it, because SQLite would use them for the new
    store.

    Returns:
        The path of the old store, or None when there was none.
    """
    new = path.with_name(f".new-{path.name}")
    with explained(path):
        copy_store(copy, new)
    bring_up_to_date(new, _free_claims)
    with explained(path):
        _sync(new)
        kept = set_aside(path, before)
        new.replace(path)
        sync_dir(path.parent)
    return before if kept else None


def set_aside(path: Path, kept: Path) -> bool:
    """Rename a store with SQLite's files beside it, if it exists; return True when it did."""
    found = False
    for end in ("-wal", "-shm", ""):
        old = path.with_name(path.name + end)
        if old.exists():
            old.replace(kept.with_name(kept.name + end))
            found = True
    return found


def place_of_moved(path: Path) -> str:
    """Return the address to which the rows of a file have moved, or "" when they are in the file."""
    with _opened(path) as connection:
        if schema_version(connection) != MOVED:
            return ""
        place: str = connection.execute("SELECT place FROM moved").fetchone()[0]
        return place


def move_to_database(path: Path, url: str, uuid: str) -> None:
    """Copy a store into a database, and let nobody write to the file any more.

    Killed before the end, the store is still in the file, and a second call begins again. After an error,
    nothing is left in the database.

    Args:
        uuid: Of the controller.
    """
    moves = databases.moves()
    undone = _undone(lambda: place_of_moved(path), lambda: moves.give_up(url, uuid))
    with undone, contextlib.closing(Store.open(path)) as store:
        moves.prepare(url, uuid)
        here, there = Blobs(path.parent / BLOBS), moves.blobs(url, uuid, path.parent / BLOBS)
        with store.read() as tx:
            names = blob_names(tx)
        _send_each(names, here, there)
        with store.write() as tx:  # nobody writes until the file is marked
            _send_each(blob_names(tx), here, there)  # those that are new since
            moves.keep_host_keys(url, uuid, _host_keys(path.parent))
            moves.arrive(path, url, uuid)
            mark_moved(store._connection, url)


def move_to_file(url: str, new: Path, stamp: str) -> None:
    """Copy a store from a database into a file, and let nobody write to the database any more.

    After an error, the file is deleted.

    Args:
        stamp: A new name for this move, by which `has_left` of the database knows it.
    """
    moves = databases.moves()
    undone = _undone(lambda: moves.has_left(url, stamp), lambda: new.unlink(missing_ok=True))
    with undone, contextlib.closing(Store.open(url)) as store:
        blobs = databases.blobs(url, new.parent / BLOBS)
        with store.read() as tx:
            names = blob_names(tx)
        _fetch_each(names, blobs)
        with store.write() as tx:
            moves.be_patient(store._connection)
            _fetch_each(blob_names(tx), blobs)  # those that are new since
            copy_store(url, new, compare=True)
            _write_host_keys(tx, new.parent)
            moves.leave(store._connection, stamp)


@contextlib.contextmanager
def _undone(has_moved: Callable[[], object], undo: Callable[[], None]) -> Iterator[None]:
    """Undo a move after an error; when that fails as well, a second move undoes the first."""
    try:
        yield
    except Exception:
        with contextlib.suppress(StoreError, OSError, sqlite3.Error):
            if not has_moved():
                undo()
        raise


def blob_names(tx: Tx) -> list[str]:
    """Return the SHA-256 of the archives and resources that a store names, sorted."""
    return sorted({row["sha256"] for row in tx.rows("blob_names") if row["sha256"]})


def _send_each(names: Iterable[str], here: Blobs, there: Blobs) -> None:
    """Copy blobs from one place to another."""
    for name in names:
        if (path := here.find(name)) is not None:  # a missing archive is missing in both places
            there.keep(path, name)


def _host_keys(root: Path) -> Iterator[tuple[str, HostKey]]:
    """Yield the host keys in the files of a controller, each with the UUID of its model."""
    for path in sorted((root / FOLDER).glob("*")):
        for key in entries(path.read_text("utf-8")):
            yield path.name, key


def _write_host_keys(tx: Tx, root: Path) -> None:
    private_dir(root / FOLDER)
    for model, text in texts(tx.rows("host_key_all")).items():
        replace_text(root / FOLDER / model, text)


def _fetch_each(names: Iterable[str], blobs: Blobs) -> None:
    for name in names:
        with contextlib.suppress(NotFound):
            blobs.path(name)


def take_back(store: Store, source: Path, before: Path) -> None:
    """Replace the content of a store by that of a copy, after copying the present content to `before`.

    No change is lost: what others commit before is in `before`, and what they commit later is added to the
    new content. All claims end, so interrupted work is claimed again.
    """
    check_copy(source)
    work = before.with_name(f".new-{before.name}-content")
    try:
        with explained(before):
            copy_store(source, work)
        Store.open(work).close()  # migrates the copy
        with store.write() as tx:
            if isinstance(store.place, str):
                databases.moves().be_patient(store._connection)
            with explained(before):
                copy_store(store.place, before)
            _replace(store, work)
            store.forget()
            _free_claims(tx)
    finally:
        for left in work.parent.glob(f"{work.name}*"):
            left.unlink()


def _free_claims(tx: Tx) -> None:
    """End all claims; numbers of leases keep growing."""
    tx.run("work_free_all")
    tx.next("", "lease", at_least=lease_at_least(datetime.now(UTC)))


def _replace(store: Store, source: Path) -> None:
    """Replace the rows of all tables by those of a file, while the whole store is locked."""
    if isinstance(store.place, str):
        databases.from_file(source, store.place)
        return
    _replace_rows(store._connection, source)


def _replace_rows(connection: sqlite3.Connection, source: Path) -> None:
    """Replace the rows of all tables by those of another store; the journal stays, and notes the changes."""
    connection.execute("PRAGMA defer_foreign_keys = ON")
    with _opened(source) as copy:
        tables = _tables(copy)
        for table in tables:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from the schema
        for table in tables:
            rows = copy.execute(f"SELECT * FROM {table}")  # noqa: S608
            names = [column[0] for column in rows.description]
            marks = ", ".join("?" * len(names))
            insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608
            connection.executemany(insert, rows)


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    return [row[0] for row in connection.execute(query) if row[0] != "change"]
