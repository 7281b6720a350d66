"""The command config. Mirrors: juju cmd/juju/application (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import drive, session
from pushjuju.core.errors import NotFound
from pushjuju.services.requests.application import settings
from pushjuju.services.views.listings import applications


@command(
    "config",
    usage="<application name> [--reset <key[,key]>] [<attribute-key>][=<value>] ...]",
    summary="Gets, sets, or resets configuration for a deployed application.",
    at_least=(1, "no application name specified"),
    formats=("yaml", "json"),
    flags=(*flags.IN_MODEL, *flags.CONFIG, *flags.NO_WAIT),
    examples="    pushjuju config web\n    pushjuju config web port\n"
    "    pushjuju config web port=8080 motd=@motd.txt\n"
    "    pushjuju config web --reset port,motd\n",
    see_also=("deploy", "model-config"),
)
def config(
    cli: Cli, args: tuple[str, ...], *, model: str, file: str, reset: tuple[str, ...], no_wait: bool
) -> None:
    name = values.application_name(args)
    options = config_arguments.parse(args[1:], file=file, reset=reset)
    given = values.from_file(options.values)
    opened = session.open_model(cli, model)
    content = values.read_file(options.file, cli.console.stdin) if options.file else None
    if options.change:
        session.require_change(opened)
        settings.set_config(
            opened.ctx,
            opened.uuid,
            settings.ConfigOptions(application=name, values=given, file=content, reset=options.reset),
        )
        return drive.settle(cli, opened.ctx, opened.uuid, touched=(name,), no_wait=no_wait)
    document = applications.config(opened.ctx, opened.uuid, name)
    return show(cli, name, options.key, document)


def show(cli: Cli, name: str, key: str, document: Mapping[str, Any]) -> None:
    """Print the settings of an application, or the value of one key."""
    if not key:
        return cli.output.write(formatters.application(document))
    for section in ("settings", "application-config"):
        if key in document.get(section, {}):
            return cli.output.text(formatters.bare_value(document[section][key].get("value", "")))
    raise NotFound(f'key "{key}" not found in "{name}" application config or charm settings.')
