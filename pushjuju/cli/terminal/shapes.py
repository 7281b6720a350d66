"""Which dicts of a document are Go structs (keys keep their order), and which are maps (keys are sorted).

Pure. Services return plain dicts; like Juju, yaml sorts maps naturally and json bytewise. `struct` marks the
structs of a document, for emitters that sort all other dicts. `arranged` sorts the maps itself, which is
faster for documents of thousands of entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from pushjuju.cli.terminal import output
from pushjuju.portable.gotypes import Struct
from pushjuju.portable.natural import numbered
from pushjuju.portable.yamlwords import map_key

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
    "model-default": {"regions": "[leaf"},
    "history": {},
}


def struct(document: Any, shape: str = "leaf") -> Any:
    """Return the document with its structs marked, so that their keys keep their order.

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


def structured(shape: str) -> dict[str, Callable[[Any], str]]:
    """Return the functions that format a document of a shape as yaml and json."""
    return {
        "yaml": lambda document: output.render("yaml", struct(document, shape)),
        "json": lambda document: output.render("json", struct(document, shape)),
    }


Order = Callable[[Iterable[str]], list[str]]


def arranged(document: Any, shape: str, order: Order) -> Any:
    """Return the document with the keys of every map sorted, for an emitter that does not sort.

    The result shares unchanged parts with the document. `SHAPES` must name all maps of the document.

    Args:
        document: Plain dicts, lists and scalars.
        shape: A name of `SHAPES`, with `*` (map of) or `[` (list of) in front.
        order: `bytewise` for json, `naturally` for yaml.
    """
    if shape[0] == "*":
        return _arranged_map(document, shape[1:], order)
    if shape[0] == "[":
        return [arranged(item, shape[1:], order) for item in document] if _deep(shape[1:]) else document
    changed: dict[str, object] | None = None
    for name, inner in _deep(shape):
        value = document.get(name)
        if value:
            shown = arranged(value, inner, order)
            if shown is not value:
                changed = dict(document) if changed is None else changed
                changed[name] = shown
    return document if changed is None else changed


def _arranged_map(document: Any, inner: str, order: Order) -> Any:
    if inner in ("", "map"):
        return _sorted(document, order)
    if len(document) < 2 and not _deep(inner):
        return document
    names = order(document)
    if not _deep(inner):
        return {name: document[name] for name in names}
    return {name: arranged(document[name], inner, order) for name in names}


def _sorted(value: Any, order: Order) -> Any:
    """Return a value that has no shape, with all its maps sorted."""
    if isinstance(value, Mapping):
        return {name: _sorted(value[name], order) for name in order(value)}
    return [_sorted(item, order) for item in value] if isinstance(value, list) else value


@cache
def _deep(shape: str) -> tuple[tuple[str, str], ...]:
    """Return (name, shape) of a shape's fields that hold maps, at any depth."""
    if shape[:1] in ("*", "["):
        return (("", shape),) if shape[0] == "*" or _deep(shape[1:]) else ()
    fields = SHAPES.get(shape, {})
    # a shape may contain itself, always inside a map: such a shape holds maps
    return tuple((name, inner) for name, inner in fields.items() if inner[0] == "*" or _deep(inner))


def bytewise(names: Iterable[str]) -> list[str]:
    """Return keys in the order of json."""
    return sorted(names)


def naturally(names: Iterable[str]) -> list[str]:
    """Return keys in the order of yaml."""
    listed = list(names)
    # yaml and tables order names alike when they differ in numbers alone
    return numbered(listed, groups=False) or sorted(listed, key=map_key)
