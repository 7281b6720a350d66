"""Content-addressed files: charm archives, later resources. Layer: state."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import BinaryIO

from pushjuju.core.errors import NotFound
from pushjuju.state.files import explained, private_dir, sync_dir

_CHUNK = 1 << 20  # bytes read at a time
_NEW = ".new-"
_OLD_S = 24 * 3600.0  # no copy takes so long


class Blobs:
    """A folder of files named by their SHA-256; equal content is kept once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Return where a blob lies.

        Raises:
            NotFound: It is not there.
        """
        path = self.root / sha256[:2] / sha256
        if not path.exists():
            raise NotFound(f"blob {sha256[:12]} is missing from {self.root}")
        return path

    def add(self, source: Path) -> str:
        """Copy a file in and return its SHA-256; durable when this returns.

        Raises:
            StoreError: The disk is full or refuses it; nothing is left behind.
        """
        with source.open("rb") as stream, explained(self.root):
            private_dir(self.root)
            self._forget_halves()
            return self._copy(stream)

    def _forget_halves(self) -> None:
        """Delete copies that a dead process left; a young one may still be written."""
        for path in self.root.glob(f"{_NEW}*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _OLD_S:
                    path.unlink()

    def _copy(self, stream: BinaryIO) -> str:
        import hashlib
        import tempfile

        digest = hashlib.sha256()
        with tempfile.NamedTemporaryFile(dir=self.root, prefix=_NEW, delete=False) as target:
            try:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
                    target.write(chunk)
                target.flush()
                os.fsync(target.fileno())
                return self._settle(Path(target.name), digest.hexdigest())
            except BaseException:
                Path(target.name).unlink(missing_ok=True)
                raise

    def _settle(self, temporary: Path, sha256: str) -> str:
        folder = self.root / sha256[:2]
        private_dir(folder)
        temporary.replace(folder / sha256)
        sync_dir(folder)
        sync_dir(self.root)
        return sha256

    def delete(self, sha256: str) -> None:
        """Delete a blob; fine if it is gone."""
        (self.root / sha256[:2] / sha256).unlink(missing_ok=True)
