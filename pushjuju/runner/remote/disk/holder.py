"""The mark that names the controller of this machine: a file, made at the first contact, checked at each.

``core/holding.py`` does the same in shell for machines where this program is not yet.
"""

from __future__ import annotations

import os

from pushjuju.runner.remote.base import layout


def claim(root: str, owner: str) -> str:
    """Mark the machine as held by an owner; return another holder's mark, or empty text."""
    path = layout.marker(root)
    found = layout.read_text(path).strip()
    if not found:
        _mark(path, owner)
        found = layout.read_text(path).strip()
    return "" if found in ("", owner) else found  # no mark: no room for it; a later contact tries again


def _mark(path: str, owner: str) -> None:
    """Make the mark in one step, unless another process was quicker."""
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
    """Take the mark away: the machine is free for others."""
    path = layout.marker(root)
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    except OSError:
        pass
