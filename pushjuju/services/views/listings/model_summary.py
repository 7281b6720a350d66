"""The summary of a model, for clients that watch many models.

Mirrors: juju core/model/summary, rpc/params ModelAbstract (3.6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.cloud.clouds import parts_of

if TYPE_CHECKING:
    from pushjuju.store.rows.model import Model
    from pushjuju.store.tx import ModelTx

_WELL, _BLOCKED, _FAILED = "green", "yellow", "red"


def summary(tx: ModelTx, model: Model, controller: str) -> dict[str, object]:
    """Return the summary of a model; its status is a colour, and its messages name the units in error."""
    errors = tx.rows("units_in_error")
    sizes = tx.row("model_sizes")
    access = users.access_to(tx, Kind.MODEL, model.uuid)
    return {
        "uuid": model.uuid,
        "controller": controller,
        "name": model.name,
        "admins": sorted({model.owner, *(user for user, level in access.items() if level == "admin")}),
        "cloud": model.cloud,
        "region": model.region,
        "credential": parts_of(model.credential)[1],
        "size": dict(sizes) if sizes else {},
        "status": _FAILED if errors else _BLOCKED if tx.scalar("units_blocked") else _WELL,
        "messages": [{"agent": row["entity"], "message": row["message"]} for row in errors],
    }
