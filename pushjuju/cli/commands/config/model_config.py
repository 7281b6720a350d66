"""The command model-config. Mirrors: juju cmd/juju/model/config.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.work import drive, failures, scope, session
from pushjuju.core.errors import NotFound
from pushjuju.services.entities.model import sessions
from pushjuju.services.requests.model import model_config as request


@command(
    "model-config",
    usage="[<model-key>[=<value>] ...]",
    summary="Displays or sets configuration values on a model.",
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.IN_MODEL,
        *flags.CONFIG,
        flags.switch("ignore-read-only-fields", "Ignore read only fields that might cause errors"),
    ),
    examples="    pushjuju model-config\n    pushjuju model-config update-status-hook-interval=10m\n"
    "    pushjuju model-config --reset mode\n",
    see_also=("models", "model-constraints"),
)
def model_config_command(
    cli: Cli,
    args: tuple[str, ...],
    *,
    model: str,
    file: str,
    reset: tuple[str, ...],
    ignore_read_only_fields: bool,
) -> None:
    options = config_arguments.parse(args, file=file, reset=reset)
    opened = session.open_model(cli, model)
    if options.change:
        session.require_change(opened)
        changes = changes_of(cli, options, skip_read_only=ignore_read_only_fields)
        return _set(cli, opened, request.ModelConfigOptions(values=changes, reset=options.reset))
    return _show(cli, request.effective(opened.ctx, opened.model), options.key, opened.model.name)


def _set(cli: Cli, opened: sessions.Session, options: request.ModelConfigOptions) -> None:
    """Change the configuration; warn of unknown keys, but set these too, as Juju does."""
    for key in request.unknown_keys(opened.ctx, opened.model, options, scope.host(cli)):
        cli.console.warn(
            f'key "{key}" is not defined in the current model configuration: possible misspelling'
        )
    request.set_model_config(opened.ctx, opened.model, options)
    if not drive.waits(cli):
        drive.background(cli, opened.ctx, opened.uuid)
    elif options.is_worked:
        drive.settle(cli, opened.ctx, opened.uuid, touched=failures.EVERY_MACHINE)


def changes_of(cli: Cli, options: config_arguments.ConfigArgs, *, skip_read_only: bool) -> dict[str, object]:
    """Return the new values; for a key in the file and on the command line, the command line wins."""
    merged: dict[str, object] = {}
    if options.file:
        for key, entry in values.yaml_map(
            values.read_file(options.file, cli.console.stdin), options.file
        ).items():
            # accept what `model-config --format yaml` prints
            merged[key] = entry["value"] if isinstance(entry, dict) and "value" in entry else entry
    merged.update(options.values)
    if skip_read_only:
        merged = request.writable(merged)
    return merged


def _show(cli: Cli, document: dict[str, dict[str, object]], key: str, model: str) -> None:
    if not key:
        return cli.output.write(document, formatters.model_formatters(colour=cli.output.colour))
    if key not in document:
        raise NotFound(f'key "{key}" not found in "{model}" model.')
    if cli.output.form == "tabular":
        return cli.output.text(render("smart", document[key]["value"]) or "\n")
    return cli.output.write({key: document[key]}, formatters.model_formatters())
