"""Finds, makes, reads and deletes models, and tells who may use them.

The owner of a model has every access, other users have the granted access.
Mirrors: juju cmd/juju/model, core/permission (3.6)
"""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.clouds import Cloud
from pushjuju.core.errors import NotFound, NotValid, UsageError
from pushjuju.core.ids import new_uuid
from pushjuju.core.names import is_model
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life, StatusKind
from pushjuju.plugins import manager
from pushjuju.services.entities.basis import statuses, users
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.store.queue import WorkItem
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import ModelTx, Tx

CONTROLLER = "controller"  # the name of the controller's own model
_UUID_PREFIX = 6  # hex digits of a model UUID that are enough to name the model


def is_controller(model: Model) -> bool:
    """Return True for the controller's own model."""
    return (model.owner, model.name) == (DEFAULT_USER, CONTROLLER)


def require_machines(model: Model) -> None:
    """Raise NotValid when a model may not have machines, as it is the controller's own."""
    if is_controller(model):
        raise NotValid(
            f'the model "{CONTROLLER}" has no machines: a controller here is a directory, and needs none',
            hint="pushjuju add-model NAME",
        )


def resolve(ctx: Context, text: str | None) -> Model:
    """Return the model that a user names, or the current model for None.

    Args:
        text: `model`, `owner/model`, a UUID, or at least the first 6 digits of a UUID.

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
        whole = f"{ctx.controller.name}:{owner or ctx.user}/{name}"
        raise NotFound(f"model {whole} not found", subject=Subject("model", name))
    return found


def no_model() -> NotFound:
    """Return the error for a command that needs a current model."""
    return NotFound(
        "No model in focus.",
        detail='Please use "pushjuju models" to see models available to you.\n'
        'You can set current model by running "pushjuju switch"\n'
        'or specify any other model on the command line using the "-m" option.',
    )


def _current(tx: Tx, ctx: Context, current: str | None) -> Model:
    if not current:
        raise no_model()
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


def get(tx: ModelTx) -> Model:
    """Return the model of a transaction, or raise NotFound when it has been removed."""
    return tx.get(Model, "model_by_uuid", f"model {tx.model} not found", uuid=tx.model)


def find(ctx: Context, model: str) -> Model | None:
    """Return the model with a UUID, alive or dying, or None when it has been removed."""
    with ctx.store.read() as tx:
        return find_in(tx, model)


def find_in(tx: Tx, model: str) -> Model | None:
    """Return the model with a UUID, alive or dying, or None when it has been removed."""
    return tx.find(Model, "model_by_uuid", uuid=model)


def exists(ctx: Context, model: str) -> bool:
    """Return True when the model with a UUID exists, alive or dying."""
    return find(ctx, model) is not None


def list_models(ctx: Context) -> list[Model]:
    """Return the models that users added, by name, without the controller's own."""
    with ctx.store.read() as tx:
        return [model for model in tx.list(Model, "model_list") if not is_controller(model)]


def own(ctx: Context) -> Model:
    """Return the controller's own model."""
    with ctx.store.read() as tx:
        found = tx.find(Model, "model_by_name", owner=DEFAULT_USER, name=CONTROLLER)
    if found is None:
        raise NotFound(f"model {CONTROLLER} not found")
    return found


def listed(tx: Tx) -> list[Model]:
    """Return all models by name, including the controller's own."""
    return tx.list(Model, "model_list")


def require_alive(tx: ModelTx) -> Model:
    """Return the model of a transaction, or raise NotValid when it is being destroyed."""
    found = get(tx)
    if found.life != Life.ALIVE:
        raise NotValid(f'model "{found.name}" is no longer alive')
    return found


def delete(tx: ModelTx) -> None:
    """Delete an empty model, with its sequences, its work and the access to it."""
    tx.run("access_forget", kind="model", target=tx.model)
    tx.run("work_delete_prefix", prefix=tx.model)
    tx.run("sequence_delete", scope=tx.model)
    tx.run("host_key_clear")
    tx.run("notice_delete_model")
    tx.run("model_delete")


def purge(tx: ModelTx) -> None:
    """Delete a model with everything in it, whatever the model's state."""
    # Foreign keys restrict the deletion of these rows, so they go first, in this order; all others cascade.
    tx.run("model_purge_backing_attachments")
    tx.run("model_purge_backings")
    tx.run("model_purge_storage_attachments")
    tx.run("model_purge_storage")
    tx.run("model_purge_units")
    delete(tx)


def being_worked(ctx: Context, model: str) -> bool:
    """Return True when work of a model is due now, or a process works on the model."""
    now = ctx.clock.now()
    with ctx.store.read() as tx:
        items = tx.list(WorkItem, "work_list", prefix=model)
    return any(item.owner or (item.due and item.due <= now) for item in items)


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


def controller_model(cloud: Cloud, region: str, credential: str, now: datetime) -> Model:
    """Return the controller's own model, which has configuration but no machines."""
    return Model(
        uuid=new_uuid(), name=CONTROLLER, owner=DEFAULT_USER, cloud=cloud.name, cloud_type=cloud.type,
        region=region, credential=credential, life=Life.ALIVE, created=now,
    )  # fmt: skip


def provider_config(ctx: Context, cloud_type: str) -> dict[str, object]:
    """Return the configuration that a provider gives new models; empty when no plugin has the type."""
    try:
        return dict(manager.PluginHost(environ=ctx.environ).provider_type(cloud_type).default_config)
    except NotFound:
        return {}


def access_level(tx: Tx, user: str, model: Model) -> str:
    """Return `read`, `write` or `admin`; empty for a user without access."""
    if model.owner == user:
        return users.LEVELS[users.Kind.MODEL][-1]
    return users.effective_level(tx, user, users.Kind.MODEL, model.uuid)


def may_access(tx: Tx, user: str, model: Model, wanted: str) -> bool:
    """Return True when a user has at least the wanted level of access to a model."""
    found = access_level(tx, user, model)
    levels = users.LEVELS[users.Kind.MODEL]
    return bool(found) and levels.index(found) >= levels.index(wanted)
