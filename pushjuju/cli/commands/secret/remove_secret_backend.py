"""The command remove-secret-backend. Mirrors: juju cmd/juju/secretbackends (3.6)"""

from __future__ import annotations

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.services.requests.secret import backends


@command(
    "remove-secret-backend",
    usage="<backend-name>",
    summary="Removes a secret backend from the controller.",
    at_least=(1, "must specify backend name"),
    at_most=1,
    flags=(*flags.CONTROLLER, flags.switch("force", "Force removal even if the backend stores secrets")),
    details="With --force, secrets in the backend cannot be read any more.",
    see_also=("secret-backends",),
)
def remove_backend(cli: Cli, args: tuple[str, ...], *, controller: str, force: bool) -> None:
    backends.remove(session.open_controller(cli, controller), args[0], force=force)
