"""Times on the wire: RFC 3339 in UTC with `Z`. Mirrors: Go time.Time's JSON"""

from __future__ import annotations

from datetime import UTC, datetime

from pushjuju.core.errors import NotValid

NEVER = "0001-01-01T00:00:00Z"


def text(moment: datetime) -> str:
    """Return a moment in the form of the wire."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read(text: str) -> datetime:
    """Read a time of the wire; raise NotValid when the text is not a time with its zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise NotValid(f'"{text[:40]}" is not a valid time in RFC3339 format')
    return found
