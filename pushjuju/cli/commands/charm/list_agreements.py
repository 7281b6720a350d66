"""agreements: list user's agreements. Mirrors: juju cmd/juju/terms (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session


@command(
    "agreements",
    summary="List user's agreements.",
    aliases=("list-agreements",),
    at_most=0,
    formats=("tabular", "json", "yaml"),
    flags=flags.AT_CONTROLLER,
)
def agreements(cli: Cli, _args: tuple[str, ...], *, controller: str) -> None:
    """Print that there are no agreements."""
    check_term(cli, controller)
    cli.output.write([], {"tabular": lambda _document: ""})
    if cli.output.form == "tabular":
        cli.console.info("No agreements to display.")


def check_term(cli: Cli, controller: str) -> None:
    """Refuse an unknown controller, although the commands about terms do not use the controller."""
    if controller:
        session.open_controller(cli, controller)
