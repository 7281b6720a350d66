"""The command change-user-password. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user.user_registration import NO_USE, registration
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.refusing import refusal
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.services.views.listings import users as user_documents

_NO_SERVER = "there is no server that asks for a password: who may read the data directory is admin"


@command(
    "change-user-password",
    usage="[username]",
    summary="Changes the password for the current or specified Juju user.",
    at_most=1,
    flags=(
        *flags.CONTROLLER,
        flags.switch("reset", "Reset user password: makes a new registration string"),
        flags.switch("no-prompt", "There is no password to read: of no use", void=True),
    ),
    details="There is no server that asks for a password: only --reset has a meaning.",
    see_also=("add-user", "login"),
)
def change_user_password(cli: Cli, args: tuple[str, ...], *, controller: str, reset: bool) -> None:
    """Make a new registration string; a password cannot be set."""
    if not reset:
        raise refusal("change-user-password", _NO_SERVER)
    if not args:
        raise UsageError("no username supplied")
    ctx = session.open_controller(cli, controller)
    user_documents.document(ctx, args[0])
    if args[0] == ctx.user:
        raise NotFound(f"{args[0]} works this controller and has no password")
    cli.console.info(f'Password for "{args[0]}" has been reset.')
    cli.console.info(f"Ask the user to run:\n    {cli.program} register {registration(ctx, args[0])}")
    cli.console.info(NO_USE.format(name=args[0]))
