"""Formats times as Juju does. Pure: moments have a time zone, the present moment is an argument.

Mirrors: juju cmd/juju/common/format.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from pushjuju.core.errors import UsageError
from pushjuju.portable.quote import bool_of

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def wants_utc(env: Mapping[str, str], *, flag: bool) -> bool:
    """Return True when the user wants times in UTC, by `--utc` or `JUJU_STATUS_ISO_TIME`."""
    word = env.get("JUJU_STATUS_ISO_TIME", "")
    wanted = bool_of(word) if word else False
    if wanted is None:
        raise UsageError("invalid JUJU_STATUS_ISO_TIME env var, expected true|false")
    return flag or wanted


def since_text(moment: datetime, *, utc: bool) -> str:
    """Return `01 Mar 2025 09:12:44Z` in local time, or `2025-03-01 09:12:44Z`."""
    if utc:
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
    local = moment.astimezone()
    # not strftime's %b, which depends on the locale
    return f"{local:%d} {_MONTHS[local.month - 1]} {local:%Y %H:%M:%S}{_zone(local)}"


def clock_text(moment: datetime, *, utc: bool) -> str:
    """Return `09:12:44Z` in local time, or `09:12:44` in UTC."""
    if utc:
        return f"{moment.astimezone(UTC):%H:%M:%S}"
    local = moment.astimezone()
    return f"{local:%H:%M:%S}{_zone(local)}"


def _zone(moment: datetime) -> str:
    offset = moment.utcoffset()
    if not offset:
        return "Z"
    minutes = int(offset.total_seconds()) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def rfc3339(moment: datetime, *, utc: bool = True) -> str:
    """Return `2025-03-01T09:12:44Z`."""
    shown = moment.astimezone(UTC) if utc else moment.astimezone()
    return f"{shown:%Y-%m-%dT%H:%M:%S}{_zone(shown)}"


def friendly(moment: datetime | None, now: datetime, *, never: str = "never connected") -> str:
    """Return `just now` or `5 minutes ago`; for a moment more than a day ago, its day."""
    if moment is None:
        return never
    seconds = int((now - moment).total_seconds())
    if seconds < 2:
        return "just now"
    if seconds >= 24 * 3600:
        return f"{moment.astimezone():%Y-%m-%d}"
    for size, word in ((3600, "hour"), (60, "minute"), (1, "second")):
        count = seconds // size
        if count:
            return f"{count} {word}{'s' if count > 1 else ''} ago"
    return "just now"


def with_texts(document: Any, text: Callable[[datetime], str]) -> Any:
    """Return a copy of a document with every moment replaced by its text."""
    if isinstance(document, dict):
        return {key: with_texts(value, text) for key, value in document.items()}
    if isinstance(document, list):
        return [with_texts(item, text) for item in document]
    return text(document) if isinstance(document, datetime) else document


def stored_text(*, utc: bool) -> Callable[[str], str]:
    """Return a function that turns a time of the store into its text in `status`.

    The function keeps the text of each minute and changes only the seconds: no zone changes within a minute.
    """
    minutes: dict[str, tuple[str, str]] = {}

    def text(stored: str) -> str:
        minute, seconds = stored[:16], stored[17:19]
        found = minutes.get(minute)
        if found is None:
            shown = since_text(datetime.fromisoformat(f"{minute}:00Z"), utc=utc)
            at = shown.index(":", shown.index(":") + 1) + 1
            found = minutes[minute] = (shown[:at], shown[at + 2 :])
        return f"{found[0]}{seconds}{found[1]}"

    return text


def log_line(line: Mapping[str, Any], *, utc: bool) -> str:
    """Return a progress message of an action as `09:12:44 message`."""
    moment: datetime = line["time"]
    shown = moment.astimezone(UTC) if utc else moment.astimezone()
    return f"{shown:%H:%M:%S} {line['message']}"
