"""add-user: adds a Juju user to a controller. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.user.invitations import warn_of_reach
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.user import registration_string, users


@command(
    "add-user",
    usage="<user name> [<display name>]",
    summary="Adds a Juju user to a controller.",
    at_least=(1, "no username supplied"),
    at_most=2,
    flags=flags.AT_CONTROLLER,
    details="The user is recorded. With the line that is printed the user registers on another computer and\n"
    "chooses a password, while the API is served here (see `api`). `change-user-password` sets a password\n"
    "here, and `grant` gives access.",
    examples="    pushjuju add-user bob\n    pushjuju add-user bob 'Bob Brown'\n",
    see_also=("users", "show-user", "grant", "disable-user", "remove-user"),
)
def add_user(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    ctx = session.open_controller(cli, controller)
    name, display = args[0], args[1] if len(args) > 1 else ""
    key = users.add(ctx, name, display)
    invitation = registration_string.with_key(ctx, name, key)
    tell_added(cli, name, display, invitation)


def tell_added(cli: Cli, name: str, display: str, invitation: registration_string.Invitation) -> None:
    """Print the line with which a new user registers."""
    shown = f"{display} ({name})" if display else name
    cli.output.text(
        f'User "{shown}" added\n'
        f"Please send this command to {name}:\n"
        f"    {cli.program} register {invitation.text}\n\n"
        f'"{shown}" has not been granted access to any models. '
        'You can use "pushjuju grant" to grant access.\n'
    )
    warn_of_reach(cli, invitation, name)
