"""Reads the constraints of a model, and merges them with those of an application or machine.

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
    """Return the constraints of a model; empty when none are set."""
    found = tx.scalar("model_constraints_get")
    return dict(json.loads(found)) if found else {}


def default_base(ctx: Context, model: str) -> Base:
    """Return the base of new machines for which a command names no base: the model's, or Ubuntu 24.04."""
    with ctx.read(model) as tx:
        text = model_config.get(tx, model_config.BASE)
    return Base.parse(text) if text else Base("ubuntu", "24.04")


def for_machine(tx: ModelTx, own: Mapping[str, Any]) -> dict[str, object]:
    """Return the constraints of a new machine: the model's, overridden by `own`.

    The cloud's plugin is loaded for its rules on conflicts only when both model and `own` have constraints.
    """
    weaker = of_model(tx)
    both = weaker and any(value is not None for value in own.values())
    return constraint_rules.merge(weaker, own, _conflicts(tx) if both else ())


def _conflicts(tx: ModelTx) -> constraint_rules.Conflicts:
    from pushjuju.plugins.manager import PluginHost  # only when model and machine have constraints

    try:
        return PluginHost(environ=os.environ).provider_type(models.get(tx).cloud_type).conflicts
    except NotFound:
        return constraint_rules.SIZES_OF_A_TYPE
