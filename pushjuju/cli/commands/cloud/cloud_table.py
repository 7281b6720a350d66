"""Formats clouds and regions. Pure. Mirrors: juju cmd/juju/cloud/list.go, regions.go, show.go (3.6)"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.commands.credential.credential_table import Documents
from pushjuju.cli.terminal.output import render
from pushjuju.cli.terminal.table import TabWriter, heads
from pushjuju.core.values import regex
from pushjuju.portable.gotypes import Struct

_LONGEST = 40

_AUTH_TYPES = regex(r"(?m)^( *)auth-types:\n((?:\1- [A-Za-z0-9-]+\n)+)")


def clouds_table(controller: Documents, client: Documents, *, colour: bool = False) -> str:
    """Return the table of `clouds`; the arguments map name -> document."""
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
    """Return clouds by name in the form of `clouds --format yaml|json`."""
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
    """Return a document as text, with lists of auth types on one line as in Juju's yaml."""
    text = render(form, document)
    if form != "yaml":
        return text
    return _AUTH_TYPES.sub(
        lambda found: f"{found[1]}auth-types: [{', '.join(re.findall('- (.+)', found[2]))}]\n", text
    )


def _struct(form: str, document: Mapping[str, Any]) -> Struct:
    """Return a cloud with ordered keys; in yaml regions keep their order too: the first is the default."""
    found = Struct(document)
    if isinstance(found.get("regions"), Mapping) and form == "yaml":
        found["regions"] = Struct(found["regions"])
    return found


def regions(form: str, client: Mapping[str, Any] | None, controller: Mapping[str, Any] | None) -> str:
    """Return the regions of a cloud, of client and controller: name -> endpoints."""
    if form == "tabular":
        parts = (("Client Cloud Regions", client), ("Controller Cloud Regions", controller))
        lines = ["\n".join(["", title, *found]) + "\n" for title, found in parts if found]
        return "".join(lines)
    wrap = Struct if form == "yaml" else dict
    pairs = (("client-cloud-regions", client), ("controller-cloud-regions", controller))
    return render(form, Struct((key, wrap(found)) for key, found in pairs if found))
