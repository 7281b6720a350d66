"""Disabled commands: what may not be done to a model until a user enables it again.

Mirrors: juju state/block.go, cmd/juju/block (3.6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.core.errors import Blocked

if TYPE_CHECKING:  # help texts show the sets, and need no store
    from pushjuju.store.tx import ModelTx

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


def require(tx: ModelTx, act: str) -> None:
    """Check that nothing forbids an act.

    Args:
        act: The action to check: a name of `SETS`, the mildest that it belongs to.
    """
    found = {row["type"]: row["message"] for row in tx.rows("block_list")}
    for name in _FORBIDS[act] if found else ():
        if name in found:
            text = found[name] or Blocked.message
            raise Blocked(f"{text}\n\n{_WHAT[name]}\n\n    pushjuju enable-command {name}\n")
