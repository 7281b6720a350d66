"""Prepares documents of users."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.times import friendly, rfc3339

EXACT_TIME = flags.switch("exact-time", "Use full timestamp for connection times")

_NEVER = "never connected"


def user_document(cli: Cli, entry: dict[str, Any], *, exact: bool) -> dict[str, object]:
    """Return a user's document with its moments as texts."""
    now = cli.clock.now()

    def text(moment: datetime | None) -> str:
        if moment is None:
            return _NEVER
        return rfc3339(moment) if exact else friendly(moment, now)

    times = ("date-created", "last-connection")  # external users have no connection times
    return {key: text(value) if key in times else value for key, value in entry.items()}
