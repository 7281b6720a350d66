"""The document of `show-model`."""

from __future__ import annotations

from pushjuju import JUJU_VERSION
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.secret import secret_backends
from pushjuju.services.views.documents import model_entry, model_users
from pushjuju.store.rows.records import Model


def show_model(ctx: Context, model: Model) -> dict[str, object]:
    """Return the document of `show-model`: short name -> model."""
    with ctx.read(model.uuid) as tx:
        entry = model_entry(ctx, tx, models.get(tx))
        every = machines.list_machines(tx)
        used = secret_backends.used_by(tx)
    shown = {key: value for key, value in entry.items() if key not in ("access", "last-connection")}
    shown["users"] = model_users(ctx, model)
    shown["machines"] = {item.id: {"cores": int(item.hardware.get("cores") or 0)} for item in every}
    shown["secret-backends"] = used
    shown["sla"] = "unsupported"
    shown["agent-version"] = shown.pop("agent-version")
    if "credential" in shown:
        shown["credential"] = shown.pop("credential")  # Juju has this key after the others
    shown["supported-features"] = [
        {"name": "juju", "description": "the version of Juju used by the model", "version": JUJU_VERSION}
    ]
    return {model.name: shown}
