"""New models: their name, place and first settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pushjuju.core.clock import to_iso
from pushjuju.core.clouds import Cloud
from pushjuju.core.errors import AlreadyExists, NotFound, UsageError
from pushjuju.core.ids import new_uuid
from pushjuju.core.model.life import Life
from pushjuju.core.names import is_model
from pushjuju.core.status import StatusKind
from pushjuju.plugins.manager import PluginHost
from pushjuju.services.entities.basis import statuses, users, wake
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.model import model_config, model_defaults
from pushjuju.services.entities.model.models import CONTROLLER
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import ModelTx

Check = Callable[[Cloud, str, str, Mapping[str, Any]], None]
"""Looks at a model that is to be made: its cloud, region, credential and settings; may refuse it."""


def require_name(name: str) -> None:
    """Check the name of a new model."""
    if not is_model(name):
        raise UsageError(
            f'"{name}" is not a valid name: '
            "model names may only contain lowercase letters, digits and hyphens"
        )


def add_model(
    ctx: Context,
    name: str,
    *,
    cloud: str | None = None,
    credential: str = "",
    config: Mapping[str, Any] | None = None,
    owner: str = "",
    check: Check | None = None,
) -> Model:
    """Make a model.

    Args:
        check: Called with cloud, region, name of the credential and settings, before anything is recorded; it
            may refuse.
        config: Its own settings; below them comes what the region, the controller, the cloud's definition and
            its provider say, in this order.
        owner: A user of the controller; who works it when empty.
        cloud: `cloud[/region]`; the controller's own when None.
    """
    require_name(name)
    found, region, chosen = _placed(ctx, cloud, credential)
    now = ctx.clock.now()
    model = Model(
        uuid=new_uuid(), name=name, owner=users.canonical(owner or ctx.user), cloud=found.name,
        cloud_type=found.type, region=region, credential=chosen, life=Life.ALIVE, created=to_iso(now),
    )  # fmt: skip
    inherited = model_defaults.inherited(ctx.controller.settings(), found.name, region)
    settings: dict[str, Any] = {}
    for layer in (provider_config(ctx, found.type), _cloud_settings(found, region), inherited, config or {}):
        settings.update(model_config.parse_values(layer))
    if check is not None:
        check(found, region, chosen, settings)
    with ctx.write(model.uuid) as tx:
        users.require_or_external(tx, model.owner)
        if tx.find(Model, "model_by_name", owner=model.owner, name=name):
            raise AlreadyExists(f'model "{name}" for {model.owner} already exists')
        insert(tx, model, now=now)
        model_config.change(tx, settings, new=True)
        wake.cleaner(tx, now, "new model")
    return model


def insert(tx: ModelTx, model: Model, *, now: datetime) -> None:
    """Record a model, which is available from now on."""
    tx.insert("model", model)
    statuses.set_status(tx, StatusKind.MODEL, model.name, "available", now=now)


def of_controller(cloud: Cloud, region: str, credential: str, now: datetime) -> Model:
    """Return the model that each controller has of itself: it has settings, and no machines."""
    return Model(
        uuid=new_uuid(), name=CONTROLLER, owner=DEFAULT_USER, cloud=cloud.name, cloud_type=cloud.type,
        region=region, credential=credential, life=Life.ALIVE, created=to_iso(now),
    )  # fmt: skip


def _placed(ctx: Context, asked: str | None, credential: str) -> tuple[Cloud, str, str]:
    """Return cloud, region and credential of a new model; the controller's own unless asked otherwise."""
    settings = ctx.controller.settings()
    own = f"{settings.get('cloud', 'local')}/{settings.get('region', '')}"
    name, region = clouds.split(asked or own)
    places = clouds.folders(ctx.datadir, ctx.controller)
    found = clouds.definition(places, name, PluginHost(environ=ctx.environ))
    if not asked or name == settings.get("cloud"):
        credential = credential or str(settings.get("credential", ""))
    chosen = clouds.choose_credential(places, name, credential)
    clouds.keep_public(ctx.controller, places, found)
    return found, clouds.choose_region(places, found, region), chosen


def provider_config(ctx: Context, cloud_type: str) -> dict[str, Any]:
    """Return the settings that a provider gives new models; empty for a type without a provider."""
    try:
        return dict(PluginHost(environ=ctx.environ).provider_type(cloud_type).default_config)
    except NotFound:
        return {}


def _cloud_settings(cloud: Cloud, region: str) -> dict[str, Any]:
    """Return what a cloud's definition says of its models' configuration."""
    given = {**cloud.config, **(cloud.region_config.get(region) or {})}
    return {key: value for key, value in given.items() if key in model_config.ATTRIBUTES}
