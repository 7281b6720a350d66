"""agree, agreements: charms have no terms any more. Mirrors: juju cmd/juju/terms (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal
from pushjuju.cli.work import session


@command(
    "agree",
    usage="<term> ...",
    summary="Agree to terms.",
    at_least=(1, "missing arguments"),
    flags=(*flags.CONTROLLER, *flags.LOGIN, flags.switch("yes", "Agree to terms non interactively")),
    details="No charm asks for terms any more. With --yes there is nothing to agree to, and that is said.",
)
def agree(cli: Cli, args: tuple[str, ...], *, controller: str, yes: bool) -> None:
    """Say that there are no terms."""
    del args
    _check(cli, controller)
    if not yes:
        raise refusal("agree", "no charm asks for terms any more")
    cli.console.info("There are no terms to agree to.")


@command(
    "agreements",
    summary="List user's agreements.",
    aliases=("list-agreements",),
    at_most=0,
    formats=("tabular", "json", "yaml"),
    flags=(*flags.CONTROLLER, *flags.LOGIN),
)
def agreements(cli: Cli, _args: tuple[str, ...], *, controller: str) -> None:
    """List no agreements."""
    _check(cli, controller)
    cli.output.write([], {"tabular": lambda _document: ""})
    if cli.output.form == "tabular":
        cli.console.info("No agreements to display.")


def _check(cli: Cli, controller: str) -> None:
    """Refuse a controller that is not there, though nothing is asked of it."""
    if controller:
        session.open_controller(cli, controller)
