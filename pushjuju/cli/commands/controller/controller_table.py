"""Formats `controllers` and `show-controller`. Pure.

Mirrors: juju cmd/juju/controller/listcontrollersformatters.go, showcontroller.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.paint import GREEN, paint
from pushjuju.cli.terminal.shapes import struct
from pushjuju.cli.terminal.table import TabWriter, heads, naturally
from pushjuju.core.values import regex

_ENDPOINTS = regex(r"(?m)^( *api-endpoints: ?)\n((?: *- .+\n)+)")
_CACHED = "Use --refresh option with this command to see the latest information.\n\n"


def formatters(*, refreshed: bool, colour: bool = False) -> dict[str, Formatter]:
    """Return format name -> function that formats the controllers document."""
    return {
        "tabular": lambda document: ("" if refreshed else _CACHED) + _table(document, colour=colour),
        "yaml": lambda document: _flowing(render("yaml", struct(document, "controllers"))),
        "json": lambda document: render("json", struct(_controllers_json(document), "controllers")),
    }


def _flowing(text: str) -> str:
    """Return yaml with the list of addresses on one line, as in Juju's yaml."""
    return _ENDPOINTS.sub(
        lambda found: f"{found[1].rstrip()} [{', '.join(re.findall('- (.+)', found[2]))}]\n", text
    )


def _controllers_json(document: Mapping[str, Any]) -> dict[str, object]:
    listed = {name: _json_names(entry) for name, entry in document["controllers"].items()}
    return {**document, "controllers": listed}


def _json_names(entry: Mapping[str, Any]) -> dict[str, object]:
    renamed = {"uuid" if key == "controller-uuid" else key: value for key, value in entry.items()}
    machines = renamed.get("controller-machines")
    if machines:
        renamed["controller-machines"] = {"Active": machines["active"], "Total": machines["total"]}
    return renamed


def _table(document: Mapping[str, Any], *, colour: bool) -> str:
    table = TabWriter(right=(5, 6, 7), colour=colour)
    titles = ("Controller", "Model", "User", "Access", "Cloud/Region", "Models", "Nodes", "HA", "Version")
    table.row(*heads(*titles))
    for name, entry in naturally(document["controllers"]):
        current = name == document.get("current-controller")
        table.row(
            paint(f"{name}*", GREEN) if current else name,
            entry.get("current-model") or "-",
            entry.get("user") or "-",
            entry.get("access") or "-",
            "/".join(part for part in (entry.get("cloud", ""), entry.get("region", "")) if part),
            _known(entry.get("model-count")),
            _known(entry.get("machine-count")),
            _availability(entry.get("controller-machines")),
            entry.get("agent-version") or "(unknown)",
        )
    return table.text()


def _known(number: int | None) -> str:
    return "-" if number is None else str(number)


def _availability(machines: Mapping[str, int] | None) -> str:
    if not machines:
        return "-"
    active, total = machines["active"], machines["total"]
    if total == 1:
        return "none"
    return str(total) if active == total else f"{active}/{total}"


def show_controller(form: str, document: Mapping[str, Any]) -> str:
    """Return the document of `show-controller` (name -> controller) as yaml or json."""
    shown = document if form == "yaml" else {name: _show_json(entry) for name, entry in document.items()}
    text = render(form, struct(shown, "*show-controller"))
    return _flowing(text) if form == "yaml" else text


def _show_json(entry: Mapping[str, Any]) -> dict[str, object]:
    changed = dict(entry)
    changed["details"] = _json_names(entry["details"])
    if "models" in entry:
        changed["models"] = {
            name: {"uuid" if key == "model-uuid" else key: value for key, value in model.items()}
            for name, model in entry["models"].items()
        }
    return changed
