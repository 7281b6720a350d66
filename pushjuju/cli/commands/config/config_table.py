"""Formats `config`, `model-config` and `constraints`. Pure.

Mirrors: juju cmd/juju/application/config.go, cmd/juju/model/config.go, constraints.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.shapes import struct, structured
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.core import constraints as core_constraints

HIDDEN = ("name", "type", "uuid")
_USERDATA = "cloudinit-userdata"
_USERDATA_SHOWN = "<value set, see pushjuju model-config cloudinit-userdata>"


def bare_value(value: Any) -> str:
    """Return the value of a single key: a text unchanged, other values as YAML, with a newline."""
    return f"{value}\n" if isinstance(value, str) else render("yaml", value)


def application(document: Mapping[str, Any]) -> Any:
    """Return an application's config in the form for yaml and json."""
    return struct(document, "config")


def model_formatters(*, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats `key -> {value, source}`."""
    return {
        "tabular": lambda document: model_table(document, colour=colour),
        "yaml": lambda document: render("yaml", struct(_visible(document), "*leaf")),
        "json": lambda document: render("json", struct(_capital(_visible(document)), "*leaf")),
    }


def _visible(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry for key, entry in document.items() if key not in HIDDEN}


def _capital(document: Mapping[str, Any]) -> dict[str, object]:
    return {key: {"Value": entry["value"], "Source": entry["source"]} for key, entry in document.items()}


def model_table(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the model's config as a table."""
    table = TabWriter("Attribute", "From", "Value", colour=colour)
    for key, entry in sorted(_visible(document).items()):
        table.row(key, entry["source"], _cell(key, entry["value"]))
    return table.text()


def _cell(key: str, value: Any) -> str:
    if key == _USERDATA and value:
        return _USERDATA_SHOWN
    return render("yaml", value).removesuffix("\n") if value is not None else ""


def constraints(form: str, values: Mapping[str, Any]) -> str:
    """Return constraints as text (`constraints`), yaml or json; None values are not set."""
    if form == "constraints":
        return core_constraints.render(values) + "\n"
    ordered = {key: values[key] for key in core_constraints.ORDER if values.get(key) is not None}
    return render(form, struct(ordered))


def default_formatters(*, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats `key -> {default, controller, regions}`."""
    return {
        "tabular": lambda document: _defaults_table(document, colour=colour),
        **structured("*model-default"),
    }


def _defaults_table(document: Mapping[str, Any], *, colour: bool) -> str:
    table = TabWriter("Attribute", "Default", "Controller", colour=colour)
    for key, entry in sorted(_visible(document).items()):
        table.row(key, _default_cell(entry, "default"), _default_cell(entry, "controller"))
        for region in entry.get("regions", ()):
            table.row(f"  {region['name']}", _default_cell(region, "value"), "-")
    return table.text()


def _default_cell(entry: Mapping[str, Any], name: str) -> str:
    if name not in entry:
        return "-"
    return render("yaml", entry[name]).removesuffix("\n") if entry[name] != "" else '""'


def controller_formatters(*, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats the settings of a controller."""

    def table(document: Mapping[str, Any]) -> str:
        rows = TabWriter("Attribute", "Value", colour=colour)
        for key, value in sorted(document.items()):
            first, *others = render("yaml", value).removesuffix("\n").split("\n")
            rows.row(key, first if not others else "")
            for line in (first, *others) if others else ():
                rows.row("", line)
        return rows.text()

    return {"tabular": table}
