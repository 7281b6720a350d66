"""Hook tools that the machine cannot answer from its snapshot. Layer: workers."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.errors import PushjujuError
from pushjuju.services import leadership, units
from pushjuju.services.context import Context

LiveAnswer = tuple[int, bytes, bytes]
"""Exit code, standard output, standard error."""


def answer(ctx: Context, model: str, unit: str, tool: str, argv: Sequence[str]) -> LiveAnswer:
    """Answer a call that the machine passed on."""
    if tool != "leader-set":
        return 1, b"", f"ERROR {tool} is not answered by this controller\n".encode()
    changes = dict(word.split("=", 1) for word in argv if word != "--")
    try:
        with ctx.store.write() as tx:
            leadership.set_settings(tx, units.get(tx, model, unit), changes, ctx.clock.now())
    except PushjujuError as error:
        return 1, b"", f"ERROR {error.message}\n".encode()
    return 0, b"", b""
