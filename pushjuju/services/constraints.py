"""The constraints of models and applications: what new machines shall be like. Layer: services.

Mirrors: juju apiserver/facades/client/modelconfig, application (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pushjuju.core import constraints as rules
from pushjuju.services import models
from pushjuju.services.context import Context
from pushjuju.state.store import Tx


def of_model(tx: Tx, model: str) -> dict[str, Any]:
    """Return the constraints of a model; none when nothing was set."""
    found = tx.scalar("model_constraints_get", model=model)
    return dict(json.loads(found)) if found else {}


def for_machine(tx: Tx, model: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a new machine gets: its own, or its application's, over the model's."""
    return rules.merge(of_model(tx, model), own)


def set_model(ctx: Context, model: str, values: Mapping[str, Any]) -> None:
    """Replace the constraints of a model; machines that are there stay as they are.

    Raises:
        NotValid: The model is being destroyed.
    """
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        kept = {key: value for key, value in values.items() if value is not None}
        tx.run("model_constraints_set", model=model, value=json.dumps(kept))
