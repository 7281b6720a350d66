"""resources: show the resources for an application or unit. Mirrors: juju cmd/juju/resource (3.6)"""

from __future__ import annotations

from pushjuju.cli.commands.resource import resource_table as formatters
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import NotValid
from pushjuju.portable.names import is_application, is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.views import resource_documents


@command(
    "resources",
    usage="<application or unit>",
    summary="Show the resources for an application or unit.",
    aliases=("list-resources",),
    at_least=(1, "missing application or unit name"),
    at_most=1,
    formats=("tabular", "yaml", "json"),
    flags=(
        *flags.IN_MODEL,
        flags.switch("details", "Show detailed information about the resources used by each unit."),
    ),
    examples="    pushjuju resources mysql\n    pushjuju resources mysql/0 --details\n",
    see_also=("attach-resource", "charm-resources"),
)
def resources(cli: Cli, args: tuple[str, ...], *, model: str, details: bool) -> None:
    target = args[0]
    if not (is_application(target) or is_unit(target)):
        raise NotValid(f"{quote(target)} is neither an application nor a unit")
    opened = session.open_model(cli, model)
    application = target.partition("/")[0]
    every = resource_documents.listing(opened.ctx, opened.uuid, application)
    if not every.resources:
        cli.console.info(formatters.NOTHING)
        return
    unit = target if "/" in target else ""
    if details:
        wide = every.details(unit)
        documents, table = [item.document() for item in wide], formatters.details(wide, of_unit=bool(unit))
    else:
        found = every.unit_resources(unit) if unit else every.resources
        documents, table = [item.document() for item in found], formatters.table(found, of_unit=bool(unit))
    whole: dict[str, object] = {"resources": documents}
    if every.updates and not unit:
        whole["updates"] = updates = [resource_documents.update_document(item) for item in every.updates]
        table += f"\n[Updates Available]\n{formatters.charm_table(updates)}"
    cli.output.write(documents if unit else whole, {"tabular": lambda _: table})
