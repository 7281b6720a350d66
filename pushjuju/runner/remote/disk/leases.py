"""Refuses old leases: a controller that lost its lease without knowing starts nothing any more.

Each model has its file with the highest lease that was heard of. It is read for each operation, because the
server of another program version may have written it.
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
        """Return the lease that took the place of an operation's; 0 when its own one counts."""
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
    """Write a number at once or not at all; without room for it the server's memory has to do."""
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
