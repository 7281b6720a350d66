"""Copies of the source trees in `tests/trees`, for tests that change or build them."""

from __future__ import annotations

import shutil
from pathlib import Path

TREES = Path(__file__).parents[1] / "trees"


def copy(name: str, folder: Path) -> Path:
    """Copy a tree into a folder and return the copy."""
    target = folder / name
    shutil.copytree(TREES / name, target, symlinks=True)
    return target
