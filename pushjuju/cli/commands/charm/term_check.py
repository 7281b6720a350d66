"""Checks the controller of the commands about terms."""

from __future__ import annotations

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.work import session


def check_term(cli: Cli, controller: str) -> None:
    """Refuse an unknown controller, although the command does not use the controller."""
    if controller:
        session.open_controller(cli, controller)
