"""Annotations: keys and values that users and bundles attach to entities.

Mirrors: juju state/annotations.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import isfinite

from pushjuju.core.errors import NotValid
from pushjuju.store.tx import ModelTx


class Kind(StrEnum):
    """The kind of an entity that has annotations."""

    MODEL = "model"
    APPLICATION = "application"
    MACHINE = "machine"
    UNIT = "unit"
    STORAGE = "storage"


def of_model(tx: ModelTx, kind: Kind) -> dict[str, dict[str, str]]:
    """Return the annotations of one kind of entity: name, id, or UUID of the model -> key -> value."""
    found: dict[str, dict[str, str]] = {}
    for row in tx.rows("annotations", kind=kind):
        found.setdefault(row["owner"], {})[row["key"]] = row["value"]
    return found


def places(tx: ModelTx) -> dict[str, tuple[float, float]]:
    """Return application -> the place in pictures that people chose: `gui-x` and `gui-y` of Juju's GUI."""
    found = {}
    for name, values in of_model(tx, Kind.APPLICATION).items():
        try:
            place = float(values.get("gui-x", "")), float(values.get("gui-y", ""))
        except ValueError:
            continue
        if all(map(isfinite, place)):
            found[name] = place
    return found


def put(tx: ModelTx, kind: Kind, owner: str, values: Mapping[str, str | None]) -> None:
    """Set annotations of an entity; an empty value deletes its key, as in Juju."""
    for key, value in values.items():
        if not key or "." in key:
            raise NotValid(f"cannot update annotations on {kind} {owner}: invalid key {key!r}")
        if value:
            tx.run("annotation_set", kind=kind, owner=owner, key=key, value=value)
        else:
            tx.run("annotation_delete", kind=kind, owner=owner, key=key)
