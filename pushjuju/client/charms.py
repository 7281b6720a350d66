"""Sends charms and the files of resources to a model, and deploys applications there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pushjuju.charms.archive.pack import PackedCharm
from pushjuju.client.connection import Connection
from pushjuju.core.errors import NotFound, NotSupported
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.storage import Directive

_SHOWN = 7  # digits of the archive's SHA-256 in the path of an upload


def upload(connection: Connection, packed: PackedCharm) -> str:
    """Send a charm to the model of the connection; return its URL there, `local:web-0`."""
    name = packed.charm.name
    path = f"/model-{connection.model}/charms/{name}-{packed.sha256[:_SHOWN]}"
    headers = {"Content-Type": "application/zip", "Juju-Curl": f"local:{name}-0"}
    with packed.path.open("rb") as stream:
        answer = connection.send_file("PUT", path, stream, headers)
    return answer["Juju-Curl"]


def send_resources(
    connection: Connection, application: str, url: str, packed: PackedCharm, wanted: Mapping[str, str]
) -> dict[str, str]:
    """Announce the resources (name -> path) of a new application, and send their files; return name -> id."""
    known = packed.charm.meta.resources
    for name in wanted:
        if name not in known:
            raise NotFound(f'charm "{packed.charm.name}" has no resource "{name}"')
    names = {name: known[name].filename for name in wanted}
    return send_files(connection, application, url, wanted, names)


def send_files(
    connection: Connection, application: str, url: str, wanted: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, str]:
    """Announce resources of a charm, and send their files; return name -> id.

    Args:
        wanted: Name -> path of a file here.
        names: Name -> file name on the machine, where it differs.
    """
    if not wanted:
        return {}
    listed = [
        {
            "name": name,
            "type": "file",
            "path": names.get(name) or file_of(name, file).name,
            "origin": "upload",
        }
        for name, file in wanted.items()
    ]
    params = {"tag": f"application-{application}", "url": url, "resources": listed}
    numbers = connection.call("Resources", "AddPendingResources", params)["pending-ids"]
    found = dict(zip(wanted, numbers, strict=True))
    for name, file in wanted.items():
        send_resource(connection, application, name, file_of(name, file), found[name])
    return found


def file_of(resource: str, path: str) -> Path:
    """Return the path of a resource's file, which must exist."""
    found = Path(path).expanduser()
    if not found.is_file():
        raise NotFound(f'file for resource "{resource}": open {path}: no such file or directory')
    return found


def send_resource(connection: Connection, application: str, name: str, file: Path, pending: str = "") -> None:
    """Send the file of a resource, to an application or to an announced resource."""
    path = f"/model/{connection.model}/applications/{application}/resources/{name}"
    with file.open("rb") as stream:
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(file.stat().st_size),
            "Content-Sha384": hashlib.file_digest(stream, "sha384").hexdigest(),
            "Content-Disposition": f'form-data; filename="{quote(file.name)}"',
        }
        stream.seek(0)
        connection.send_file("PUT", f"{path}?pendingid={pending}" if pending else path, stream, headers)


def places(wanted: Iterable[Placement], model: str) -> list[dict[str, str]]:
    """Return placements in the form of the wire."""
    return [_place(item, model) for item in wanted]


def _place(item: Placement, model: str) -> dict[str, str]:
    if item.kind is PlacementKind.MACHINE:
        return {"scope": "#", "directive": item.value}
    if item.kind is PlacementKind.CONTAINER:
        return {"scope": item.value, "directive": item.parent or ""}
    if item.kind is PlacementKind.SSH:
        raise NotSupported(
            "a machine is taken into a model only on the host of the controller",
            hint=f"there: pushjuju add-machine ssh:{item.value}",
        )
    return {"scope": model, "directive": item.value}


def storage(wanted: Mapping[str, Directive]) -> dict[str, dict[str, Any]]:
    """Return storage directives in the form of the wire."""
    return {name: directive(item) for name, item in wanted.items()}


def directive(item: Directive) -> dict[str, Any]:
    """Return a storage directive in the form of the wire."""
    return {"pool": item.pool, "size": item.size, "count": item.count}
