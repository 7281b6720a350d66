"""Refuses operations of a controller that lost its lease and does not know so yet.

A file keeps the highest lease of each model. The file is read for each operation, because the server of
another program version may have written to the file.
"""

from __future__ import annotations

import os

from pushjuju.runner.remote.base import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pushjuju.portable import frames


class Leases:
    """The highest lease of each model."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._known: dict[str, int] = {}

    def overtaken(self, message: frames.Op) -> int:
        """Return the newer lease that replaced an operation's lease, or 0 when the latter is valid."""
        lease = message.get("lease")
        if not lease:
            return 0
        model, number = str(lease["of"]), int(lease["number"])
        path = self._base + "/" + layout.lease_name(model)
        known = max(self._known.get(model, 0), _number(layout.read_text(path)))
        if number < known:
            return known
        self._known[model] = number
        if number > known:
            _keep(path, number)
        return 0


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _keep(path: str, number: int) -> None:
    """Write a number in one step; when the disk is full, only the server's memory has the number."""
    new = "%s.%d" % (path, os.getpid())
    try:
        with open(new, "w") as stream:
            stream.write("%d" % number)
        os.replace(new, path)
    except OSError:
        try:
            os.unlink(new)
        except OSError:
            pass
