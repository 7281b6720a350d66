"""The document of `show-controller`."""

from __future__ import annotations

from pushjuju import JUJU_VERSION
from pushjuju.core.clouds import DEFAULT_REGION
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models, sessions


def show_controller(ctx: Context) -> dict[str, object]:
    """Return the document of `show-controller` for one controller."""
    settings = ctx.controller.settings()
    version = settings.get("agent-version", JUJU_VERSION)
    return {
        "details": {
            "controller-uuid": settings.get("uuid", ""),
            "api-endpoints": ["local"],
            "cloud": settings.get("cloud", ""),
            "region": settings.get("region", DEFAULT_REGION),
            "agent-version": version,
            "controller-model-version": version,
            "ca-cert": "",
        },
        "models": {model.qualified: _model(ctx, model.uuid) for model in models.list_models(ctx)},
        **({"current-model": sessions.current_model(ctx)} if sessions.current_model(ctx) else {}),
        "account": {"user": DEFAULT_USER, "access": "superuser"},
    }


def _model(ctx: Context, uuid: str) -> dict[str, object]:
    with ctx.read(uuid) as tx:
        listed = machines.list_machines(tx)
        count = sum(len(machines.units_on(tx, machine.id)) for machine in listed)
    cores = sum(int(machine.hardware.get("cores") or 0) for machine in listed)
    found = {"machine-count": len(listed), "core-count": cores, "unit-count": count}
    return {"model-uuid": uuid, **{key: value for key, value in found.items() if value}}
