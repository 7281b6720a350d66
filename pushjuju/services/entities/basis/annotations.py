"""Annotations: keys and values that users and bundles attach to applications and machines.

Mirrors: juju state/annotations.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, cast

from pushjuju.core.errors import NotValid
from pushjuju.store.tx import ModelTx

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName


class Kind(StrEnum):
    """The kind of an entity that has annotations."""

    APPLICATION = "application"
    MACHINE = "machine"


def _statement(kind: Kind, rest: str) -> StatementName:
    return cast("StatementName", f"{kind}_{rest}")


def of_model(tx: ModelTx, kind: Kind) -> dict[str, dict[str, str]]:
    """Return the annotations of a model: name of the application or machine -> key -> value."""
    found: dict[str, dict[str, str]] = {}
    for row in tx.rows(_statement(kind, "annotations")):
        found.setdefault(row["owner"], {})[row["key"]] = row["value"]
    return found


def put(tx: ModelTx, kind: Kind, owner: str, values: Mapping[str, str | None]) -> None:
    """Set annotations of an entity; an empty value deletes its key, as in Juju."""
    for key, value in values.items():
        if not key or "." in key:
            raise NotValid(f"cannot update annotations on {kind} {owner}: invalid key {key!r}")
        if value:
            tx.run(_statement(kind, "annotation_set"), owner=owner, key=key, value=value)
        else:
            tx.run(_statement(kind, "annotation_delete"), owner=owner, key=key)
