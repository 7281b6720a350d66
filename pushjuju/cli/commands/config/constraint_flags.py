"""What the commands about constraints share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session

FORMATS = ("constraints", "yaml", "json")

DETAILS = (
    "Machines that are there stay as they are. Everything that was set before is replaced; an empty value\n"
    "(mem=) keeps what the model says from counting."
)


def check_change(cli: Cli, opened: session.Session, options: Mapping[str, Any], what: str) -> None:
    if options:
        from pushjuju.workers.provision.precheck import check_constraints

        check_constraints(opened.ctx, opened.uuid, options, what=what, warn=cli.console.warn)
