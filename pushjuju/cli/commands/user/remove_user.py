"""remove-user: deletes a Juju user from a controller. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.user import users

_REMOVAL = """\
WARNING! This command will permanently archive the user {user} on the {controller}
controller. This action is irreversible. If you wish to temporarily disable the
user please use the "pushjuju disable-user" command. See
"pushjuju help disable-user" for more details.

"""


@command(
    "remove-user",
    usage="<user name>",
    summary="Deletes a Juju user from a controller.",
    at_least=(1, "no username supplied"),
    at_most=1,
    flags=(*flags.AT_CONTROLLER, flags.switch("yes", "Confirm deletion of the user", short="y")),
    examples="    pushjuju remove-user bob\n    pushjuju remove-user bob --yes\n",
    see_also=("users", "disable-user", "enable-user"),
)
def remove_user(cli: Cli, args: tuple[str, ...], *, controller: str, yes: bool) -> None:
    ctx, name = session.open_controller(cli, controller), args[0]
    users.require(ctx, name)
    if not yes:
        ask(cli, name, ctx.controller.name)
    users.remove(ctx, name)
    cli.output.text(f'User "{name}" removed\n')


def ask(cli: Cli, name: str, controller: str) -> None:
    """Ask the user whether to remove a user of a controller."""
    cli.output.text(_REMOVAL.format(user=f'"{name}"', controller=f'"{controller}"'))
    cli.console.confirm("Continue [y/N]? ", what="user removal")
