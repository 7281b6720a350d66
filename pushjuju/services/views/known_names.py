"""Lists the names of entities, to suggest one for a mistyped name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pushjuju.services.entities.basis.context import Context

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName

# Kind -> statement that lists the entities, and the column with their name.
_OF_A_MODEL: Mapping[str, tuple[StatementName, int | str]] = {
    "application": ("application_list", "name"),
    "unit": ("unit_list", "name"),
    "storage": ("storage_instance_list", "id"),
    "saas": ("complete_saas", 0),
    "space": ("complete_space", 0),
    "pool": ("complete_pool", 0),
}
_OF_THE_CONTROLLER: Mapping[str, tuple[StatementName, int | str]] = {
    "offer": ("complete_offer_url", 0),
    "model": ("model_list", "name"),
    "user": ("person_list", "name"),
}


def of_model(ctx: Context, model: str, kind: str) -> list[str]:
    """Return the names of a kind in a model or its controller; empty for an unknown kind."""
    if kind not in _OF_A_MODEL:
        return of_controller(ctx, kind)
    statement, column = _OF_A_MODEL[kind]
    with ctx.read(model) as tx:
        return [str(row[column]) for row in tx.rows(statement)]


def of_controller(ctx: Context, kind: str) -> list[str]:
    """Return the names of a kind in a controller; empty for an unknown kind."""
    if kind not in _OF_THE_CONTROLLER:
        return []
    statement, column = _OF_THE_CONTROLLER[kind]
    with ctx.store.read() as tx:
        return [str(row[column]) for row in tx.rows(statement)]
