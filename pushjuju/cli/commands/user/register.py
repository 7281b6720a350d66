"""register: adds a controller of another computer. Mirrors: juju cmd/juju/controller/register.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.questions import Asking
from pushjuju.cli.work import logins, session
from pushjuju.client import accounts, registration
from pushjuju.core.errors import AlreadyExists
from pushjuju.core.names import is_controller


@command(
    "register",
    usage="<registration string>",
    summary="Registers a controller of another computer.",
    at_least=(1, "registration data missing"),
    at_most=1,
    flags=(*flags.LOGIN, flags.switch("replace", "Replace a registered controller with the same name")),
    details="The registration string is what `add-user` printed on the host of the controller. The API must\n"
    "be served there (see `api`). The command asks for a name of the controller and for a new password,\n"
    "and keeps both in the data directory, in a file that only you can read. Without a terminal, the\n"
    "command reads the name and twice the password from the standard input, a line each.",
    examples="    pushjuju register MFATA3JvZDAnExMxMDQuMTU0LjQy...\n",
    see_also=("login", "logout", "unregister", "add-user"),
)
def register(cli: Cli, args: tuple[str, ...], *, replace: bool) -> None:
    invitation = registration.read(args[0])
    asking = Asking(cli.console.stdin, cli.console.stderr)
    name = asking.enter_default("a name for this controller", invitation.controller, _name_fault)
    name = name or invitation.controller
    _require_free(cli, name, replace=replace)
    account = registration.register(invitation, name, logins.new_password(asking))
    accounts.save(session.data_dir(cli), account)  # the password is set now, whatever comes next
    logins.log_in(cli, account)


def _name_fault(text: str) -> str | None:
    return None if is_controller(text) else f'"{text}" is not a valid controller name'


def _require_free(cli: Cli, name: str, *, replace: bool) -> None:
    """Refuse the name of another controller, before the registration string is used up."""
    folder = session.data_dir(cli)
    if name in folder.controllers() or (folder.is_remote(name) and not replace):
        raise AlreadyExists(
            f'controller "{name}" already exists',
            hint="choose another name, or --replace a controller that was registered before",
        )
