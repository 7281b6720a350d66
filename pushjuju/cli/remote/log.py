"""debug-log of a model on another computer."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pushjuju.cli.commands.status import debug_log as local
from pushjuju.cli.remote.call import Call
from pushjuju.client.connection import Connection
from pushjuju.services.views.listings.log_selection import Selection

_NAMES = {
    "include": "includeEntity", "exclude": "excludeEntity", "include_module": "includeModule",
    "exclude_module": "excludeModule", "include_label": "includeLabel", "exclude_label": "excludeLabel",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the log, as `log_selection.Record`."""

    time: str
    entity: str
    level: str
    module: str
    location: str
    labels: str
    message: str


def debug_log(call: Call) -> None:
    """Show the log of the model, and follow it."""
    amount = local.amount_of(call.cli, call.flags)
    query = _query(local.selection_of(call.flags), amount)
    call.cli.on_interrupt = "Following ended."
    with call.target.opened() as (connection, _):
        connection.run(_show(call, connection, query))


async def _show(call: Call, connection: Connection, query: list[tuple[str, str]]) -> None:
    shown = local.written(call.cli, call.flags, connection.model)
    frames = connection.messages(f"/model/{connection.model}/log", query)
    async with aclosing(frames):  # an error in a frame ends the stream's connection, too
        async for frame in frames:
            connection.require(frame)
            if frame:
                call.cli.output.text(shown(_line(frame)))


def _query(selection: Selection, amount: local.Amount) -> list[tuple[str, str]]:
    found = [(name, text) for key, name in _NAMES.items() for text in getattr(selection, key)]
    found += [("level", selection.level), ("maxLines", str(amount.limit))]
    found += [("replay", "true")] if amount.backlog is None else [("backlog", str(amount.backlog))]
    return [*found, ("noTail", str(not amount.follow).lower())]


def _line(frame: dict[str, Any]) -> Line:
    return Line(
        time=str(frame.get("ts", "")),
        entity=str(frame.get("tag", "")),
        level=str(frame.get("sev", "")),
        module=str(frame.get("mod", "")),
        location=str(frame.get("loc", "")),
        labels=",".join(frame.get("lab") or ()),
        message=str(frame.get("msg", "")),
    )
