"""Disabled commands: sets of commands that a user has blocked in a model with `disable-command`.

Mirrors: juju state/block.go, cmd/juju/block (3.6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.core.errors import Blocked

if TYPE_CHECKING:  # help texts import this module for the sets, without the store
    from pushjuju.store.tx import ModelTx

DESTROY, REMOVE, CHANGE = "destroy-model", "remove-object", "all"
SETS = (DESTROY, REMOVE, CHANGE)
# action to check -> the sets that block it; the message of the first blocked set is shown
_FORBIDS = {DESTROY: SETS, REMOVE: (REMOVE, CHANGE), CHANGE: (CHANGE,)}
_WHAT = {
    DESTROY: "destroy-model operation has been disabled for the current model.\nTo enable the command run",
    REMOVE: "All operations that remove machines, applications, units or\n"
    "relations have been disabled for the current model.\nTo enable removal, run",
    CHANGE: "All operations that change model have been disabled for the current model.\n"
    "To enable changes, run",
}


def require(tx: ModelTx, act: str) -> None:
    """Raise Blocked when a user has disabled an action, by its narrowest set of `SETS`, in the model."""
    found = {row["type"]: row["message"] for row in tx.rows("block_list")}
    for name in _FORBIDS[act] if found else ():
        if name in found:
            text = found[name] or Blocked.message
            raise Blocked(f"{text}\n\n{_WHAT[name]}\n\n    pushjuju enable-command {name}\n")
