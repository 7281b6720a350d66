"""Log lines as JSON, one object a line, for the processes that a service manager keeps running.

The names of the fields are those of OpenTelemetry's log records.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from pushjuju.core.clock import Clock, to_iso
from pushjuju.core.errors import UsageError
from pushjuju.core.names import of_tag
from pushjuju.portable.jsontext import compact
from pushjuju.portable.names import is_unit
from pushjuju.workers.events import PLACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pushjuju.services.views.listings.log_selection import Record
    from pushjuju.workers.events import Event

VARIABLE = "PUSHJUJU_LOG_FORMAT"
FORMATS = ("text", "json")
_NUMBERS = {"TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
_SEVERITIES = {"WARNING": "WARN", "CRITICAL": "FATAL"}  # Juju's level -> OpenTelemetry's text
_LOGGER = "pushjuju"
_PRIORITIES = {"DEBUG": 7, "INFO": 6, "WARN": 4, "ERROR": 3}  # for the journal of systemd, see sd-daemon(3)


def is_wanted(chosen: str, env: Mapping[str, str]) -> bool:
    """Return True when the flag, or without a flag the environment, asks for JSON."""
    form = chosen or env.get(VARIABLE) or "text"
    if form not in FORMATS:
        raise UsageError(f'log format "{form}" is not one of {", ".join(FORMATS)}')
    return form == "json"


def record_line(record: Record, model: str) -> str:
    """Return a record of the log of a model as a line of JSON, with its newline."""
    kind, name = of_tag(record.entity)
    fields = {kind: name} if kind in ("machine", "unit", "application") else {}
    severity = _SEVERITIES.get(record.level, record.level)
    return _line(
        record.time, severity, record.message, logger=record.module, model=model, **fields,
        location=record.location, labels=record.labels,
    )  # fmt: skip


def _line(timestamp: str, severity: str, body: str, **fields: str) -> str:
    line = {
        "timestamp": timestamp,
        "severity_text": severity,
        "severity_number": _NUMBERS.get(severity, 0),
        "body": body,
        **{name: value for name, value in fields.items() if value},
    }
    return f"{compact(line)}\n"


class JsonLog:
    """Writes log lines to a stream."""

    def __init__(self, stream: TextIO, clock: Clock, *, priorities: bool = False) -> None:
        """Write to a stream; with `priorities`, each line begins with its priority, for the journal."""
        self._stream = stream
        self._clock = clock
        self._priorities = priorities

    def write(self, severity: str, body: str, **fields: str) -> None:
        """Write a line of severity DEBUG, INFO, WARN or ERROR; fields with empty values are left out."""
        text = _line(to_iso(self._clock.now()), severity, body, logger=_LOGGER, **fields)
        self._stream.write(with_priority(text, severity) if self._priorities else text)
        self._stream.flush()

    def report(self, event: Event) -> None:
        """Write a step of the work, with model, machine, unit, operation and span as fields."""
        kind, _, name = event.entity.partition(" ")
        unit = event.entity if is_unit(event.entity) else ""
        machine = name if kind == "machine" else event.parent.removeprefix("machine ")
        severity = "DEBUG" if event.line else "ERROR" if event.state == "failed" else "INFO"
        body = event.line or event.text or event.state
        trace, span = PLACE.get()
        self.write(
            severity, body, model=event.model, machine=machine, unit=unit, operation=event.operation,
            trace_id=trace, span_id=span,
        )  # fmt: skip


def goes_to_journal(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Return True when a stream goes to the journal: `JOURNAL_STREAM` has its device and inode, `8:1234`."""
    wanted = env.get("JOURNAL_STREAM", "")
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stream without a file
        return False
    return wanted == f"{found.st_dev}:{found.st_ino}"


def with_priority(text: str, severity: str) -> str:
    """Return text whose lines have the priority of a severity: `DEBUG`, `INFO`, `WARN` or `ERROR`."""
    return "".join(f"<{_PRIORITIES[severity]}>{line}" for line in text.splitlines(keepends=True))
