"""agree: agree to terms. Mirrors: juju cmd/juju/terms (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.charm import list_agreements
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal


@command(
    "agree",
    usage="<term> ...",
    summary="Agree to terms.",
    at_least=(1, "missing arguments"),
    flags=(*flags.AT_CONTROLLER, flags.switch("yes", "Agree to terms non interactively")),
    details="No charm asks for terms any more: the command changes nothing.",
)
def agree(cli: Cli, args: tuple[str, ...], *, controller: str, yes: bool) -> None:
    """Print that there are no terms."""
    del args
    list_agreements.check_term(cli, controller)
    if not yes:
        raise refusal("agree", "no charm asks for terms any more")
    cli.console.info("There are no terms to agree to.")
