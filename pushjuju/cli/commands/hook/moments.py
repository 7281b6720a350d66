"""Parses `--since` and `--until`. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pushjuju.core.errors import UsageError
from pushjuju.portable.durations import parse_duration
from pushjuju.portable.quote import quote


def moment(text: str, now: datetime, flag: str = "since") -> datetime:
    """Parse a flag's value: a duration back from now, or a time, local unless it has a zone."""
    try:
        return now - timedelta(seconds=abs(parse_duration(text)))
    except (ValueError, OverflowError):
        pass
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        wanted = "a duration like 2h30m or a time like 2025-03-01T09:12"
        raise UsageError(f"invalid value {quote(text)} for option --{flag}: {wanted} expected") from error
