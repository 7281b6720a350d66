"""The command change-user-password. Mirrors: juju cmd/juju/user/change_password.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user.invitations import warn_of_reach
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking
from pushjuju.cli.work import logins, session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.user import passwords, registration_string
from pushjuju.services.views.listings import users as user_documents


@command(
    "change-user-password",
    usage="[username]",
    summary="Changes the password for the current or specified Juju user.",
    at_most=1,
    flags=(
        *flags.CONTROLLER,
        flags.switch("reset", "Reset user password: the user cannot log in until a new password is set"),
        flags.switch("no-prompt", "Read the new password from the standard input, without a question"),
    ),
    details="With this password the user logs in to the API (see `api`). A user who can read the data\n"
    "directory needs no password on this computer. Open connections of the user end.",
    examples="    pushjuju change-user-password\n    pushjuju change-user-password bob\n",
    see_also=("add-user", "api", "login"),
)
def change_user_password(
    cli: Cli, args: tuple[str, ...], *, controller: str, reset: bool, no_prompt: bool
) -> None:
    if reset and not args:
        raise UsageError("no username supplied")
    ctx = session.open_controller(cli, controller)
    name = args[0] if args else ctx.user
    user_documents.document(ctx, name)
    if not reset:
        passwords.set_password(ctx, name, read_password(cli, prompt=not no_prompt))
        yours = "Your password" if name == ctx.user else f'Password for "{name}"'
        cli.console.info(f"{yours} has been changed.")
        return None
    invitation = registration_string.invite(ctx, name)
    return tell_reset(cli, name, invitation)


def tell_reset(cli: Cli, name: str, invitation: registration_string.Invitation) -> None:
    """Print the line with which a user chooses another password."""
    cli.console.info(f'Password for "{name}" has been reset.')
    cli.console.info(f"Ask the user to run:\n    {cli.program} register {invitation.text}")
    warn_of_reach(cli, invitation, name)


def read_password(cli: Cli, *, prompt: bool) -> str:
    """Return the new password that the user types."""
    if not prompt:
        return cli.console.stdin.readline().rstrip("\n")
    return logins.new_password(Asking(cli.console.stdin, cli.console.stderr))
