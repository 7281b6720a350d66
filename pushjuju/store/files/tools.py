"""What the standard library has for files that are made and deleted."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import IO, Any


class FileTools:
    """Temporary files, and the end of directories."""

    @staticmethod
    def temporary(mode: str, folder: Path, prefix: str) -> IO[Any]:
        """Open a new file of a name that no other file has; the file stays when it is closed."""
        return tempfile.NamedTemporaryFile(mode, dir=folder, prefix=prefix, delete=False)

    @staticmethod
    def remove_tree(path: Path) -> None:
        """Delete a directory and all below it, as far as that goes."""
        shutil.rmtree(path, ignore_errors=True)
