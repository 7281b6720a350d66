"""Unpacks a charm archive on this machine.

A fresh directory is filled and synced, then renamed: what has its name is whole.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

from pushjuju.charms.archive.archiving import Archive, ArchiveLimits, Entry, Kind, open_archive
from pushjuju.charms.archive.reader import load
from pushjuju.charms.values.hooks import hook_names
from pushjuju.core.errors import AlreadyExists
from pushjuju.portable.quote import quote


def unpack(
    path: Path, dest: Path, *, revision: int | None = None, limits: ArchiveLimits | None = None
) -> None:
    """Unpack an archive into a directory that does not exist yet.

    Args:
        revision: The new content of its `revision` file; None keeps the number of the archive.

    Raises:
        AlreadyExists: `dest` is there; a live tree is never written over.
        InvalidCharm: The archive is refused; nothing is left behind.
    """
    if dest.exists() or dest.is_symlink():
        raise AlreadyExists(f"{quote(str(dest))} already exists")
    with open_archive(path, limits) as archive:
        charm = load(archive.read)
        fresh = Path(tempfile.mkdtemp(prefix=f".{dest.name}.", dir=dest.parent))
        try:
            _fill(fresh, archive, hook_names(charm.meta))
            _write_file(fresh / "revision", str(charm.revision if revision is None else revision).encode())
            fresh.chmod(0o755)
            _sync_tree(fresh)
            fresh.rename(dest)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise


def _fill(root: Path, archive: Archive, hooks: frozenset[str]) -> None:
    links = []
    for entry in archive.entries.values():
        target = root / entry.path
        if entry.kind is Kind.LINK:
            links.append(entry)
            continue
        if entry.kind is Kind.DIR:
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.path != "revision":
            _extract(archive, entry, target, hooks)
    # Last, so that nothing is ever written through one.
    for entry in links:
        link = root / entry.path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(entry.target)


def _extract(archive: Archive, entry: Entry, target: Path, hooks: frozenset[str]) -> None:
    hook = entry.path.startswith("hooks/") and entry.path.removeprefix("hooks/") in hooks
    mode = 0o755 if hook or entry.mode & 0o100 else 0o644
    with _create(target) as stream:
        for chunk in archive.chunks(entry):
            stream.write(chunk)
    target.chmod(mode)


def _create(target: Path) -> IO[bytes]:
    return os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")


def _write_file(target: Path, body: bytes) -> None:
    with _create(target) as stream:
        stream.write(body)
    target.chmod(0o644)


def _sync_tree(root: Path) -> None:
    for directory, _, files in os.walk(root):
        for name in (*files, "."):
            path = Path(directory) / name
            if not path.is_symlink():
                handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
