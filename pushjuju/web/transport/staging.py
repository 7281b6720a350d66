"""Where uploads wait until they are checked: a folder of the controller, on the disk of its blobs."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pushjuju.store.files.private import private_dir, remove_tree
from pushjuju.web import errors

_LEAST_FREE = 256 * 1024 * 1024  # bytes of the disk that no upload may use
_OLD_S = 24 * 60 * 60.0


class Staging:
    """A folder for uploads that are under way."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def forget_old(self) -> None:
        """Delete what servers that were killed have left; other servers of the controller may run."""
        for path in self._folder.glob("*"):
            if time.time() - path.stat().st_mtime > _OLD_S:
                remove_tree(path)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Make a folder for one upload, which is deleted after the block."""
        private_dir(self._folder)
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            yield Path(name)

    def require_room(self, more: int) -> None:
        """Check that the disk has room for some more bytes."""
        if shutil.disk_usage(self._folder).free < more + _LEAST_FREE:
            raise errors.ApiError("the controller's disk has no room for this upload", errors.QUOTA)
