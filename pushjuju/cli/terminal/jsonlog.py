"""Log lines as JSON, one object a line, for the processes that a service manager keeps running.

The names of the fields are those of OpenTelemetry's log records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from pushjuju.core.clock import Clock, to_iso
from pushjuju.core.errors import UsageError
from pushjuju.portable.jsontext import compact
from pushjuju.portable.names import is_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pushjuju.workers.events import Event

VARIABLE = "PUSHJUJU_LOG_FORMAT"
FORMATS = ("text", "json")
_NUMBERS = {"DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17}
_LOGGER = "pushjuju"


def is_wanted(chosen: str, env: Mapping[str, str]) -> bool:
    """Return True when the flag, or without a flag the environment, asks for JSON.

    Raises:
        UsageError: The format is neither `text` nor `json`.
    """
    form = chosen or env.get(VARIABLE) or "text"
    if form not in FORMATS:
        raise UsageError(f'log format "{form}" is not one of {", ".join(FORMATS)}')
    return form == "json"


class JsonLog:
    """Writes log lines to a stream."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock

    def write(self, severity: str, body: str, **fields: str) -> None:
        """Write a line; fields with empty values are left out.

        Args:
            severity: `DEBUG`, `INFO`, `WARN` or `ERROR`.
        """
        line = {
            "timestamp": to_iso(self._clock.now()),
            "severity_text": severity,
            "severity_number": _NUMBERS[severity],
            "body": body,
            "logger": _LOGGER,
            **{name: value for name, value in fields.items() if value},
        }
        self._stream.write(f"{compact(line)}\n")
        self._stream.flush()

    def report(self, event: Event) -> None:
        """Write a step of the work, with model, machine and unit as fields."""
        kind, _, name = event.entity.partition(" ")
        unit = event.entity if is_unit(event.entity) else ""
        machine = name if kind == "machine" else event.parent.removeprefix("machine ")
        severity = "DEBUG" if event.line else "ERROR" if event.state == "failed" else "INFO"
        body = event.line or event.text or event.state
        self.write(severity, body, model=event.model, machine=machine, unit=unit)
