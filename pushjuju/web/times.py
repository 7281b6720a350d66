"""Times on the wire: RFC 3339 in UTC with `Z`. Mirrors: Go time.Time's JSON"""

from __future__ import annotations

from datetime import UTC, datetime

NEVER = "0001-01-01T00:00:00Z"


def text(moment: datetime) -> str:
    """Return a moment in the form of the wire."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def stored(since: str) -> str:
    """Return a time of the store in the form of the wire, which is the form of the store."""
    return since
