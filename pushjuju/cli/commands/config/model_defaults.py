"""The command model-defaults. Mirrors: juju cmd/juju/model/defaults.go (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.cli.commands.config import config_arguments
from pushjuju.cli.commands.config import config_table as formatters
from pushjuju.cli.syntax import flags, values
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import scope, session
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.services.entities.model import model_defaults as service
from pushjuju.services.requests.model import model_config
from pushjuju.services.requests.model import model_defaults as request


@command(
    "model-defaults",
    usage="[<model-key>[=<value>] ...]",
    summary="Displays or sets default configuration settings for new models.",
    aliases=("model-default",),
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.AT_CONTROLLER,
        *flags.CONFIG,
        flags.switch("ignore-read-only-fields", "Ignore read only fields that might cause errors"),
        flags.text("cloud", "Set or show default values for this cloud"),
        flags.text("region", "Set or show default values for this region, or cloud/region"),
    ),
    details="Models that exist stay as they are. A value of the region wins over one of the cloud, then\n"
    "of the controller, then over Juju's own default.",
    examples="    pushjuju model-defaults\n    pushjuju model-defaults test-mode=true\n"
    "    pushjuju model-defaults --region lab/east http-proxy=http://10.0.0.1:3128\n"
    "    pushjuju model-defaults --reset test-mode\n",
    see_also=("models", "model-config"),
)
def model_defaults(
    cli: Cli,
    args: tuple[str, ...],
    *,
    controller: str,
    file: str,
    reset: tuple[str, ...],
    ignore_read_only_fields: bool,
    cloud: str,
    region: str,
) -> None:
    options = config_arguments.parse(args, file=file, reset=reset)
    if cloud and "/" in region:
        raise UsageError("cannot specify cloud using both --cloud and --region flags")
    ctx = session.open_controller(cli, controller)
    cloud, region = request.place(ctx, cloud, region)
    if options.change:
        changes = _changes(cli, options, region, skip_read_only=ignore_read_only_fields)
        wanted = request.ModelDefaultsOptions(cloud=cloud, region=region, values=changes, reset=options.reset)
        for key in request.unknown_keys(ctx, wanted, scope.host(cli)):
            cli.console.warn(
                f'key "{key}" is not defined in the known model configuration: possible misspelling'
            )
        return request.change(ctx, wanted)
    document = service.document(ctx.controller.settings(), cloud)
    if region:
        document = {key: _of_region(entry, region) for key, entry in document.items()}
    if options.key:
        if options.key not in document:
            raise NotFound(f'there are no default model values for "{options.key}"')
        document = {options.key: document[options.key]}
    return cli.output.write(document, formatters.default_formatters(colour=cli.output.colour))


def _of_region(entry: dict[str, Any], region: str) -> dict[str, object]:
    mine = [item for item in entry.get("regions", ()) if item["name"] == region]
    kept = {key: value for key, value in entry.items() if key != "regions"}
    return {**kept, "regions": mine} if mine else kept


def _changes(
    cli: Cli, options: config_arguments.ConfigArgs, region: str, *, skip_read_only: bool
) -> dict[str, object]:
    merged: dict[str, object] = {}
    if options.file:
        given = values.yaml_map(values.read_file(options.file, cli.console.stdin), options.file)
        merged.update({key: _plain(entry, region) for key, entry in given.items()})
    merged.update(options.values)
    if skip_read_only:
        merged = model_config.writable(merged)
    return merged


def _plain(entry: Any, region: str) -> Any:
    """Return the value in an entry that `model-defaults --format yaml` prints; other entries stay unchanged.

    Mirrors: juju cmd/juju/model/defaults.go CoerceFormat (3.6)
    """
    if not isinstance(entry, dict) or not {"default"} <= entry.keys() <= {"default", "controller", "regions"}:
        return entry
    for item in entry.get("regions", ()):
        if region and item["name"] == region:
            return item["value"]
    return entry["default"] if region else entry.get("controller", entry["default"])
