"""Formats times in the documents of models."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.times import friendly, rfc3339, with_texts


def with_times(cli: Cli, document: dict[str, object], *, exact: bool = False) -> dict[str, object]:
    """Return a document with its moments as texts: relative to now, or exact."""
    now = cli.clock.now()

    def text(moment: datetime) -> str:
        return rfc3339(moment) if exact else friendly(moment, now)

    _say_never(document)
    shown: dict[str, object] = with_texts(document, text)
    return shown


def _say_never(document: dict[str, Any]) -> None:
    """Write Juju's text for users who never connected."""
    for model in document.get("models", document.values()):
        for entry in (model, *model.get("users", {}).values()) if isinstance(model, dict) else ():
            if "last-connection" in entry and entry["last-connection"] is None:
                entry["last-connection"] = "never connected"
