"""The store: transactions, records, sequences, what it says when the file is at fault."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pushjuju.core.errors import NotFound, StoreBusy, StoreDamaged, StoreError, StoreTooNew
from pushjuju.store import faults, schema
from pushjuju.store import sqlite as store_module
from pushjuju.store.backup import copy_store
from pushjuju.store.db import Store
from pushjuju.store.files import waits
from pushjuju.store.files.unchanging import is_unchanging
from pushjuju.store.rows.records import Model
from pushjuju.store.statements import migrations

CREATED = datetime(2025, 3, 1, 9, tzinfo=UTC)


def modes(folder: Path) -> dict[str, int]:
    return {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()}


def fill(path: Path) -> None:
    path.write_bytes(b"\0" * 4096)
    with path.open("ab", buffering=0) as stream:
        try:
            while stream.write(b"\0" * 4096):
                pass
        except OSError:
            return


def test_a_store_that_is_not_there_is_not_made_by_looking(path: Path) -> None:
    with pytest.raises(NotFound, match="no store at"):
        Store.open(path)
    assert not path.exists()


def test_only_its_owner_may_read_it(store: Store) -> None:
    assert set(modes(store.path.parent).values()) == {0o600}
    assert {"state.db", "state.db-wal"} <= set(modes(store.path.parent))


def test_a_store_of_a_newer_pushjuju_is_refused_untouched(store: Store) -> None:
    newest = migrations()[-1][0]
    store.close()
    connection = sqlite3.connect(store.path)
    connection.execute(f"PRAGMA user_version = {newest + 1}")
    connection.close()
    before = store.path.read_bytes()
    with pytest.raises(StoreTooNew) as caught:
        Store.open(store.path)
    assert f"has schema {newest + 1}; this pushjuju knows up to {newest}" in caught.value.message
    assert "upgrade pushjuju" in caught.value.hint
    assert store.path.read_bytes() == before


def test_a_file_that_is_no_store_is_named_and_left_alone(path: Path) -> None:
    path.write_text("this is no database, it is a letter\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert str(path) in caught.value.message
    assert "not a database" in caught.value.message
    assert path.read_bytes() == before


def damage(path: Path, from_page: int) -> None:
    with path.open("r+b") as stream:
        size = stream.seek(0, 2)
        stream.seek(from_page * 4096)
        stream.write(b"\xff" * (size - from_page * 4096))


def test_a_store_with_a_damaged_schema_is_named(store: Store) -> None:
    store.close()
    damage(store.path, 1)
    with pytest.raises(StoreError) as caught:
        Store.open(store.path)
    assert str(store.path) in caught.value.message
    assert "malformed" in caught.value.message
    assert "from a copy" in caught.value.hint


def test_a_store_with_damaged_rows_is_named(store: Store, model: Model) -> None:
    store.close()
    schema_pages = store.path.stat().st_size // 4096
    store = Store.open(store.path)
    with store.write() as tx:
        for number in range(100):
            tx.run("model_config_set", model=model.uuid, key=f"k{number}", value="x" * 3000)
    store.close()
    damage(store.path, schema_pages)
    damaged = Store.open(store.path)
    with pytest.raises(StoreError) as caught, damaged.read() as tx:
        tx.rows("model_config_list", model=model.uuid)
    assert str(store.path) in caught.value.message
    assert "malformed" in caught.value.message
    damaged.close()


def test_a_look_at_the_whole_store_finds_damage_that_opening_it_does_not(store: Store, model: Model) -> None:
    store.check()
    with store.write() as tx:
        for number in range(100):
            tx.run("model_config_set", model=model.uuid, key=f"k{number}", value="x" * 3000)
    store.close()
    damage(store.path, store.path.stat().st_size // 4096 - 50)
    damaged = Store.open(store.path)
    with pytest.raises(StoreDamaged) as caught:
        damaged.check()
    assert str(store.path) in caught.value.message
    assert "from a copy" in caught.value.hint
    damaged.close()


def test_a_row_without_what_it_belongs_to_is_damage(store: Store) -> None:
    store._connection.execute("PRAGMA foreign_keys = OFF")
    store._connection.execute("INSERT INTO model_config (model, key, value) VALUES ('gone', 'k', 'v')")
    with pytest.raises(StoreDamaged) as caught:
        store.check()
    assert caught.value.detail == "model_config: a row without its model"


@pytest.mark.parametrize("size", [5000, 4096, 100])
def test_a_store_that_was_cut_short_is_refused(store: Store, size: int) -> None:
    store.close()
    with store.path.open("r+b") as stream:
        stream.truncate(size)
    before = store.path.read_bytes()
    with pytest.raises(StoreDamaged, match=str(store.path)):
        Store.open(store.path)
    assert store.path.read_bytes() == before


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (a TEXT)")
    connection.execute(f"PRAGMA user_version = {migrations()[-1][0]}")
    connection.close()
    with pytest.raises(StoreDamaged, match="it has no table model"):
        Store.open(path)


def test_a_store_of_another_program_is_left_as_it_is(path: Path) -> None:
    for number in (0, 1, migrations()[-1][0] + 7):
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE IF NOT EXISTS theirs (a TEXT)")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.close()
        before = path.read_bytes()
        for create in (False, True):
            with pytest.raises(StoreDamaged, match="it has no table model"):
                Store.open(path, create=create)
        assert path.read_bytes() == before
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("what", ["emptied", "directory", "pipe", "device", "no number"])
def test_a_store_that_lost_its_content_is_not_taken_for_a_new_one(store: Store, what: str) -> None:
    store.close()
    path, wal = store.path, store.path.with_name("state.db-wal")
    if what == "no number":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 0")
        connection.close()
    elif what == "emptied":
        path.write_bytes(b"")
        wal.write_bytes(b"what a person may still want to read")
    else:
        path.unlink()
        makers = {
            "directory": path.mkdir,
            "pipe": lambda: os.mkfifo(path),
            "device": lambda: path.symlink_to("/dev/null"),
        }
        makers[what]()
    with pytest.raises(StoreDamaged) as caught:
        Store.open(path)
    assert caught.value.hint.startswith("pushjuju restore-backup FILE")
    if what == "emptied":
        assert path.stat().st_size == 0
        assert wal.read_bytes() == b"what a person may still want to read"


def test_a_store_held_for_too_long_is_busy(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BUSY_TIMEOUT_S", 0.05)
    other = Store.open(store.path)
    with store.write(), pytest.raises(StoreBusy) as caught, other.write():
        pass
    assert caught.value.retryable
    assert "held by another process" in caught.value.message
    with other.write():
        pass
    other.close()


_HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2].split(";"):
    held.execute(statement).fetchall()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(path: Path, how: str) -> Iterator[subprocess.Popen[bytes]]:
    """Let another process have a store locked."""
    words = [sys.executable, "-c", _HOLD, path, how]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.stdin.close()


def test_a_store_that_is_locked_is_told_after_a_second(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """With who has it."""
    monkeypatch.setattr(store_module, "BUSY_TIMEOUT_S", 1.3)
    told: list[str] = []
    with held(store.path, "BEGIN IMMEDIATE") as process, waits.told_by(told.append):
        with store.read() as tx:
            assert tx.rows("model_list"), "readers do not wait"
        assert told == []
        began = time.monotonic()
        with pytest.raises(StoreBusy, match="is held by another process"), store.write():
            pass
        assert 1.2 < time.monotonic() - began < 5
    name = Path(sys.executable).name[:15]
    assert told == [f"Waiting for the store {store.path}: process {process.pid} ({name}) has it"]
    with store.write():
        pass


def test_a_wait_that_ends_in_time_is_told_and_done(store: Store) -> None:
    told: list[str] = []
    with held(store.path, "BEGIN IMMEDIATE") as process:

        def say(text: str) -> None:
            told.append(text)
            assert process.stdin is not None
            process.stdin.close()

        with waits.told_by(say), store.write() as tx:
            tx.next("", "x")
    assert len(told) == 1


def test_a_store_that_is_locked_as_a_whole_is_told_when_it_is_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(path, create=True).close()
    monkeypatch.setattr(store_module, "BUSY_TIMEOUT_S", 1.3)
    told: list[str] = []
    how = "PRAGMA locking_mode = EXCLUSIVE;BEGIN IMMEDIATE;COMMIT"
    with held(path, how) as process, waits.told_by(told.append), pytest.raises(StoreBusy):
        Store.open(path)
    assert [f"process {process.pid} " in text for text in told] == [True]


WORDS = (
    (
        "database is locked", StoreBusy, "the store /s is held by another process",
        "wait for the other pushjuju to end, then run the command again",
    ),
    (
        "database or disk is full", StoreError, "the store /s cannot be written: the disk is full",
        "free some space on that disk, then run the command again",
    ),
    (
        "attempt to write a readonly database", StoreError, "the store /s cannot be written: it is read-only",
        "check who owns the file, and whether its disk is mounted read-only",
    ),
    ("disk I/O error", StoreError, "the store /s cannot be used: disk I/O error", ""),
    (
        "database disk image is malformed", StoreDamaged,
        "the store /s cannot be used: database disk image is malformed",
        "pushjuju restore-backup FILE    restores it from a copy",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("said", "kind", "message", "hint"), WORDS)
def test_what_sqlite_says_is_told_with_the_way_out(
    said: str, kind: type[StoreError], message: str, hint: str
) -> None:
    error = faults.explain_error(sqlite3.OperationalError(said), Path("/s"))
    assert (type(error), error.message, error.hint) == (kind, message, hint)


def test_a_full_disk_keeps_the_last_good_state(small_disk: Path, model: Model) -> None:
    store = Store.open(small_disk / "state.db", create=True)
    with store.write() as tx:
        tx.insert("model", model)
    fill(small_disk / "ballast")
    with pytest.raises(StoreError) as caught, store.write() as tx:
        tx.run("model_config_set", model=model.uuid, key="big", value="x" * 400_000)
    assert "the disk is full" in caught.value.message
    assert "free some space" in caught.value.hint
    (small_disk / "ballast").unlink()
    with store.write() as tx:
        assert tx.row("model_config_get", model=model.uuid, key="big") is None
        tx.run("model_config_set", model=model.uuid, key="small", value="x")
    store.close()


def test_a_store_cannot_be_made_on_a_full_disk(small_disk: Path) -> None:
    fill(small_disk / "ballast")
    with pytest.raises(StoreError) as caught:
        Store.open(small_disk / "state.db", create=True)
    assert "full" in caught.value.message
    (small_disk / "ballast").unlink()
    Store.open(small_disk / "state.db", create=True).close()


@pytest.mark.parametrize("killed", [False, True])
def test_a_store_on_a_full_disk_can_be_read(
    small_disk: Path, tmp_path: Path, model: Model, killed: bool
) -> None:
    path = small_disk / "state.db"
    store = Store.open(path, create=True)
    with store.write() as tx:
        tx.insert("model", model)
    kept = {name: (small_disk / name).read_bytes() for name in ("state.db", "state.db-wal")}
    store.close()
    if killed:  # what was written last is in the WAL alone
        for name, data in kept.items():
            (small_disk / name).write_bytes(data)
    fill(small_disk / "ballast")
    first, second = Store.open(path), Store.open(path)
    for each in (first, second):
        with each.read() as tx:
            assert [row["name"] for row in tx.rows("model_list")] == ["test"]
        assert each.version() == each.version()
        copy = tmp_path / "copy.db"
        copy_store(path, copy)
        with sqlite3.connect(copy) as connection:
            assert connection.execute("SELECT name FROM model").fetchall() == [("test",)]
        connection.close()
        for refused in (each.begin, each.check, lambda each=each: each.write().__enter__()):
            with pytest.raises(StoreError, match="the disk is full"):
                refused()
    (small_disk / "ballast").unlink()
    writer = Store.open(path)
    with writer.write() as tx:
        tx.run("model_config_set", model=model.uuid, key="late", value="x")
    with pytest.raises(StoreError, match="others write to it") as caught, first.read():
        pass
    assert "run the command again" in caught.value.hint
    before = second.version()
    writer.close()
    with second.read() as tx:
        assert tx.row("model_config_get", model=model.uuid, key="late") is not None
    assert second.version() != before
    for each in (first, second):
        each.close()


def test_a_store_on_a_full_disk_can_be_read_beside_others_and_brought_up_to_date(
    small_disk: Path, model: Model
) -> None:
    path = small_disk / "state.db"
    connection = sqlite3.connect(path, isolation_level=None)
    for number, script in migrations()[:-1]:
        schema._apply(connection, (number, script))
    connection.close()
    fill(small_disk / "ballast")
    before = path.read_bytes()
    store = Store.open(path)
    with store.read() as tx:
        assert tx.rows("model_list") == []
    store.close()
    assert path.read_bytes() == before
    (small_disk / "ballast").unlink()
    other = Store.open(path)
    with other.write() as tx:
        tx.insert("model", model)
    fill(small_disk / "ballast")
    store = Store.open(path)  # the files that are shared are there
    with store.read() as tx:
        assert [row["name"] for row in tx.rows("model_list")] == ["test"]
    store.close()
    other.close()


def test_a_disk_that_is_full_in_a_migration_keeps_the_old_schema(small_disk: Path) -> None:
    path = small_disk / "state.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = WAL")
    first = migrations()[0]
    schema._apply(other, first)
    fill(small_disk / "ballast")
    with (small_disk / "ballast").open("r+b") as stream:  # room for some of the migrations
        stream.truncate((small_disk / "ballast").stat().st_size - 60_000)
    with pytest.raises(StoreError, match="the disk is full"):
        Store.open(path)
    reached = schema.schema_version(other)
    assert first[0] <= reached < migrations()[-1][0]
    assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    other.close()
    (small_disk / "ballast").unlink()
    store = Store.open(path)
    store.check()
    assert schema.schema_version(store._connection) == migrations()[-1][0]
    store.close()


def test_a_read_only_disk_is_named(small_disk: Path) -> None:
    Store.open(small_disk / "state.db", create=True).close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(StoreError) as caught:
        Store.open(small_disk / "new.db", create=True)
    assert "read-only" in caught.value.message
    assert "PUSHJUJU_DATA" in caught.value.hint
    store = Store.open(small_disk / "state.db")
    with pytest.raises(StoreError) as caught, store.write() as tx:
        tx.run("application_delete", model="m", name="n")
    store.close()
    assert caught.value.message == f"the store {small_disk / 'state.db'} cannot be written: it is read-only"


def test_a_store_on_a_read_only_disk_can_be_read(small_disk: Path, model: Model) -> None:
    path = small_disk / "state.db"
    store = Store.open(path, create=True)
    with store.write() as tx:
        tx.insert("model", model)
    store.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    store = Store.open(path)
    with store.read() as tx:
        assert [row["name"] for row in tx.rows("model_list")] == ["test"]
    store.check()
    with pytest.raises(StoreError, match="cannot be written: it is read-only"), store.write() as tx:
        tx.next("", "x")
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    with pytest.raises(StoreError, match="can be written to again"), store.read():
        pass
    store.close()


def test_a_store_is_refused_where_others_may_write_or_the_last_changes_would_be_missed(
    small_disk: Path, tmp_path: Path, model: Model
) -> None:
    path = small_disk / "state.db"
    store = Store.open(path, create=True)
    other = tmp_path / "other way"
    other.mkdir()
    subprocess.run(["mount", "--bind", small_disk, other], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", other], check=True)
        assert not is_unchanging(other / "state.db"), "it can be written by the other way"
    finally:
        subprocess.run(["umount", other], check=True)
    with store.write() as tx:
        tx.insert("model", model)
    kept = {name: (small_disk / name).read_bytes() for name in ("state.db", "state.db-wal")}
    store.close()
    for name, data in kept.items():  # as a process that was killed leaves it
        (small_disk / name).write_bytes(data)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert not is_unchanging(path)
    with pytest.raises(StoreError, match="cannot be written: it is read-only"):
        Store.open(path)


def test_a_store_in_a_folder_that_takes_no_files_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite keeps files beside the store also to read it, and says only that it cannot open them."""
    (tmp_path / "state.db").touch()
    error = sqlite3.OperationalError("unable to open database file")

    def said(name: str) -> str:
        return faults.explain_error(error, tmp_path / name).message

    assert said("state.db").endswith("cannot be used: unable to open database file")
    monkeypatch.setattr("os.access", lambda path, _mode: path != tmp_path)
    assert said("state.db").endswith("cannot be written: it is read-only")
    assert said("none.db").endswith("cannot be used: unable to open database file")
