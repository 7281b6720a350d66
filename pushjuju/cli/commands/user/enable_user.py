"""enable-user: re-enables a previously disabled Juju user. Mirrors: juju cmd/juju/user (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.user import users


@command(
    "enable-user",
    usage="<user name>",
    summary="Re-enables a previously disabled Juju user.",
    at_least=(1, "no username supplied"),
    at_most=1,
    flags=flags.AT_CONTROLLER,
    examples="    pushjuju enable-user bob\n",
    see_also=("users", "disable-user", "login"),
)
def enable_user(cli: Cli, args: tuple[str, ...], *, controller: str) -> None:
    users.set_enabled(session.open_controller(cli, controller), args[0], enabled=True)
    cli.console.info(f'User "{args[0]}" enabled')
