"""The requests of destroy-model and destroy-controller, and what dying models wait for.

Mirrors: juju apiserver/facades/client/modelmanager DestroyModels (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.model import Model
from pushjuju.store.rows.records import Application, Cleanup, Machine
from pushjuju.store.rows.storage_records import Backing


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The content of a model; `stored` has the kind of each volume and filesystem."""

    machines: Sequence[Machine]
    applications: Sequence[str]
    stored: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dying:
    """What a dying model waits for; `has_ends` is True when forced ends will come in time."""

    reasons: Sequence[str]
    has_ends: bool


def contents(ctx: Context, model: str) -> Contents:
    with ctx.read(model) as tx:
        return Contents(
            machines=machines.list_machines(tx),
            applications=[item.name for item in tx.list(Application, "application_list")],
            stored=[item.kind for item in tx.list(Backing, "backing_list")],
        )


def counts(ctx: Context, listed: Sequence[Model]) -> tuple[int, int]:
    """Return the numbers of machines and of applications in some models."""
    found = [contents(ctx, model.uuid) for model in listed]
    return sum(len(item.machines) for item in found), sum(len(item.applications) for item in found)


def destroy_models(
    ctx: Context, doomed: Sequence[Model], force: removal.Force | None, *, destroy_storage: bool | None
) -> bool:
    """Begin to destroy models, or change nothing when a model is refused; return True when models wait.

    Args:
        destroy_storage: True to destroy persistent storage, False to release it, or None to refuse models
            with such storage.
    """
    waits = False
    with ctx.change_controller() as tx:
        for model in doomed:
            of = ctx.of(tx, model.uuid)
            removal.destroy_model(of, models.get(of), force, destroy_storage=destroy_storage)
            waits = bool(removal.blockers(of)) or waits
    if sessions.current_model(ctx) in [model.qualified for model in doomed]:
        ctx.controller.set("current-model", None)
    return waits


def dying(ctx: Context, model: str) -> Dying | None:
    """Return what a dying model waits for, or None when the model has been deleted."""
    with ctx.read(model) as tx:
        if tx.find(Model, "model_by_uuid", uuid=model) is None:
            return None
        ends = tx.list(Cleanup, "cleanup_list")
        return Dying(reasons=removal.blockers(tx), has_ends=bool(ends))
