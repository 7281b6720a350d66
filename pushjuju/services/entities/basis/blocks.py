"""Disabled commands: what may not be done to a model until a user enables it again.

Mirrors: juju state/block.go, cmd/juju/block (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju.core.errors import Blocked, NotFound, NotValid
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.tx import Tx

DESTROY, REMOVE, CHANGE = "destroy-model", "remove-object", "all"
SETS = (DESTROY, REMOVE, CHANGE)
# the action to check -> the sets that forbid it, the narrowest first
_FORBIDS = {DESTROY: SETS, REMOVE: (REMOVE, CHANGE), CHANGE: (CHANGE,)}
_WHAT = {
    DESTROY: "destroy-model operation has been disabled for the current model.\nTo enable the command run",
    REMOVE: "All operations that remove machines, applications, units or\n"
    "relations have been disabled for the current model.\nTo enable removal, run",
    CHANGE: "All operations that change model have been disabled for the current model.\n"
    "To enable changes, run",
}


def require(tx: Tx, model: str, act: str) -> None:
    """Check that nothing forbids an act.

    Args:
        act: The action to check: a name of `SETS`, the mildest that it belongs to.
    """
    found = {row["type"]: row["message"] for row in tx.rows("block_list", model=model)}
    for name in _FORBIDS[act] if found else ():
        if name in found:
            text = found[name] or Blocked.message
            raise Blocked(f"{text}\n\n{_WHAT[name]}\n\n    pushjuju enable-command {name}\n")


def disable(ctx: Context, model: str, name: str, message: str) -> None:
    """Disable a set of commands."""
    with ctx.store.write() as tx:
        if tx.scalar("block_of", model=model, type=name) is not None:
            raise NotValid(f"block {_juju_name(name)} is already ON")
        tx.run("block_set", model=model, type=name, message=message)


def enable(ctx: Context, model: str, name: str) -> None:
    """Enable a set of commands again."""
    with ctx.store.write() as tx:
        if not tx.run("block_delete", model=model, type=name):
            raise NotFound(f"block {_juju_name(name)} is already OFF")


def _juju_name(name: str) -> str:
    return {DESTROY: "BlockDestroy", REMOVE: "BlockRemove", CHANGE: "BlockChange"}[name]


def enable_everywhere(ctx: Context) -> None:
    """Enable all commands in all models of a controller."""
    with ctx.store.write() as tx:
        tx.run("block_delete_all")


def of_model(ctx: Context, model: str) -> list[dict[str, str]]:
    """Return what is disabled: `command-set`, and the `message` that the user gave."""
    with ctx.store.read() as tx:
        rows = tx.rows("block_list", model=model)
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
