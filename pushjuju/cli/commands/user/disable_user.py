"""disable-user: disables a Juju user. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.user import users


@command(
    "disable-user",
    usage="<user name>",
    summary="Disables a Juju user.",
    at_least=(1, "no username supplied"),
    at_most=1,
    flags=flags.AT_CONTROLLER,
    examples="    pushjuju disable-user bob\n",
    see_also=("users", "enable-user", "remove-user"),
)
def disable_user(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    users.set_enabled(session.open_controller(cli, controller), args[0], enabled=False)
    cli.console.info(f'User "{args[0]}" disabled')
