"""Clouds, regions and credentials as text. Pure.

Mirrors: juju cmd/juju/cloud/list.go, regions.go, listcredentials.go, show.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter
from pushjuju.portable.gotypes import Struct

_LONGEST = 40
_AUTH_TYPES = re.compile(r"(?m)^( *)auth-types:\n((?:\1- [A-Za-z0-9-]+\n)+)")
_DETAILS = ("defined", "type", "description", "auth-types")

Documents = Mapping[str, Mapping[str, Any]]


def clouds_table(controller: Documents, client: Documents, *, colour: bool = False) -> str:
    """Return the table of `clouds`: name -> document of each side."""
    table = TabWriter(right=(1,), colour=colour)
    if controller:
        table.row("")
        table.row("Clouds available on the controller:")
        table.closed(*heads("Cloud", "Regions", "Default", "Type"))
        for name, cloud in sorted(controller.items()):
            table.closed(*_cells(name, cloud))
    if client:
        if not controller:
            table.row("You can bootstrap a new controller using one of these clouds...")
        table.row("")
        table.row("Clouds available on the client:")
        table.row(*heads("Cloud", "Regions", "Default", "Type", "Credentials", "Source", "Description"))
        for name, cloud in sorted(client.items()):
            text = str(cloud.get("description", ""))
            text = text[: _LONGEST - 1] if len(text) > _LONGEST else text
            table.row(
                *_cells(name, cloud), str(cloud.get("credential-count", 0)), str(cloud["defined"]), text
            )
    return table.text()


def _cells(name: str, cloud: Mapping[str, Any]) -> tuple[str, str, str, str]:
    regions = list(cloud.get("regions", ()))
    default = cloud.get("default-region") or (regions[0] if regions else "")
    return name, str(len(regions)), str(default), str(cloud["type"])


def cloud_documents(form: str, documents: Documents) -> str:
    """Return clouds by name, as `clouds --format yaml|json` has them."""
    return flowing(form, {name: _struct(form, documents[name]) for name in sorted(documents)})


def show_cloud(form: str, shown: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return what `show-cloud` prints.

    Args:
        form: `display`, `yaml` or `json`.
        shown: Heading -> document, for the client and the controller.
    """
    if form == "json":
        return flowing("json", [_struct("json", document) for _, document in shown])
    texts = [flowing("yaml", _struct("yaml", document)) for _, document in shown]
    if form == "yaml":
        return "---\n".join(texts)
    return "\n".join(f"{heading}\n\n{text}" for (heading, _), text in zip(shown, texts, strict=True))


def flowing(form: str, document: Any) -> str:
    """Return a document as text; lists of auth types stand on one line, as in Juju's yaml."""
    text = render(form, document)
    if form != "yaml":
        return text
    return _AUTH_TYPES.sub(
        lambda found: f"{found[1]}auth-types: [{', '.join(re.findall('- (.+)', found[2]))}]\n", text
    )


def _struct(form: str, document: Mapping[str, Any]) -> Struct:
    """Return a cloud with its keys in order; the regions keep theirs in yaml, as they have a meaning."""
    found = Struct(document)
    if isinstance(found.get("regions"), Mapping) and form == "yaml":
        found["regions"] = Struct(found["regions"])
    return found


def regions(form: str, client: Mapping[str, Any] | None, controller: Mapping[str, Any] | None) -> str:
    """Return the regions of a cloud on each side: name -> endpoints."""
    if form == "tabular":
        parts = (("Client Cloud Regions", client), ("Controller Cloud Regions", controller))
        lines = ["\n".join(["", title, *found]) + "\n" for title, found in parts if found]
        return "".join(lines)
    wrap = Struct if form == "yaml" else dict
    pairs = (("client-cloud-regions", client), ("controller-cloud-regions", controller))
    return render(form, Struct((key, wrap(found)) for key, found in pairs if found))


def credentials(form: str, controller: Documents | None, client: Documents | None) -> str:
    """Return the document of `credentials`: cloud -> credentials of each side; None: not looked at."""
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
    """Return the credentials of one cloud under the names that Juju's json has."""
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
    """Return the names of the credentials, the default one first and marked."""
    default = entry.get("default-credential")
    names = sorted(name for name, item in entry.items() if isinstance(item, Mapping) and name != default)
    return [f"{default}*", *names] if default in entry else names


def show_credential(controller: Mapping[str, Any], client: Mapping[str, Any]) -> str:
    """Return what `show-credential` prints: cloud -> name -> {content, models} of each side."""
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
