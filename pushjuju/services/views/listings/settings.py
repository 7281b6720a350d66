"""Documents of the configuration of a controller, and of the constraints and public keys of a model.

Mirrors: juju apiserver/facades/client/keymanager ListKeys (3.6)
"""

from __future__ import annotations

from typing import Any

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import constraints, controller_config, ssh_keys
from pushjuju.services.entities.model.controller_config import SETTINGS
from pushjuju.services.entities.model.ssh_keys import PublicKey


def of_controller(ctx: Context) -> dict[str, Any]:
    """Return key -> value of a controller's configuration with its defaults, without secrets."""
    settings = ctx.controller.settings()
    found = {key: item.default for key, item in SETTINGS.items() if item.default is not None}
    known = {key: value for key, value in settings.get("config", {}).items() if key in SETTINGS}
    found.update(
        known, **{"controller-name": ctx.controller.name, "controller-uuid": settings.get("uuid", "")}
    )
    return {key: value for key, value in sorted(found.items()) if key not in controller_config.SECRET}


def model_constraints(ctx: Context, model: str) -> dict[str, object]:
    """Return the constraints of a model; empty when none are set."""
    with ctx.read(model) as tx:
        return constraints.of_model(tx)


def sequences(ctx: Context, model: str) -> dict[str, int]:
    """Return the next numbers: of machines as `machine`, of the units of NAME as `application-NAME`."""
    with ctx.read(model) as tx:
        return machines.sequences(tx)


def public_keys(ctx: Context, model: str) -> list[PublicKey]:
    with ctx.read(model) as tx:
        return [ssh_keys.parse(line) for line in ssh_keys.lines(tx)]
