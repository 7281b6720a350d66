"""The constraints of models and applications: what new machines shall be like.

Mirrors: juju apiserver/facades/client/modelconfig, application (3.6)
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from pushjuju.core import constraint_rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config, models
from pushjuju.store.tx import ModelTx


def of_model(tx: ModelTx) -> dict[str, object]:
    """Return the constraints of a model; none when nothing was set."""
    found = tx.scalar("model_constraints_get")
    return dict(json.loads(found)) if found else {}


def default_base(ctx: Context, model: str) -> Base:
    """Return the base of machines for which no base is named."""
    with ctx.read(model) as tx:
        text = model_config.get(tx, model_config.BASE)
    return Base.parse(text) if text else Base("ubuntu", "24.04")


def for_machine(tx: ModelTx, own: Mapping[str, Any]) -> dict[str, object]:
    """Return what a new machine gets: its own, or its application's, over the model's.

    What excludes each other is the cloud's to say; its plugin is asked only where two sides speak.
    """
    weaker = of_model(tx)
    both = weaker and any(value is not None for value in own.values())
    return constraint_rules.merge(weaker, own, _conflicts(tx) if both else ())


def _conflicts(tx: ModelTx) -> constraint_rules.Conflicts:
    from pushjuju.plugins.manager import PluginHost  # only where model and machine both speak

    try:
        return PluginHost(environ=os.environ).provider_type(models.get(tx).cloud_type).conflicts
    except NotFound:
        return constraint_rules.SIZES_OF_A_TYPE
