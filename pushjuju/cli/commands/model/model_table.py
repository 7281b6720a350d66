"""Formats `models` and `show-model`. Pure.

Mirrors: juju cmd/juju/controller/listmodels.go, cmd/juju/model/show.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.paint import GREEN, paint, paint_status
from pushjuju.cli.terminal.shapes import struct, structured
from pushjuju.cli.terminal.table import TabWriter, heads
from pushjuju.cli.terminal.times import friendly, rfc3339, with_texts
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of machines, cores and units of a model; None where a number is unknown."""

    machines: int | None = None
    cores: int | None = None
    units: int | None = None


def formatters(
    counts: Mapping[str, Counts], *, controller: str, user: str, uuid: bool = False, colour: bool = False
) -> dict[str, Formatter]:
    """Return format name -> function that formats the models document.

    Args:
        counts: Model UUID -> numbers of the model.
        user: The user whose own models are shown without an owner.
        uuid: Whether the table has the UUID column.
        colour: Whether the table has colours.
    """

    def table(document: Any) -> str:
        return _table(document, counts, user=user, uuid=uuid, colour=colour)

    return {
        "tabular": lambda document: f"Controller: {controller}\n\n{table(document)}",
        **structured("models"),
    }


def _table(
    document: Mapping[str, Any], counts: Mapping[str, Counts], *, user: str, uuid: bool, colour: bool
) -> str:
    shift = 1 if uuid else 0
    table = TabWriter(right=(4 + shift, 5 + shift), colour=colour)
    extra = ("UUID",) if uuid else ()
    titles = ("Cloud/Region", "Type", "Status", "Machines", "Cores", "Units", "Access", "Last connection")
    table.row(*heads("Model", *extra, *titles))
    for model in document["models"]:
        name = _own_name(model["name"], user)
        if name == _own_name(document.get("current-model", ""), user):
            name = paint(f"{name}*", GREEN)
        count = counts.get(model["model-uuid"], Counts())
        table.row(
            name,
            *((model["model-uuid"],) if uuid else ()),
            "/".join(part for part in (model["cloud"], model.get("region", "")) if part),
            model.get("type", ""),
            paint_status(model.get("status", {}).get("current", "")),
            *(_count(number) for number in (count.machines, count.cores, count.units)),
            model["access"],
            model["last-connection"],
        )
    return table.text()


def _own_name(qualified: str, user: str) -> str:
    owner, _, short = qualified.rpartition("/")
    return short if owner in (user, "") else qualified


def _count(number: int | None) -> str:
    return "-" if number is None else str(number)


def show_model(form: str, document: Mapping[str, Any]) -> str:
    """Return the document of `show-model` (short name -> model) as yaml or json."""
    return render(form, struct(document, "*show-model"))


def switched(before: str, after: str) -> str:
    """Return the output of `switch`: `home:admin/a -> home:admin/b`, or that nothing changed."""
    return f"{after} (no change)" if before == after else f"{before} -> {after}"


def emptied(counts: Sequence[tuple[int, str]]) -> str:
    """Return what destroy-model waits for: `2 machine(s), 1 application(s)`; zero counts are left out."""
    return ", ".join(f"{number} {noun}(s)" for number, noun in counts if number)


def with_times(cli: Cli, document: dict[str, object], *, exact: bool = False) -> dict[str, object]:
    """Return a document with its moments as texts: relative to now, or exact."""
    now = cli.clock.now()

    def text(moment: datetime) -> str:
        return rfc3339(moment) if exact else friendly(moment, now)

    _say_never(document)
    shown: dict[str, object] = with_texts(document, text)
    return shown


def _say_never(document: dict[str, Any]) -> None:
    """Write Juju's text for users who never connected."""
    for model in document.get("models", document.values()):
        for entry in (model, *model.get("users", {}).values()) if isinstance(model, dict) else ():
            if "last-connection" in entry and entry["last-connection"] is None:
                entry["last-connection"] = "never connected"
