"""Checks and records new models."""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.clouds import Cloud
from pushjuju.core.errors import NotFound, UsageError
from pushjuju.core.ids import new_uuid
from pushjuju.core.names import is_model
from pushjuju.core.status import Life, StatusKind
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.model.models import CONTROLLER
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import ModelTx


def require_name(name: str) -> None:
    """Raise UsageError when a text cannot be the name of a new model."""
    if not is_model(name):
        raise UsageError(
            f'"{name}" is not a valid name: '
            "model names may only contain lowercase letters, digits and hyphens"
        )


def insert(tx: ModelTx, model: Model, *, now: datetime) -> None:
    """Record a model as available."""
    tx.insert("model", model)
    statuses.set_status(tx, StatusKind.MODEL, model.name, "available", now=now)


def of_controller(cloud: Cloud, region: str, credential: str, now: datetime) -> Model:
    """Return the controller's own model, which has configuration but no machines."""
    return Model(
        uuid=new_uuid(), name=CONTROLLER, owner=DEFAULT_USER, cloud=cloud.name, cloud_type=cloud.type,
        region=region, credential=credential, life=Life.ALIVE, created=now,
    )  # fmt: skip


def provider_config(ctx: Context, cloud_type: str) -> dict[str, object]:
    """Return the configuration that a provider gives new models; empty when no plugin has the type."""
    try:
        return dict(PluginHost(environ=ctx.environ).provider_type(cloud_type).default_config)
    except NotFound:
        return {}
