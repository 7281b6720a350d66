"""Hook tools that the machine cannot answer from its snapshot. Layer: workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pushjuju.core.errors import LeaseLost, NotValid, PushjujuError
from pushjuju.services import leadership, payloads, units
from pushjuju.services.context import Context
from pushjuju.state.records import Unit
from pushjuju.state.store import Tx

LiveAnswer = tuple[int, bytes, bytes]
"""Exit code, standard output, standard error."""

Tool = Callable[[Context, Tx, Unit, list[str]], None]


def answer(ctx: Context, model: str, unit: str, tool: str, argv: Sequence[str]) -> LiveAnswer:
    """Answer a call that the machine passed on.

    Raises:
        LeaseLost: It is for another controller process to answer.
    """
    act = _TOOLS.get(tool)
    if act is None:
        return 1, b"", f"ERROR {tool} is not answered by this controller\n".encode()
    words = list(argv[1:] if argv[:1] == ["--"] else argv)
    try:
        with ctx.store.write() as tx:
            act(ctx, tx, units.get(tx, model, unit), words)
    except LeaseLost:
        raise
    except PushjujuError as error:
        return 1, b"", f"ERROR {error.message}\n".encode()
    return 0, b"", b""


def _leader_set(ctx: Context, tx: Tx, unit: Unit, words: list[str]) -> None:
    if not all("=" in word for word in words):
        raise NotValid("leader-set takes key=value")
    changes = dict(word.split("=", 1) for word in words)
    leadership.set_settings(tx, unit, changes, ctx.clock.now())


def _payload_register(_: Context, tx: Tx, unit: Unit, words: list[str]) -> None:
    kind, name, number = _exactly(words[:3], 3)
    payloads.register(tx, unit, kind, name, number, words[3:])


def _payload_unregister(_: Context, tx: Tx, unit: Unit, words: list[str]) -> None:
    name, number = _exactly(words, 2)
    payloads.unregister(tx, unit, name, number)


def _payload_status_set(_: Context, tx: Tx, unit: Unit, words: list[str]) -> None:
    name, number, status = _exactly(words, 3)
    payloads.set_status(tx, unit, name, number, status)


def _exactly(words: list[str], count: int) -> list[str]:
    """Return words, of which there must be so many: nobody knows whether our own tool passed them on."""
    if len(words) != count:
        raise NotValid(f"expected {count} arguments, got {len(words)}")
    return words


_TOOLS: dict[str, Tool] = {
    "leader-set": _leader_set,
    "payload-register": _payload_register,
    "payload-unregister": _payload_unregister,
    "payload-status-set": _payload_status_set,
}
