"""Functions on files with slow imports: temporary files, deleting trees."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import IO, Any


class FileTools:
    """Temporary files, and the deletion of directory trees."""

    @staticmethod
    def temporary(mode: str, folder: Path, prefix: str) -> IO[Any]:
        """Open a new file with a unique name; the file stays after it is closed."""
        return tempfile.NamedTemporaryFile(mode, dir=folder, prefix=prefix, delete=False)

    @staticmethod
    def remove_tree(path: Path) -> None:
        """Delete a directory tree; ignore errors."""
        shutil.rmtree(path, ignore_errors=True)
