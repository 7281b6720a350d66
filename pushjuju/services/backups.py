"""Copies of a controller: its store with the charm archives that it names, as one file. Layer: services."""

from __future__ import annotations

import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, NotValid, StoreDamaged
from pushjuju.services.context import Context
from pushjuju.state.backup import copy_store, take_back
from pushjuju.state.files import explained, sync_dir
from pushjuju.state.store import Store

STORE = "state.db"
BLOBS = "blobs"
TRIES = 5  # a charm may be removed between the copy of the store and that of its archive


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What was written.

    Attributes:
        path: The file: a tar archive, readable by its owner only.
        blobs: How many charm archives are in it.
    """

    path: Path
    blobs: int


def create(ctx: Context, target: Path) -> Backup:
    """Write a copy of the controller; everything may go on meanwhile.

    Raises:
        StoreError: The store cannot be read, or the file cannot be written.
        StoreDamaged: The store is not sound; no file is left.
    """
    with explained(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as folder:
        copy = Path(folder) / STORE
        for _ in range(TRIES):
            copy_store(ctx.store.path, copy)
            names = _archives(copy)
            try:
                found = [ctx.controller.blobs.path(name) for name in names]
                _write(Path(folder) / "archive", copy, found)
            except (NotFound, FileNotFoundError):
                continue
            (Path(folder) / "archive").replace(target)
            sync_dir(target.parent)
            return Backup(path=target, blobs=len(found))
    raise StoreDamaged(f"charm archives that the store {ctx.store.path} names are missing")


def _archives(copy: Path) -> list[str]:
    store = Store.open(copy)
    try:
        with store.read() as tx:
            return sorted({row["sha256"] for row in tx.rows("blob_names") if row["sha256"]})
    finally:
        store.close()


def _write(target: Path, copy: Path, blobs: list[Path]) -> None:
    import os

    with target.open("xb") as stream:
        os.fchmod(stream.fileno(), 0o600)
        with tarfile.open(fileobj=stream, mode="w") as archive:
            archive.add(copy, STORE)
            for path in blobs:
                archive.add(path, f"{BLOBS}/{path.name}")
        stream.flush()
        os.fsync(stream.fileno())


def restore(ctx: Context, source: Path) -> Path:
    """Put a copy in the place of the controller's store; processes that use it go on with the new content.

    Returns:
        Where the store as it was until then is kept.

    Raises:
        NotValid: The file is no copy of a controller.
        StoreDamaged: The copy is not sound. Nothing has changed.
        StoreTooNew: It was made by a newer pushjuju.
    """
    stamp = to_iso(ctx.clock.now()).replace(":", "")
    before = ctx.store.path.with_name(f"before-restore-{stamp}.db")
    with tempfile.TemporaryDirectory(dir=ctx.store.path.parent, prefix=".new-") as folder:
        blobs = _unpack(source, Path(folder))
        for path in blobs:
            if ctx.controller.blobs.add(path) != path.name:
                raise StoreDamaged(f"the charm archive {path.name[:12]} in {source} is damaged")
        take_back(ctx.store, Path(folder) / STORE, before)
    return before


def _unpack(source: Path, folder: Path) -> list[Path]:
    """Take the store and the archives out of a copy; nothing else, and no path that the file names."""
    found: dict[str, Path] = {}
    try:
        with tarfile.open(source) as archive:
            for member in archive:
                name = Path(member.name).name
                content = archive.extractfile(member) if member.isfile() else None
                if content is None or member.name not in (STORE, f"{BLOBS}/{name}"):
                    raise NotValid(f"{source} is no copy of a controller: it holds {member.name}")
                found[name] = folder / name
                with found[name].open("xb") as target:
                    while piece := content.read(1 << 20):
                        target.write(piece)
    except (tarfile.TarError, OSError) as error:
        raise NotValid(f"{source} is no copy of a controller: {error}") from error
    if STORE not in found:
        raise NotValid(f"{source} is no copy of a controller: it holds no store")
    return [path for name, path in found.items() if name != STORE]
