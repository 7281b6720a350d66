"""Unpacks a charm archive for a test, as pushjuju reads the archive."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

from pushjuju.charms.archive.archiving import Archive, ArchiveLimits, Entry, Kind, open_archive
from pushjuju.charms.archive.reader import load
from pushjuju.charms.values.hooks import hook_names


def unpack(
    path: Path, dest: Path, *, revision: int | None = None, limits: ArchiveLimits | None = None
) -> None:
    """Unpack an archive into a new directory; nothing is left behind of an archive that is refused."""
    with open_archive(path, limits) as archive:
        charm = load(archive.read)
        fresh = Path(tempfile.mkdtemp(prefix=f".{dest.name}.", dir=dest.parent))
        try:
            _fill(fresh, archive, hook_names(charm.meta))
            _write_file(fresh / "revision", str(charm.revision if revision is None else revision).encode())
            fresh.chmod(0o755)
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
