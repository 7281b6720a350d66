"""Content-addressed files: charm archives and resources."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pushjuju.core.errors import NotFound
from pushjuju.core.ids import new_hash
from pushjuju.core.values import dataclass
from pushjuju.store.files.private import explained, private_dir, sync_dir, temporary

CHUNK = 1 << 20  # bytes that are read at once
CACHE_SIZE = "10G"  # of the folder of a host with a store in PostgreSQL; the default of `blob-cache-size`
FOLDER = "blobs"
_NEW = ".new-"
_OLD_S = 60.0  # seconds; a living process locks its new copy sooner


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A copy of a file beside the blobs that is not a blob yet."""

    path: Path
    sha256: str  # SHA-256 of the content, in hex: the name of the blob
    sha384: str  # SHA-384 of the content, in hex, which Juju calls its fingerprint
    size: int


class Blobs:
    """A folder of files named by their SHA-256; equal content is kept once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Return the path of a blob.

        Raises:
            NotFound: The blob is not stored.
        """
        path = self.root / sha256[:2] / sha256
        if not path.exists():
            raise NotFound(f"blob {sha256[:12]} is missing from {self.root}")
        return path

    def find(self, sha256: str) -> Path | None:
        """Return the path of a blob, or None when the blob is not stored on this host."""
        path = self.root / sha256[:2] / sha256
        return path if path.exists() else None

    def add(self, source: Path) -> str:
        """Copy a file into the folder and return its SHA-256; the blob is durable when this returns.

        Raises:
            StoreError: The disk is full or fails; no part of the copy is left.
        """
        with source.open("rb") as stream, self.staged(stream) as copy:
            return self.settle(copy)

    @contextmanager
    def staged(self, stream: BinaryIO) -> Iterator[Staged]:
        """Copy a stream to a file beside the blobs for the duration of the block; `settle` makes it a blob.

        Copying may take long; settling is a rename, which fits into a transaction.

        Raises:
            StoreError: The disk is full or fails; no part of the copy is left.
        """
        with explained(self.root):
            private_dir(self.root)
            self._forget_halves()
            target = temporary("w+b", self.root, _NEW)
        try:
            with target:
                with explained(self.root):
                    copy = _copied(stream, target)
                yield copy  # locked while it is open
        finally:
            Path(target.name).unlink(missing_ok=True)

    def _forget_halves(self) -> None:
        """Delete unfinished copies of dead processes, whose locks are free."""
        for path in self.root.glob(f"{_NEW}*"):
            with contextlib.suppress(FileNotFoundError, BlockingIOError), path.open("rb") as stream:
                if time.time() - path.stat().st_mtime > _OLD_S:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()

    def settle(self, copy: Staged) -> str:
        """Make a copy a blob and return its SHA-256; the blob is durable when this returns."""
        with explained(self.root):
            folder = self.root / copy.sha256[:2]
            private_dir(folder)
            copy.path.replace(folder / copy.sha256)
            sync_dir(folder)
            sync_dir(self.root)
        return copy.sha256

    def prepare(self, source: Path, sha256: str) -> None:
        """Do beforehand what takes long in `add`, which a transaction calls later."""

    def keep(self, path: Path, sha256: str) -> None:
        """Make a file of this folder a blob of the store that the folder belongs to."""

    def delete(self, sha256: str) -> None:
        """Delete a blob, if it exists."""
        (self.root / sha256[:2] / sha256).unlink(missing_ok=True)

    def names(self) -> list[str]:
        """Return the SHA-256 of all blobs, sorted."""
        return sorted(path.name for path in self.root.glob("??/*"))


def _copied(stream: BinaryIO, target: Any) -> Staged:
    """Copy a stream to a temporary file, which is durable when this returns."""
    name, fingerprint, size = new_hash("sha256"), new_hash("sha384"), 0
    fcntl.flock(target, fcntl.LOCK_EX)
    while chunk := stream.read(CHUNK):
        name.update(chunk)
        fingerprint.update(chunk)
        size += len(chunk)
        target.write(chunk)
    target.flush()
    os.fsync(target.fileno())
    return Staged(path=Path(target.name), sha256=name.hexdigest(), sha384=fingerprint.hexdigest(), size=size)
