"""Models: making, naming, showing, destroying. Mirrors: juju cmd/juju/model (3.6)."""

from __future__ import annotations

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.model.life import Life
from pushjuju.core.problems import Subject
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.store.rows.model import Model
from pushjuju.store.tx import ModelTx, Tx

CONTROLLER = "controller"  # the name of the model that a controller has of itself
_UUID_PREFIX = 6  # hex digits of a model UUID that are enough to name it


def is_controller(model: Model) -> bool:
    """Return True for the model that a controller has of itself."""
    return (model.owner, model.name) == (DEFAULT_USER, CONTROLLER)


def require_machines(model: Model) -> None:
    """Check that a model may have machines."""
    if is_controller(model):
        raise NotValid(
            f'the model "{CONTROLLER}" has no machines: a controller here is a directory, and needs none',
            hint="pushjuju add-model NAME",
        )


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
        whole = f"{ctx.controller.name}:{owner or ctx.user}/{name}"
        raise NotFound(f"model {whole} not found", subject=Subject("model", name))
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


def get(tx: ModelTx) -> Model:
    """Return a model by its UUID.

    Raises:
        NotFound: The model does not exist any more.
    """
    return tx.get(Model, "model_by_uuid", f"model {tx.model} not found", uuid=tx.model)


def find(ctx: Context, model: str) -> Model | None:
    """Return the model of a UUID, also a dying one, or None when it is gone."""
    with ctx.store.read() as tx:
        return find_in(tx, model)


def find_in(tx: Tx, model: str) -> Model | None:
    """Return the model of a UUID, also a dying one, or None when it is gone."""
    return tx.find(Model, "model_by_uuid", uuid=model)


def exists(ctx: Context, model: str) -> bool:
    """Return True when there is a model of a UUID, also a dying one."""
    return find(ctx, model) is not None


def list_models(ctx: Context) -> list[Model]:
    """Return the models that users made, by name: all but the controller's own."""
    with ctx.store.read() as tx:
        return [model for model in tx.list(Model, "model_list") if not is_controller(model)]


def own(ctx: Context) -> Model:
    """Return the model that the controller has of itself.

    Raises:
        NotFound: The controller is of a time when controllers had none.
    """
    with ctx.store.read() as tx:
        found = tx.find(Model, "model_by_name", owner=DEFAULT_USER, name=CONTROLLER)
    if found is None:
        raise NotFound(f"model {CONTROLLER} not found")
    return found


def listed(tx: Tx) -> list[Model]:
    """Return all models by name, also the controller's own."""
    return tx.list(Model, "model_list")


def require_alive(tx: ModelTx) -> Model:
    """Return a model that may still grow.

    Raises:
        NotValid: It is being destroyed.
    """
    found = get(tx)
    if found.life != Life.ALIVE:
        raise NotValid(f'model "{found.name}" is no longer alive')
    return found


def delete(tx: ModelTx) -> None:
    """Delete a model that nothing is left of, with its numbers, its work and who may use it."""
    tx.run("access_forget", kind="model", target=tx.model)
    tx.run("work_delete_prefix", prefix=tx.model)
    tx.run("sequence_delete", scope=tx.model)
    tx.run("model_delete")


def purge(tx: ModelTx) -> None:
    """Delete a model with all that is left of it, whatever state that is in."""
    # These rows refuse to go with what they refer to, so they go first and in this order; all others cascade.
    tx.run("model_purge_backing_attachments")
    tx.run("model_purge_backings")
    tx.run("model_purge_storage_attachments")
    tx.run("model_purge_storage")
    tx.run("model_purge_units")
    delete(tx)


def being_worked(ctx: Context, model: str) -> bool:
    """Return True when any work of a model is due now, or a process works it."""
    now = to_iso(ctx.clock.now())
    with ctx.store.read() as tx:
        rows = tx.rows("work_list", prefix=model)
    return any(row["owner"] or (row["due"] and row["due"] <= now) for row in rows)
