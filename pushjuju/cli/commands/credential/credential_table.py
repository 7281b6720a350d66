"""Formats credentials. Pure. Mirrors: juju cmd/juju/cloud/listcredentials.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.table import TabWriter, heads
from pushjuju.portable.gotypes import Struct

Documents = Mapping[str, Mapping[str, Any]]


def credentials(form: str, controller: Documents | None, client: Documents | None) -> str:
    """Return the document of `credentials`: cloud -> credentials; None leaves out controller or client."""
    pairs = (("controller-credentials", controller), ("client-credentials", client))
    if form == "json":
        shown = {
            key: {cloud: _nested(item) for cloud, item in found.items()} for key, found in pairs if found
        }
        return render("json", Struct(shown))
    found = Struct(
        (key, {cloud: _heads_first(item) for cloud, item in side.items()}) for key, side in pairs if side
    )
    return render("yaml", found)


def _heads_first(entry: Mapping[str, Any]) -> Struct:
    named = ((key, Struct(value) if isinstance(value, Mapping) else value) for key, value in entry.items())
    return Struct(named)


def _nested(entry: Mapping[str, Any]) -> Struct:
    """Return the credentials of a cloud with the names of Juju's json."""
    named = {}
    for name, item in entry.items():
        if isinstance(item, Mapping):
            details = {key: value for key, value in item.items() if key != "auth-type"}
            named[name] = Struct(
                [("auth-type", item["auth-type"]), *([("details", details)] if details else [])]
            )
    heads_ = [(key, value) for key, value in entry.items() if not isinstance(value, Mapping)]
    return Struct([*heads_, *([("cloud-credentials", named)] if named else [])])


def credentials_table(controller: Documents | None, client: Documents | None, *, colour: bool = False) -> str:
    """Return the table of `credentials`."""
    table = TabWriter(colour=colour)
    for title, found in (("Controller", controller), ("Client", client)):
        if found:
            table.row("")
            table.row(f"{title} Credentials:")
            table.row(*heads("Cloud", "Credentials"))
            for cloud, entry in sorted(found.items()):
                table.row(cloud, ", ".join(_names(entry)))
    return table.text()


def _names(entry: Mapping[str, Any]) -> list[str]:
    """Return the names of the credentials, the default first and with a mark."""
    default = entry.get("default-credential")
    names = sorted(name for name, item in entry.items() if isinstance(item, Mapping) and name != default)
    return [f"{default}*", *names] if default in entry else names


def show_credential(controller: Mapping[str, Any], client: Mapping[str, Any]) -> str:
    """Return the text of `show-credential` from cloud -> name -> {content, models}."""
    pairs = (("controller-credentials", controller), ("client-credentials", client))
    shown = Struct(
        (
            key,
            {cloud: {name: _content(item) for name, item in named.items()} for cloud, named in found.items()},
        )
        for key, found in pairs
        if found
    )
    return render("yaml", shown)


def _content(item: Mapping[str, Any]) -> Struct:
    found = Struct([("content", Struct(item["content"]))])
    if item.get("models"):
        found["models"] = item["models"]
    return found
