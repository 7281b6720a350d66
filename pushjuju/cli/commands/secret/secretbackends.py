"""secret-backends and show-, add-, update-, remove-secret-backend.

Mirrors: juju cmd/juju/secretbackends (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.cli.commands.secret import secret_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.syntax.gnuflag import FlagSpec, Kind
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotValid, UsageError
from pushjuju.plugins.manager import PluginHost
from pushjuju.portable.quote import quote, quote_list
from pushjuju.services.entities.secret import secret_backends as service

_REVEAL = flags.switch("reveal", "Include sensitive backend config content")
_CONFIG = FlagSpec(
    name="config", kind=Kind.PATH, default="", help="Path to yaml-formatted configuration file"
)


def _host(cli: Cli) -> PluginHost:
    return PluginHost(environ=cli.env, warn=cli.console.warn)


@command(
    "secret-backends",
    summary="Lists secret backends available in the controller.",
    aliases=("list-secret-backends",),
    at_most=0,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.CONTROLLER, _REVEAL),
    details="Asks each whether it is there.",
    examples="    pushjuju secret-backends\n    pushjuju secret-backends --format yaml\n",
    see_also=("add-secret-backend", "show-secret-backend", "model-config"),
)
def backends(cli: Cli, _args: tuple[str, ...], *, controller: str, reveal: bool) -> None:
    """List the backends for secrets."""
    if reveal and cli.output.form == "tabular":
        cli.console.info("sensitive config values are not shown in tabular format")
    ctx = session.open_controller(cli, controller)
    document = service.documents(ctx, _host(cli), reveal=reveal)
    if cli.output.form == "tabular":
        return cli.output.text(formatters.backends_table(document))
    return cli.output.text(formatters.backends(cli.output.form, document))


@command(
    "show-secret-backend",
    usage="<backend-name>",
    summary="Displays the specified secret backend.",
    at_least=(1, "must specify backend name"),
    at_most=1,
    formats=("yaml", "json"),
    flags=(*flags.CONTROLLER, _REVEAL),
    examples="    pushjuju show-secret-backend internal\n    pushjuju show-secret-backend vault --reveal\n",
    see_also=("secret-backends",),
)
def show_backend(cli: Cli, args: tuple[str, ...], *, controller: str, reveal: bool) -> None:
    """Show one backend."""
    ctx = session.open_controller(cli, controller)
    document = service.documents(ctx, _host(cli), args[0], reveal=reveal)
    cli.output.text(formatters.backends(cli.output.form, document))


@command(
    "add-secret-backend",
    usage="<backend-name> <backend-type> [<key>=<value> ...]",
    summary="Add a new secret backend to the controller.",
    flags=(*flags.CONTROLLER, _CONFIG, flags.text("import-id", "Add the backend with the specified ID")),
    details="Key values override the file's. Others on this computer can see a token on a command line: "
    "--config hides it.\nA model uses a backend after: model-config secret-backend=NAME",
    examples="    pushjuju add-secret-backend myvault vault --config /path/to/cfg.yaml\n",
    see_also=("secret-backends", "update-secret-backend", "remove-secret-backend"),
)
def add_backend(cli: Cli, args: tuple[str, ...], *, controller: str, config: str, import_id: str) -> None:
    """Add a backend for secrets."""
    if len(args) < 2:
        raise UsageError("must specify backend name and type")
    given = _pairs(args[2:])
    if not given and not config:
        raise UsageError("must specify a config file or key values")
    ctx = session.open_controller(cli, controller)
    found = {**_file(cli, config), **given}
    service.add(ctx, _host(cli), args[0], args[1], found, number=import_id)


@command(
    "update-secret-backend",
    usage="<backend-name> [<key>=<value> ...]",
    summary="Update an existing secret backend on the controller.",
    flags=(
        *flags.CONTROLLER,
        _CONFIG,
        flags.many("reset", "Reset the provided comma delimited config keys"),
        flags.switch("force", "Force update even if the backend is unreachable"),
    ),
    examples="    pushjuju update-secret-backend myvault --config /path/to/cfg.yaml\n",
    see_also=("add-secret-backend", "show-secret-backend"),
)
def update_backend(
    cli: Cli, args: tuple[str, ...], *, controller: str, config: str, reset: Sequence[str], force: bool
) -> None:
    """Change the configuration of a backend."""
    if not args:
        raise UsageError("must specify backend name")
    gone = [key.strip() for text in reset for key in text.split(",") if key.strip()]
    given = {key: value for key, value in _pairs(args[1:]).items() if key not in gone}
    if not (given or gone or config):
        raise UsageError("must specify a config file or key/reset values")
    ctx = session.open_controller(cli, controller)
    service.update(ctx, _host(cli), args[0], {**_file(cli, config), **given}, gone, force=force)
    drive.background(cli, ctx)  # what waited for it goes on


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
    """Forget a backend."""
    service.remove(session.open_controller(cli, controller), args[0], force=force)


def _pairs(words: Sequence[str]) -> dict[str, str]:
    """Read `key=value` words; no error shows a value.

    Raises:
        UsageError: One is none, or its key comes twice; the messages are Juju's.
    """
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"key value {quote(word)} not valid")
        if not key:
            raise UsageError('expected "key=value", got a value without a key')
        if key in found:
            raise UsageError(f"key {quote(key)} specified more than once")
        found[key] = value
    return found


def _file(cli: Cli, path: str) -> dict[str, str]:
    if not path:
        return {}
    found = values.yaml_map(values.read_file(path, cli.console.stdin), path)
    odd = [key for key, value in found.items() if not isinstance(value, str)]
    if odd:
        raise NotValid(f"{path}: no text: {quote_list(odd)}")
    return {key: str(value) for key, value in found.items()}
