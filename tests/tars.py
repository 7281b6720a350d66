"""Unpacks archives of tests on each Python: that of Debian 12 is older than the filters of tarfile."""

from __future__ import annotations

import tarfile
from pathlib import Path

_FILTER = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Write all files of an archive into a folder."""
    archive.extractall(folder, **_FILTER)  # type: ignore[arg-type]
