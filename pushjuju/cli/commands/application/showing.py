"""show-application, show-unit. Mirrors: juju cmd/juju/application/show.go, showunit.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.application import unit_document as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application, is_unit
from pushjuju.services.views import documents


@command(
    "show-application",
    usage="<application name or alias>",
    summary="Displays information about an application.",
    at_least=(1, "an application name must be supplied"),
    formats=("yaml", "json", "smart"),
    flags=(*flags.MODEL, *flags.LOGIN),
    examples="    pushjuju show-application mysql\n"
    "    pushjuju show-application mysql wordpress --format json\n",
    see_also=("status", "config", "show-unit"),
)
def show_application(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show applications with their bindings."""
    for name in args:
        if not is_application(name):
            raise UsageError(f"application name {name} not valid")
    opened = session.open_model(cli, model)
    document = documents.show_applications(opened.ctx, opened.uuid, list(args))
    cli.output.text(formatters.show_application(cli.output.form, document))


@command(
    "show-unit",
    usage="<unit name> [...]",
    summary="Displays information about a unit.",
    at_least=(1, "an unit name must be supplied"),
    formats=("yaml", "json", "smart"),
    flags=(
        *flags.MODEL,
        *flags.LOGIN,
        flags.text("endpoint", "Only show relation data for the specified endpoint"),
        flags.text("related-unit", "Only show relation data for the specified unit"),
        flags.switch("app", "Only show application relation data"),
    ),
    examples="    pushjuju show-unit mysql/0\n"
    "    pushjuju show-unit mysql/0 wordpress/1 --format json\n"
    "    pushjuju show-unit mysql/0 --endpoint db --app\n",
    see_also=("status", "config"),
)
def show_unit(
    cli: Cli, args: tuple[str, ...], *, model: str, endpoint: str, related_unit: str, app: bool
) -> None:
    """Show units with the data of their relations."""
    for name in args:
        if not is_unit(name):
            raise UsageError(f"unit name {name} not valid")
    opened = session.open_model(cli, model)
    document = {
        name: formatters.select_relations(
            unit, endpoint=endpoint, related_unit=related_unit, application_only=app
        )
        for name, unit in documents.show_units(opened.ctx, opened.uuid, list(args)).items()
    }
    cli.output.text(formatters.show_unit(cli.output.form, document))
