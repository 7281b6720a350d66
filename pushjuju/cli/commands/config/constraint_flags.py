"""What the commands for constraints share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.syntax.command import Cli
from pushjuju.services.entities.model import sessions
from pushjuju.workers.provision import precheck

FORMATS = ("constraints", "yaml", "json")

DETAILS = (
    "Machines that exist stay as they are. The new constraints replace all earlier ones; an empty value\n"
    "(mem=) overrides the constraint of the model."
)


def check_change(cli: Cli, opened: sessions.Session, asked: Mapping[str, Any], what: str) -> None:
    """Check new constraints against what the cloud can fulfil."""
    if asked:
        precheck.check_constraints(opened.ctx, opened.uuid, asked, what=what, warn=cli.console.warn)
