"""Documents about disabled commands. Mirrors: juju cmd/juju/block (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.services.entities.basis.blocks import SETS
from pushjuju.services.entities.basis.context import Context


def of_model(ctx: Context, model: str) -> list[dict[str, str]]:
    """Return the disabled sets of a model: `command-set`, and the `message` that the user gave."""
    with ctx.read(model) as tx:
        rows = tx.rows("block_list")
    return [
        {"command-set": row["type"], **({"message": row["message"]} if row["message"] else {})}
        for row in sorted(rows, key=lambda row: SETS.index(row["type"]))
    ]


def of_controller(ctx: Context) -> list[dict[str, Any]]:
    """Return the models with disabled commands: name, model-uuid, owner, disabled-commands."""
    found: dict[str, dict[str, Any]] = {}
    with ctx.store.read() as tx:
        for row in tx.rows("block_models"):
            entry = {"name": row["name"], "model-uuid": row["uuid"], "owner": row["owner"]}
            found.setdefault(row["uuid"], {**entry, "disabled-commands": []})
            found[row["uuid"]]["disabled-commands"].append(row["type"])
    return list(found.values())
