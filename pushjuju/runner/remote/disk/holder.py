"""The file that names the controller of this machine, made at the first contact and checked at each.

``core/holding.py`` does the same in shell, before this program is on the machine.
"""

from __future__ import annotations

import os

from pushjuju.runner.remote.base import layout


def claim(root: str, owner: str) -> str:
    """Mark the machine as held by ``owner``; return the mark of another holder, or ""."""
    path = layout.marker(root)
    found = layout.read_text(path).strip()
    if not found:
        _mark(path, owner)
        found = layout.read_text(path).strip()
    return "" if found in ("", owner) else found  # no mark: the disk is full; the next contact tries again


def _mark(path: str, owner: str) -> None:
    """Make the file in one step, unless another process has made it meanwhile."""
    new = "%s.%d" % (path, os.getpid())
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(new, "w") as file:
            file.write(owner + "\n")
        os.link(new, path)
    except OSError:
        pass
    try:
        os.unlink(new)
    except OSError:
        pass


def release(root: str) -> None:
    """Delete the mark, so that another controller may take the machine."""
    path = layout.marker(root)
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    except OSError:
        pass
