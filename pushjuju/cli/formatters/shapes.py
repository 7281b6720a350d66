"""Which dicts of a document are Go structs (keys keep their order) and which are maps (keys get sorted).

Layer: cli, pure. Services hand over plain dicts; yaml sorts maps naturally and json bytewise, as Juju does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.runner.remote.goformat import Struct

# Shape -> its fields that hold shapes. `*x`: a map of x; `[x`: a list of x; `*`: a map of plain values.
SHAPES: Mapping[str, Mapping[str, str]] = {
    "leaf": {},
    "status": {
        "model": "model-status-head",
        "machines": "*machine",
        "applications": "*application",
        "application-endpoints": "*remote-application",
        "offers": "*offer",
        "storage": "storage",
        "controller": "leaf",
    },
    "model-status-head": {"model-status": "leaf"},
    "machines": {"machines": "*machine"},
    "machine": {
        "juju-status": "leaf",
        "machine-status": "leaf",
        "modification-status": "leaf",
        "base": "leaf",
        "network-interfaces": "*leaf",
        "containers": "*machine",
        "lxd-profiles": "*profile",
    },
    "profile": {"config": "*", "devices": "*map"},
    "application": {
        "base": "leaf",
        "application-status": "leaf",
        "relations": "*[leaf",
        "units": "*unit",
        "endpoint-bindings": "*",
    },
    "unit": {"workload-status": "leaf", "juju-status": "leaf", "subordinates": "*unit"},
    "remote-application": {"endpoints": "*leaf", "application-status": "leaf", "relations": "*"},
    "offer": {"endpoints": "*leaf", "users": "*leaf", "connections": "[connection"},
    "connection": {"status": "leaf"},
    "storage": {"storage": "*storage-instance", "filesystems": "*filesystem", "volumes": "*volume"},
    "storage-instance": {"status": "leaf", "attachments": "attachments"},
    "attachments": {"machines": "*leaf", "containers": "*leaf", "units": "*leaf"},
    "filesystem": {"attachments": "attachments", "status": "leaf"},
    "volume": {"attachments": "attachments", "status": "leaf"},
    "models": {"models": "[model-summary"},
    "model-summary": {"credential": "leaf", "status": "leaf"},
    "show-model": {
        "status": "leaf",
        "users": "*leaf",
        "machines": "*leaf",
        "secret-backends": "*leaf",
        "credential": "leaf",
        "supported-features": "[leaf",
    },
    "show-unit": {"relation-info": "[relation-info"},
    "relation-info": {
        "application-data": "*",
        "local-unit": "relation-unit",
        "related-units": "*relation-unit",
    },
    "relation-unit": {"data": "*"},
    "controllers": {"controllers": "*controller"},
    "controller": {"controller-machines": "leaf"},
    "show-controller": {
        "details": "leaf",
        "controller-machines": "*leaf",
        "models": "*leaf",
        "account": "leaf",
    },
    "config": {"settings": "*leaf", "application-config": "*leaf"},
    "show-application": {"exposed-endpoints": "*leaf", "endpoint-bindings": "*"},
    "history": {},
}


def struct(document: Any, shape: str = "leaf") -> Any:
    """Return the document with every struct marked, so that its keys keep their order.

    Args:
        document: Plain dicts, lists and scalars.
        shape: A name of `SHAPES`, with `*` (map of) or `[` (list of) in front.
    """
    if shape[:1] == "*":
        inner = shape[1:]
        if not inner or not isinstance(document, Mapping):
            return document
        return {key: struct(value, inner) for key, value in document.items()}
    if shape[:1] == "[":
        return [struct(item, shape[1:]) for item in document]
    if not isinstance(document, Mapping) or shape == "map":
        return document
    fields = SHAPES[shape]
    if not fields:
        return Struct(document)
    return Struct(
        (key, struct(value, fields[key]) if key in fields else value) for key, value in document.items()
    )
