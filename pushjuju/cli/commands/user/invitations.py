"""The lines that commands print beside a registration string."""

from __future__ import annotations

from pushjuju.cli.syntax.command import Cli
from pushjuju.services.requests.user import registration_string


def warn_of_reach(cli: Cli, invitation: registration_string.Invitation, name: str) -> None:
    """Print what a registration string still needs, and which command to use instead."""
    if not invitation.reachable:
        cli.console.info(
            f"The line has no address: serve the API with `{cli.program} api`, then "
            f"`{cli.program} change-user-password {name} --reset` prints another."
        )
