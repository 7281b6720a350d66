"""The command add-secret-backend. Mirrors: juju cmd/juju/secretbackends (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.secret.backend_settings import CONFIG, settings_of_file, settings_of_words
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.secret import backends


@command(
    "add-secret-backend",
    usage="<backend-name> <backend-type> [<key>=<value> ...]",
    summary="Add a new secret backend to the controller.",
    flags=(*flags.CONTROLLER, CONFIG, flags.text("import-id", "Add the backend with the specified ID")),
    details="Values on the command line win over those of the file, but others on this computer can see\n"
    "them: put a token into the file. `model-config secret-backend=NAME` makes a model use the\n"
    "backend.",
    examples="    pushjuju add-secret-backend myvault vault --config /path/to/cfg.yaml\n",
    see_also=("secret-backends", "update-secret-backend", "remove-secret-backend"),
)
def add_backend(cli: Cli, args: tuple[str, ...], *, controller: str, config: str, import_id: str) -> None:
    if len(args) < 2:
        raise UsageError("must specify backend name and type")
    given = settings_of_words(args[2:])
    if not given and not config:
        raise UsageError("must specify a config file or key values")
    ctx = session.open_controller(cli, controller)
    found = {**settings_of_file(cli, config), **given}
    backends.add(ctx, scope.host(cli), args[0], args[1], found, number=import_id)
