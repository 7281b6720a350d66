"""Names of terms."""

from __future__ import annotations

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session


def check_term(cli: Cli, controller: str) -> None:
    """Refuse a controller that is not there, though nothing is asked of it."""
    if controller:
        session.open_controller(cli, controller)
