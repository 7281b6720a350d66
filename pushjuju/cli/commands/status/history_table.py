"""Formats `show-status-log`. Pure. Mirrors: juju cmd/juju/status/history.go (3.6)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.paint import paint_status
from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter
from pushjuju.cli.terminal.times import rfc3339, since_text
from pushjuju.portable.gotypes import Moment, Struct


class Entry(Protocol):
    """One status of a history."""

    @property
    def kind(self) -> str:
        """The kind of the status: `workload`, `juju-unit`, ..."""
        ...

    @property
    def status(self) -> str:
        """The status word."""
        ...

    @property
    def message(self) -> str:
        """The message; may be empty."""
        ...

    @property
    def data(self) -> Mapping[str, Any]:
        """The status data; may be empty."""
        ...

    @property
    def since(self) -> datetime:
        """When the status was set."""
        ...


def formatters(*, utc: bool, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats history entries, oldest first."""
    return {
        "tabular": lambda entries: table(entries, utc=utc, colour=colour),
        "yaml": lambda entries: render("yaml", documents(entries)),
        "json": lambda entries: render("json", documents(entries)),
    }


def table(entries: Iterable[Entry], *, utc: bool, colour: bool = False) -> str:
    """Return the table of the entries."""
    writer = TabWriter(colour=colour)
    writer.row(*heads("Time", "Type", "Status", "Message"))
    for entry in entries:
        writer.row(since_text(entry.since, utc=utc), entry.kind, paint_status(entry.status), entry.message)
    return writer.text()


def documents(entries: Iterable[Entry]) -> list[dict[str, object]]:
    """Return the entries in the form of yaml and json."""
    found: list[dict[str, object]] = []
    for entry in entries:
        fields = {
            "status": entry.status,
            "message": entry.message,
            "data": dict(entry.data),
            "since": Moment(rfc3339(entry.since)),
            "type": entry.kind,
        }
        found.append(Struct((key, value) for key, value in fields.items() if value))
    return found
