"""Formats `users` and `show-user`. Pure. Mirrors: juju cmd/juju/user/{list,info}.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.paint import GREEN, paint
from pushjuju.cli.terminal.shapes import struct, structured
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.terminal.times import friendly, rfc3339

EXACT_TIME = flags.switch("exact-time", "Use full timestamp for connection times")
_NEVER = "never connected"


def formatters(*, controller: str, user: str, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats a list of users."""
    return {
        "tabular": lambda listed: f"Controller: {controller}\n\n{_table(listed, user, colour=colour)}",
        **structured("[leaf"),
    }


def _table(listed: Sequence[Mapping[str, Any]], user: str, *, colour: bool) -> str:
    table = TabWriter("Name", "Display name", "Access", "Date created", "Last connection", colour=colour)
    for item in listed:
        table.row(
            _name(item["user-name"], user),
            item.get("display-name", ""),
            item["access"],
            item["date-created"],
            item["last-connection"] + (" (disabled)" if item.get("disabled") else ""),
        )
    return table.text()


def _name(name: str, user: str) -> str:
    return paint(f"{name}*", GREEN) if name == user else name


def model_formatters(*, user: str, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats the users of a model (name -> user)."""
    return {"tabular": lambda named: _model_table(named, user, colour=colour), **structured("*leaf")}


def _model_table(named: Mapping[str, Mapping[str, Any]], user: str, *, colour: bool) -> str:
    table = TabWriter("Name", "Display name", "Access", "Last connection", colour=colour)
    for name, item in sorted(named.items()):
        cells = (item.get("display-name", ""), item["access"], item["last-connection"])
        table.row(_name(name, user), *cells)
    return table.text()


def one(form: str, entry: Mapping[str, Any]) -> str:
    """Return a user as yaml or json."""
    return render(form, struct(entry))


def user_document(cli: Cli, entry: dict[str, Any], *, exact: bool) -> dict[str, object]:
    """Return a user's document with its moments as texts."""
    now = cli.clock.now()

    def text(moment: datetime | None) -> str:
        if moment is None:
            return _NEVER
        return rfc3339(moment) if exact else friendly(moment, now)

    times = ("date-created", "last-connection")  # external users have no connection times
    return {key: text(value) if key in times else value for key, value in entry.items()}
