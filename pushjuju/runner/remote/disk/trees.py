"""Directory trees on the machine."""

from __future__ import annotations

import os


def remove_tree(path: str) -> None:
    """Delete a directory tree, never through a link; do nothing when the directory does not exist."""
    try:
        with os.scandir(path) as entries:
            items = list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    for item in items:
        if item.is_dir(follow_symlinks=False):
            remove_tree(item.path)
        else:
            os.unlink(item.path)
    os.rmdir(path)
