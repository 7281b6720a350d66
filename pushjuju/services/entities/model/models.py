"""Models: making, naming, showing, destroying. Mirrors: juju cmd/juju/model (3.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pushjuju.core.clock import to_iso
from pushjuju.core.clouds import Cloud
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, UsageError
from pushjuju.core.ids import new_uuid
from pushjuju.core.model.life import Life
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import Tx

Check = Callable[[Cloud, str, str, Mapping[str, Any]], None]
"""Looks at a model that is to be made: its cloud, region, credential and settings; may refuse it."""

CONTROLLER = "controller"  # the name of the model that a controller has of itself
_UUID_PREFIX = 6  # hex digits of a model UUID that are enough to name it


def require_name(name: str) -> None:
    """Check the name of a new model.

    Raises:
        UsageError: The text is not the name of a model; the message is Juju's.
    """
    from pushjuju.core.names import is_model

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

    Raises:
        NotValid: Bad name or configuration.
        AlreadyExists: The name is taken.
        NotFound: No such cloud, credential or owner.
    """
    # Here: every command finds its model through this module, few make one.
    from pushjuju.services.entities.basis import users, wake
    from pushjuju.services.entities.model import model_config, model_defaults

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
    with ctx.store.write() as tx:
        users.require_or_external(tx, model.owner)
        if tx.find(Model, "model_by_name", owner=model.owner, name=name):
            raise AlreadyExists(f'model "{name}" for {model.owner} already exists')
        insert(tx, model, now=now)
        model_config.change(tx, model.uuid, settings, new=True)
        wake.cleaner(tx, model.uuid, now, "new model")
    return model


def insert(tx: Tx, model: Model, *, now: datetime) -> None:
    """Record a model, which is available from now on."""
    from pushjuju.core.status import StatusKind
    from pushjuju.services.entities.basis import statuses

    tx.insert("model", model)
    statuses.set_status(tx, model.uuid, StatusKind.MODEL, model.name, "available", now=now)


def of_controller(cloud: Cloud, region: str, credential: str, now: datetime) -> Model:
    """Return the model that each controller has of itself: it has settings, and no machines."""
    return Model(
        uuid=new_uuid(), name=CONTROLLER, owner=DEFAULT_USER, cloud=cloud.name, cloud_type=cloud.type,
        region=region, credential=credential, life=Life.ALIVE, created=to_iso(now),
    )  # fmt: skip


def is_controller(model: Model) -> bool:
    """Return True for the model that a controller has of itself."""
    return (model.owner, model.name) == (DEFAULT_USER, CONTROLLER)


def require_machines(model: Model) -> None:
    """Check that a model may have machines.

    Raises:
        NotValid: The model is the controller's own.
    """
    if is_controller(model):
        raise NotValid(
            f'the model "{CONTROLLER}" has no machines: a controller here is a directory, and needs none',
            hint="pushjuju add-model NAME",
        )


def _placed(ctx: Context, asked: str | None, credential: str) -> tuple[Cloud, str, str]:
    """Return cloud, region and credential of a new model; the controller's own unless asked otherwise.

    Raises:
        NotFound: No such cloud, region or credential.
        NotValid: Several credentials, and none of them is the default.
    """
    from pushjuju.plugins.manager import PluginHost

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
    from pushjuju.plugins.manager import PluginHost

    try:
        return dict(PluginHost(environ=ctx.environ).provider_type(cloud_type).default_config)
    except NotFound:
        return {}


def _cloud_settings(cloud: Cloud, region: str) -> dict[str, Any]:
    """Return what a cloud's definition says of its models' configuration."""
    from pushjuju.services.entities.model import model_config

    given = {**cloud.config, **(cloud.region_config.get(region) or {})}
    return {key: value for key, value in given.items() if key in model_config.ATTRIBUTES}


def resolve(ctx: Context, text: str | None) -> Model:
    """Return the model that a user means; the current one for None.

    Args:
        text: `model`, `owner/model`, UUID or a prefix of it of at least 6 digits.

    Raises:
        NotFound: The model does not exist, or no model is current.
    """
    current = ctx.controller.settings().get("current-model")
    with ctx.store.read() as tx:
        if text is None:
            return _current(tx, ctx, current)
        found = _by_text(tx, ctx.user, text)
    if found is None:
        owner, _, name = text.rpartition("/")
        raise NotFound(f"model {ctx.controller.name}:{owner or ctx.user}/{name} not found")
    return found


def _current(tx: Tx, ctx: Context, current: str | None) -> Model:
    if not current:
        raise NotFound(
            "No model in focus.",
            detail='Please use "pushjuju models" to see models available to you.\n'
            'You can set current model by running "pushjuju switch"\n'
            'or specify any other model on the command line using the "-m" option.',
        )
    found = _by_text(tx, ctx.user, current)
    if found is None:
        raise NotFound(
            f'model "{current.rpartition("/")[2]}" has been removed from the controller, '
            "run 'pushjuju models' and switch to one of them."
        )
    return found


def _by_text(tx: Tx, user: str, text: str) -> Model | None:
    owner, _, name = text.rpartition("/")
    if found := tx.find(Model, "model_by_name", owner=owner or user, name=name):
        return found
    if len(text) >= _UUID_PREFIX and all(char in "0123456789abcdef-" for char in text):
        matches = tx.list(Model, "model_by_prefix", prefix=text)
        return matches[0] if len(matches) == 1 else None
    return None


def get(tx: Tx, model: str) -> Model:
    """Return a model by its UUID.

    Raises:
        NotFound: The model does not exist any more.
    """
    return tx.get(Model, "model_by_uuid", f"model {model} not found", uuid=model)


def list_models(ctx: Context) -> list[Model]:
    """Return the models that users made, by name: all but the controller's own."""
    with ctx.store.read() as tx:
        return [model for model in tx.list(Model, "model_list") if not is_controller(model)]


def require_alive(tx: Tx, model: str) -> Model:
    """Return a model that may still grow.

    Raises:
        NotValid: It is being destroyed.
    """
    found = get(tx, model)
    if found.life != Life.ALIVE:
        raise NotValid(f'model "{found.name}" is no longer alive')
    return found


def delete(tx: Tx, model: str) -> None:
    """Delete a model that nothing is left of, with its numbers, its work and who may use it."""
    tx.run("access_forget", kind="model", target=model)
    tx.run("work_delete_prefix", prefix=model)
    tx.run("sequence_delete", scope=model)
    tx.run("model_delete", model=model)


def purge(tx: Tx, model: str) -> None:
    """Delete a model with all that is left of it, whatever state that is in."""
    # These rows refuse to go with what they refer to, so they go first and in this order; all others cascade.
    for rows in ("backing_attachments", "backings", "storage_attachments", "storage", "units"):
        tx.run(f"model_purge_{rows}", model=model)
    delete(tx, model)


def being_worked(ctx: Context, model: str) -> bool:
    """Return True when any work of a model is due now, or a process works it."""
    now = to_iso(ctx.clock.now())
    with ctx.store.read() as tx:
        rows = tx.rows("work_list", prefix=model)
    return any(row["owner"] or (row["due"] and row["due"] <= now) for row in rows)
