"""The command update-secret-backend. Mirrors: juju cmd/juju/secretbackends (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.commands.secret.backend_settings import CONFIG, settings_of_file, settings_of_words
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, scope, session
from pushjuju.core.errors import UsageError
from pushjuju.services.requests.secret import backends


@command(
    "update-secret-backend",
    usage="<backend-name> [<key>=<value> ...]",
    summary="Update an existing secret backend on the controller.",
    flags=(
        *flags.CONTROLLER,
        CONFIG,
        flags.many("reset", "Reset the provided comma delimited config keys"),
        flags.switch("force", "Force update even if the backend is unreachable"),
    ),
    examples="    pushjuju update-secret-backend myvault --config /path/to/cfg.yaml\n",
    see_also=("add-secret-backend", "show-secret-backend"),
)
def update_backend(
    cli: Cli, args: tuple[str, ...], *, controller: str, config: str, reset: Sequence[str], force: bool
) -> None:
    if not args:
        raise UsageError("must specify backend name")
    gone = [key.strip() for text in reset for key in text.split(",") if key.strip()]
    given = {key: value for key, value in settings_of_words(args[1:]).items() if key not in gone}
    if not (given or gone or config):
        raise UsageError("must specify a config file or key/reset values")
    ctx = session.open_controller(cli, controller)
    backends.update(
        ctx, scope.host(cli), args[0], {**settings_of_file(cli, config), **given}, gone, force=force
    )
    drive.background(cli, ctx)  # units that waited for the backend go on
