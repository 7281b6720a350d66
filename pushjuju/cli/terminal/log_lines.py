"""Formats log records as the lines that `debug-log` shows. Pure.

Mirrors: juju cmd/juju/commands/debuglog.go (3.6)
"""

from __future__ import annotations

from functools import lru_cache

from pushjuju.cli.terminal.paint import CYAN, GRAY, GREEN, RED, YELLOW, escape, paint
from pushjuju.core.clock import from_iso
from pushjuju.core.values import dataclass
from pushjuju.services.views.listings.log_selection import Record

_COLOURS = {"WARNING": YELLOW, "ERROR": RED, "CRITICAL": RED, "INFO": GREEN, "DEBUG": GREEN, "TRACE": GREEN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How to format a log line."""

    date: bool = False
    milliseconds: bool = False
    utc: bool = False
    location: bool = False
    colour: bool = False


def line(record: Record, look: Look) -> str:
    """Return a record as a line, without newline.

    Further lines of the message are indented, so that they do not look like other records.
    """

    def shown(text: str, colour: str) -> str:
        return escape(paint(text, colour)) if look.colour else text

    parts = [
        f"{shown(record.entity, CYAN)}:",
        time_text(record.time, look),
        shown(record.level, _COLOURS.get(record.level, "")),
        record.module,
    ]
    if look.location and record.location:
        parts.append(shown(record.location, GRAY))
    if record.labels:
        parts.append(record.labels)
    return " ".join((*parts, record.message.replace("\n", "\n    ")))


def time_text(time: str, look: Look) -> str:
    """Return the time of a record as text; the store keeps UTC with microseconds."""
    text = _second(time[:19], date=look.date, utc=look.utc)
    return f"{text}.{time[20:23]}" if look.milliseconds else text


@lru_cache(maxsize=256)  # records come in order, so many follow within the same second
def _second(time: str, *, date: bool, utc: bool) -> str:
    moment = from_iso(f"{time}Z")
    shown = moment if utc else moment.astimezone()
    return f"{shown:%Y-%m-%d %H:%M:%S}" if date else f"{shown:%H:%M:%S}"
