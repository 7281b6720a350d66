"""show-relation: shows a relation with the data of both sides next to each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.gotypes import Struct
from pushjuju.portable.names import is_application
from pushjuju.portable.quote import quote
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views import relation_view
from pushjuju.services.views.listings.run_documents import moment_or_none, struct

if TYPE_CHECKING:
    from pushjuju.services.views.relation_view import Member, RelationSide, RelationView

_WIDEST = 48  # the width of a value in the table of data bags, in characters


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
    if not (len(args) == 1 and integrate.is_id(args[0])):
        for arg in args:
            if not is_application(arg.partition(":")[0]):
                raise UsageError(f"relation ID or application {quote(arg)} not valid")
    opened = session.open_model(cli, model)
    found = relation_view.show(opened.ctx, opened.uuid, args)
    table = {"tabular": lambda document: show_table(document, colour=cli.output.colour)}
    cli.output.write(relation_document(found), table)


def relation_document(view: RelationView) -> Struct:
    status = view.status
    told = (
        struct(current=status.status, message=status.message, since=moment_or_none(status.since))
        if status
        else None
    )
    return struct(
        relation_id=view.id,
        key=view.key,
        scope=view.scope,
        life=view.life,
        suspended=view.suspended or None,
        relation_status=told,
        endpoints=[_side(side) for side in view.sides],
    )


def _side(side: RelationSide) -> Struct:
    return Struct(
        {
            **struct(
                application=side.application,
                endpoint=side.endpoint,
                role=side.role,
                interface=side.interface,
                remote=side.remote or None,
            ),
            "application-data": dict(side.data),
            "units": {unit.name: _member(unit) for unit in side.units},
        }
    )


def _member(unit: Member) -> Struct:
    return Struct(
        {
            "in-scope": unit.in_scope,
            **struct(leader=unit.leader or None, departing=unit.departing or None),
            "data": dict(unit.data),
        }
    )


def show_table(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the text of a relation: its state, then the data of both sides next to each other."""
    status = document.get("relation-status", {})
    words = [document["scope"], document["life"], *(["suspended"] if document.get("suspended") else [])]
    head = TabWriter(colour=colour)
    head.row("Relation", f"{document['relation-id']}  {document['key']}")
    head.row("State", ", ".join(words))
    if status:
        head.row("Status", " ".join(filter(None, (status["current"], status.get("message", "")))))
    left, *others = document["endpoints"]
    return head.text() + "\n" + _beside(left, others[0] if others else None, colour=colour)


def _beside(left: Mapping[str, Any], right: Mapping[str, Any] | None, *, colour: bool) -> str:
    """Return two columns, one per side: heading, application data, units with their data."""
    columns = [_lines(left), _lines(right) if right else []]
    table = TabWriter(colour=colour)
    for one, other in zip_longest(*columns, fillvalue=""):
        table.row(one, other)
    return table.text()


def _lines(side: Mapping[str, Any]) -> list[str]:
    remote = ", in another model" if side.get("remote") else ""
    lines = [f"{side['application']}:{side['endpoint']}", f"  {side['role']} of {side['interface']}{remote}"]
    lines += ["  application", *_data(side["application-data"])]
    for name, unit in side["units"].items():
        words = [word for word in ("leader", "departing") if unit.get(word)]
        words += [] if unit["in-scope"] else ["left"]
        lines.append(f"  {name}{' (' + ', '.join(words) + ')' if words else ''}")
        lines += _data(unit["data"])
    return lines


def _data(data: Mapping[str, str]) -> list[str]:
    if not data:
        return ["    (no data)"]
    lines = []
    for key in sorted(data):
        value = data[key].replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
        lines.append(f"    {key}: {value if len(value) <= _WIDEST else value[: _WIDEST - 3] + '...'}")
    return lines
