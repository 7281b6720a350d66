"""The command show-unit. Mirrors: juju cmd/juju/application/show.go, showunit.go (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.unit import unit_document
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.views import unit_documents


@command(
    "show-unit",
    usage="<unit name> [...]",
    summary="Displays information about a unit.",
    at_least=(1, "an unit name must be supplied"),
    formats=("yaml", "json", "smart"),
    flags=(
        *flags.IN_MODEL,
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
    if related_unit and not is_unit(related_unit):
        raise UsageError(f"related unit name {related_unit} not valid")
    if wrong := [name for name in args if not is_unit(name)]:
        raise UsageError(f"unit name{'s' * (len(wrong) > 1)} {', '.join(wrong)} not valid")
    opened = session.open_model(cli, model)
    document = {
        name: unit_document.select_relations(
            unit, endpoint=endpoint, related_unit=related_unit, application_only=app
        )
        for name, unit in unit_documents.show_units(opened.ctx, opened.uuid, list(args)).items()
    }
    cli.output.text(unit_document.show_unit(cli.output.form, document))
