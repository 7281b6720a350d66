"""Makes a data directory for `plan`: copies of the stores, and links to files that are only read."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from pushjuju.core.errors import NotFound, StoreDamaged, StoreError
from pushjuju.core.values import dataclass
from pushjuju.store import databases
from pushjuju.store.cloudfiles import CLOUDS, CREDENTIALS, KEY_FILE
from pushjuju.store.datadir import ControllerDir, DataDir
from pushjuju.store.faults import explain_error
from pushjuju.store.files import unchanging
from pushjuju.store.files.places import MAIN
from pushjuju.store.files.private import private_dir
from pushjuju.store.files.toml_files import edit_toml

_LINKED = ("secrets.key", KEY_FILE)  # never copied: a killed process must leave no keys behind
_BUSY_S = 30.0
_GONE = "CREATE TABLE planned_gone (id INTEGER PRIMARY KEY, kind TEXT, model TEXT, entity TEXT, note TEXT)"
_TRIGGER = """CREATE TRIGGER planned_gone_{kind} AFTER DELETE ON {table} BEGIN
  INSERT INTO planned_gone (kind, model, entity, note) VALUES ('{kind}', OLD.{model}, OLD.{name}, {note});
END"""
_INSTANCE = (
    "CASE WHEN OLD.provider = 'manual' THEN 'given, only cleaned' WHEN OLD.instance_id = '' THEN '' "
    "WHEN OLD.keep_instance THEN 'kept' ELSE 'ended' END"
)
# kind -> its table, the table's columns for `Gone.model` and `Gone.entity`, SQL for `Gone.note`
_WATCHED = {
    "model": ("model", "uuid", "uuid", "''"),
    "application": ("application", "model", "name", "''"),
    "unit": ("unit", "model", "name", "''"),
    "relation": ("relation", "model", "id", "''"),
    "offer": ("offer", "model", "name", "''"),
    "saas": ("remote_application", "model", "name", "''"),
    "storage": (
        "storage_instance", "model", "id", "CASE WHEN OLD.releasing THEN 'released' ELSE 'destroyed' END",
    ),
    "machine": ("machine", "model", "id", _INSTANCE),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """An entity that was removed in a copy of the store."""

    kind: str
    model: str  # UUID
    entity: str  # name or number; UUID of a model
    note: str  # what happens to the data of storage, or to the instance of a machine; "" for other entities


def copy_datadir(source: DataDir, target: Path) -> DataDir:
    """Make a data directory in which commands may do anything without changing the source.

    Args:
        source: The data directory to copy; it may be in use.
        target: An empty directory, which the caller deletes.
    """
    for name in (MAIN, CLOUDS, CREDENTIALS, "aliases"):
        if (source.root / name).is_file():
            shutil.copyfile(source.root / name, target / name)
            (target / name).chmod(0o600)
    if (source.root / KEY_FILE).exists():
        (target / KEY_FILE).symlink_to(source.root / KEY_FILE)
    for name in source.controllers():
        try:
            _copy_controller(source.controller(name), target / "controllers" / name)
        except PermissionError:  # another user's: commands fail in the copy as in the source
            for file in ("controller.toml", "state.db"):
                (target / "controllers" / name / file).touch(mode=0)
    return DataDir(target)


def _copy_controller(source: ControllerDir, target: Path) -> None:
    for folder in ("blobs", "ssh", "known_hosts", "machines", "log"):
        private_dir(target / folder)
    if isinstance(source.store_place, str) and source.shared_blobs is None:
        _fetch_blobs(source)
    for path in sorted((source.shared_blobs or source.root / "blobs").glob("??/*")):
        private_dir(target / "blobs" / path.parent.name)
        (target / "blobs" / path.parent.name / path.name).symlink_to(path)
    for name in _LINKED:
        if (source.root / name).exists():
            (target / name).symlink_to(source.root / name)
    for name in (CLOUDS, CREDENTIALS):
        if (source.root / name).exists():
            shutil.copyfile(source.root / name, target / name)
            (target / name).chmod(0o600)
    if source.public_key.exists():
        shutil.copyfile(source.public_key, target / "ssh" / source.public_key.name)
    place = source.store_place
    if isinstance(place, str) or place.exists():
        _copy_store(place, target / source.store_path.name)
    shutil.copyfile(source.root / "controller.toml", target / "controller.toml")
    if source.shared_blobs is not None:
        edit_toml(target / "controller.toml", lambda document: document["config"].pop("blobs"))


def _fetch_blobs(source: ControllerDir) -> None:
    """Copy the archives that other hosts have added to the folder of this host."""
    blobs = source.blobs
    for name in blobs.names():
        with suppress(NotFound):  # a process has deleted it
            blobs.path(name)


def _copy_store(path: Path | str, target: Path) -> None:
    """Copy a store at one moment, without making the copy durable."""
    if isinstance(path, str):
        target.touch(mode=0o600)
        databases.to_file(path, target)
        with closing(sqlite3.connect(target)) as copy:
            _watch(copy)
        return
    if not path.stat().st_size:  # SQLite would turn it into a valid store
        target.touch(mode=0o600)
        return
    try:
        source = sqlite3.connect(unchanging.uri(path), uri=True, timeout=_BUSY_S)
        try:
            copy = sqlite3.connect(target)
            try:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                _watch(copy)
            finally:
                copy.close()
        finally:
            source.close()
    except sqlite3.Error as error:
        why = explain_error(error, path)
        if not isinstance(why, StoreDamaged):
            raise StoreError(f"the store {path} cannot be copied for a plan: {error}") from error
        shutil.copyfile(path, target)  # a command that reads it reports the damage
    target.chmod(0o600)


def _watch(copy: sqlite3.Connection) -> None:
    """Add triggers to a copy that record deleted entities, in order."""
    there = {row[0] for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    copy.execute(_GONE)
    for kind, (table, model, name, note) in _WATCHED.items():
        if table in there:  # older stores lack some tables
            copy.execute(_TRIGGER.format(kind=kind, table=table, model=model, name=name, note=note))
    copy.commit()


def gone(path: Path) -> Sequence[Gone]:
    """Return what was removed in a copied store, in order; nothing for a new store."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT kind, model, entity, note FROM planned_gone ORDER BY id").fetchall()
    except sqlite3.OperationalError:  # the planned command made the store
        rows = []
    finally:
        connection.close()
    return [Gone(kind=row[0], model=row[1], entity=str(row[2]), note=row[3] or "") for row in rows]
