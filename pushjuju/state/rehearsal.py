"""A data directory for a rehearsal: copies of the stores, links to what is only read. Layer: state."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from pushjuju.core.errors import StoreError
from pushjuju.state.cloudfiles import CLOUDS, CREDENTIALS, KEY_FILE
from pushjuju.state.datadir import MAIN, ControllerDir, DataDir
from pushjuju.state.files import private_dir

_LINKED = ("secrets.key", KEY_FILE)  # never copied: nothing may be left of keys if we are killed
_BUSY_S = 30.0


def copy_datadir(source: DataDir, target: Path) -> DataDir:
    """Make a data directory in which everything can be done without a trace in the source.

    Args:
        source: What is copied; it may be in use.
        target: An empty directory of the caller's own, who deletes it.

    Raises:
        StoreError: A store cannot be read, or there is no room for its copy.
    """
    for name in (MAIN, CLOUDS, CREDENTIALS, "aliases"):
        if (source.root / name).is_file():
            shutil.copyfile(source.root / name, target / name)
            (target / name).chmod(0o600)
    if (source.root / KEY_FILE).exists():
        (target / KEY_FILE).symlink_to(source.root / KEY_FILE)
    for name in source.controllers():
        _copy_controller(source.controller(name), target / "controllers" / name)
    return DataDir(target)


def _copy_controller(source: ControllerDir, target: Path) -> None:
    for folder in ("blobs", "ssh", "known_hosts", "machines", "log"):
        private_dir(target / folder)
    for path in sorted((source.root / "blobs").glob("??/*")):
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
    if source.store_path.exists():
        _copy_store(source.store_path, target / source.store_path.name)
    shutil.copyfile(source.root / "controller.toml", target / "controller.toml")


def _copy_store(path: Path, target: Path) -> None:
    """Copy a store as it is at one moment; not durable, for it is thrown away."""
    try:
        source = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=_BUSY_S)
        try:
            copy = sqlite3.connect(target)
            try:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
            finally:
                copy.close()
        finally:
            source.close()
    except sqlite3.Error as error:
        raise StoreError(f"the store {path} cannot be copied for a plan: {error}") from error
    target.chmod(0o600)
