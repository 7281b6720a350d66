"""The command show-unit. Mirrors: juju cmd/juju/application/show.go, showunit.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.syntax import flags
from pushjuju.cli.syntax.command import Cli, command
from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.shapes import struct
from pushjuju.cli.work import session
from pushjuju.core.errors import UsageError
from pushjuju.portable.names import is_unit
from pushjuju.services.views import unit_documents

_ABSENT = {"in-scope": False, "data": None}


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
    if related_unit and not is_unit(related_unit):
        raise UsageError(f"related unit name {related_unit} not valid")
    if wrong := [name for name in args if not is_unit(name)]:
        raise UsageError(f"unit name{'s' * (len(wrong) > 1)} {', '.join(wrong)} not valid")
    opened = session.open_model(cli, model)
    document = {
        name: select_relations(unit, endpoint=endpoint, related_unit=related_unit, application_only=app)
        for name, unit in unit_documents.show_units(opened.ctx, opened.uuid, list(args)).items()
    }
    cli.output.text(unit_text(cli.output.form, document))


def unit_text(form: str, unit_text: Mapping[str, Any]) -> str:
    """Return the document of `show-unit` (name -> unit) as yaml, json or smart.

    In json every relation has a `local-unit`, even when its settings are empty.
    """
    shown = (
        {name: _with_local_units(unit) for name, unit in unit_text.items()} if form == "json" else unit_text
    )
    return render(form, struct(shown, "*show-unit"))


def _with_local_units(unit: Mapping[str, Any]) -> dict[str, object]:
    if "relation-info" not in unit:
        return dict(unit)
    return {**unit, "relation-info": [_with_local_unit(entry) for entry in unit["relation-info"]]}


def _with_local_unit(relation: Mapping[str, Any]) -> dict[str, object]:
    units = relation.get("related-units")
    others = {key: value for key, value in relation.items() if key not in ("related-units", "local-unit")}
    changed = {**others, "local-unit": relation.get("local-unit", _ABSENT)}
    return {**changed, "related-units": units} if units else changed


def select_relations(
    unit: Mapping[str, Any], *, endpoint: str = "", related_unit: str = "", application_only: bool = False
) -> dict[str, Any]:
    """Return a unit of the show-unit document with the relations and data that the flags name.

    A relation stays when a flag names its endpoint or wants application data alone, or when it has data left.
    """
    kept = []
    for relation in unit.get("relation-info", ()):
        changed = _cut_relation(relation, related_unit=related_unit, application_only=application_only)
        if endpoint in ("", relation["endpoint"]) and (endpoint or application_only or _has_data(changed)):
            kept.append(changed)
    others = {key: value for key, value in unit.items() if key != "relation-info"}
    return {**others, "relation-info": kept} if kept else others


def _cut_relation(
    relation: Mapping[str, Any], *, related_unit: str, application_only: bool
) -> dict[str, object]:
    changed = dict(relation)
    if application_only or related_unit:
        changed.pop("local-unit", None)
        units = changed.pop("related-units", {})
        if related_unit in units and not application_only:
            changed["related-units"] = {related_unit: units[related_unit]}
    return changed


def _has_data(relation: Mapping[str, Any]) -> bool:
    local = relation.get("local-unit", {})
    return bool(relation.get("application-data") or local.get("data") or relation.get("related-units"))
