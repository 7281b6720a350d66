"""The command controller-config. Mirrors: juju cmd/juju/controller/config.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.work import session
from pushjuju.core.errors import NotFound
from pushjuju.services.requests.controller import controllers as request
from pushjuju.services.views.listings import settings


@command(
    "controller-config",
    usage="[<attribute key>[=<value>] ...]",
    summary="Displays or sets configuration settings for a controller.",
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.AT_CONTROLLER,
        *flags.CONFIG_NO_RESET,
        flags.switch("ignore-read-only-fields", "Ignore read only fields that might cause errors"),
    ),
    details="Settings for Juju's database and agents are kept, but have no effect.",
    examples="    pushjuju controller-config\n    pushjuju controller-config auditing-enabled=false\n",
    see_also=("controllers", "model-config", "show-cloud"),
)
def controller_config(
    cli: Cli, args: tuple[str, ...], *, controller: str, file: str, ignore_read_only_fields: bool
) -> None:
    options = config_arguments.parse(args, file=file)
    ctx = session.open_controller(cli, controller)
    if options.change:
        return request.configure(ctx, changes_of(cli, options, skip_read_only=ignore_read_only_fields))
    return show(cli, settings.of_controller(ctx), options.key, ctx.controller.name)


def changes_of(cli: Cli, options: config_arguments.ConfigArgs, *, skip_read_only: bool) -> dict[str, object]:
    """Return the settings to change, of the file and the command line."""
    changes: dict[str, object] = {}
    if options.file:
        changes.update(values.yaml_map(values.read_file(options.file, cli.console.stdin), options.file))
    changes.update(options.values)
    return _changeable(cli, changes) if skip_read_only else changes


def show(cli: Cli, document: Mapping[str, Any], key: str, controller: str) -> None:
    """Print all settings, or one setting."""
    if not key:
        return cli.output.write(document, formatters.controller_formatters(colour=cli.output.colour))
    if key not in document:
        raise NotFound(f'key "{key}" not found in controller "{controller}"')
    if cli.output.form == "tabular":
        return cli.output.text(render("smart", document[key]) or "\n")
    return cli.output.write(document[key])


def _changeable(cli: Cli, changes: dict[str, object]) -> dict[str, object]:
    """Return the changes without read-only settings; warn of these."""
    if fixed := request.fixed(changes):
        listed = " ".join(fixed)
        cli.console.warn(f"invalid or read-only controller config values ignored: [{listed}]")
    return {key: value for key, value in changes.items() if key not in fixed}
