"""actions: list actions defined for an application. Mirrors: juju cmd/juju/action (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.action import task_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.views import tasks


@command(
    "actions",
    aliases=("list-actions",),
    usage="<application>",
    summary="List actions defined for an application.",
    at_least=(1, "no application name specified"),
    at_most=1,
    formats=("default", "tabular", "yaml", "json"),
    flags=(*flags.IN_MODEL, flags.switch("schema", "Display the full action schema")),
    examples="    pushjuju actions web\n    pushjuju actions web --schema\n",
    see_also=("run", "show-action"),
)
def list_actions(cli: Cli, args: tuple[str, ...], *, model: str, schema: bool) -> None:
    name = application_of(args)
    if schema and cli.output.form == "tabular":
        raise UsageError("full schema not compatible with tabular output")
    opened = session.open_model(cli, model)
    found = tasks.specs_of(opened.ctx, opened.uuid, name)
    if cli.output.form == "default":
        cli.output.form = "yaml" if schema else "tabular"
    if not found and cli.output.form == "tabular":
        return cli.console.info(f"No actions defined for {name}.")
    if schema:
        return cli.output.write({key: dict(spec.schema) for key, spec in found.items()})
    descriptions = {key: spec.description for key, spec in found.items()}
    return cli.output.write(descriptions, {"tabular": formatters.actions_table})


def application_of(args: tuple[str, ...]) -> str:
    """Return the name of the application that a command about actions names first."""
    if not is_application(args[0]):
        raise UsageError(f"invalid application name {quote(args[0])}")
    return args[0]
