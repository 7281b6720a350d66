"""show-relation: shows a relation with the data of both sides next to each other."""

from __future__ import annotations

from pushjuju.cli.commands.relation import relation_table
from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views import relation_view


@command(
    "show-relation",
    usage="<relation id> | <application>[:<endpoint>] [<application>[:<endpoint>]]",
    summary="Shows a relation with the data of both sides next to each other.",
    at_least=(1, "no relation specified"),
    at_most=2,
    formats=("tabular", "yaml", "json"),
    flags=(*flags.MODEL, *flags.COLOUR),
    details="For a peer relation, name its only side. `status --relations` shows the ids. The data of\n"
    "units that left are kept, and shown as `left`, until the relation is removed.",
    examples="    pushjuju show-relation wordpress mysql\n    pushjuju show-relation 4 --format json\n",
    see_also=("show-unit", "integrate", "status"),
)
def show_relation(cli: Cli, args: tuple[str, ...], *, model: str) -> None:
    """Show a relation."""
    if not (len(args) == 1 and integrate.is_id(args[0])):
        for arg in args:
            if not is_application(arg.partition(":")[0]):
                raise UsageError(f"relation ID or application {quote(arg)} not valid")
    opened = session.open_model(cli, model)
    found = relation_view.show(opened.ctx, opened.uuid, args)
    table = {"tabular": lambda document: relation_table.relation_table(document, colour=cli.output.colour)}
    cli.output.write(relation_table.relation_document(found), table)
