"""The cleanup of a model: forced removals, empty models, unused archives, old log lines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import PushjujuError
from pushjuju.core.problems import Problem
from pushjuju.core.status import Life
from pushjuju.core.storage import parse_size
from pushjuju.portable.durations import parse_duration
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import audit, logs
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import controller_config, model_config, models
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Application, Cleanup, Machine, Model, Status, Unit
from pushjuju.store.tx import ModelTx
from pushjuju.workers.events import Event, Tell, silent
from pushjuju.workers.loops import secret_rotation
from pushjuju.workers.machine.machine_worker import again_later
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime
from pushjuju.workers.timeouts import START_S

if TYPE_CHECKING:
    from pushjuju.store.statement_names import StatementName

PRUNE_EVERY_S = 86400.0
_BATCH = 1000  # rows that one transaction deletes, while others wait
_HISTORY_AGE, _OPERATION_AGE = "max-status-history-age", "max-operation-age"
_PRUNED: tuple[tuple[str, StatementName, StatementName], ...] = (
    (_HISTORY_AGE, "history_batch", "history_prune"),
    (_HISTORY_AGE, "operation_batch", "operation_prune"),
    (_OPERATION_AGE, "operation_batch", "operation_prune_routine"),
    (_OPERATION_AGE, "contact_batch", "contact_prune"),
    (_HISTORY_AGE, "action_operation_batch", "action_operation_prune"),
)


async def clean(runtime: Runtime, model: str, attempts: int = 0) -> Outcome:
    """Do the cleanups of a model that are due; remove a dying model when nothing of it is left.

    A failure of the cloud becomes a problem of the outcome, and is tried again later.
    """
    ctx = runtime.ctx
    next_due = forced_ends(ctx, model, runtime.tell)
    with ctx.write(model) as tx:
        removal.finish_applications(tx)
    with ctx.read(model) as tx:
        found = tx.find(Model, "model_by_uuid", uuid=model)
        if found is None:
            return Outcome()
        waits = removal.blockers(tx) if found.life != Life.ALIVE else []
    if found.life != Life.ALIVE and not waits:
        try:
            await _end_model(runtime, found)
        except PushjujuError as error:
            return again_later(ctx, attempts, Problem(f"destroying model {found.name}: {error.full_text}"))
        return Outcome()
    _drop_blobs(ctx)
    await _prune(ctx, model)
    tomorrow = ctx.clock.now() + timedelta(seconds=PRUNE_EVERY_S)
    return Outcome(due=min(next_due or tomorrow, tomorrow), reason="; ".join(waits))


async def _prune(ctx: Context, model: str) -> None:
    """Delete log lines, statuses, finished operations and contacts that are older than the model's limits."""
    with ctx.read(model) as tx:
        ages = {key: str(model_config.get(tx, key)) for key in (_HISTORY_AGE, _OPERATION_AGE)}
        most = parse_size(str(model_config.get(tx, "max-status-history-size")))
    now = ctx.clock.now()
    limits = {key: now - timedelta(seconds=parse_duration(age)) for key, age in ages.items()}
    for key, batch, prune in _PRUNED:
        after = ""
        while last := _prune_batch(ctx, model, batch, prune, after=after, before=to_iso(limits[key])):
            after = last
            await asyncio.sleep(0)  # others of this process work, and commit, between two batches
    await logs.prune(ctx.store, model, before=limits[_HISTORY_AGE], most_bytes=most * 1024 * 1024)
    _prune_audit(ctx)


def _prune_audit(ctx: Context) -> None:
    """Delete the lines of the audit log that are older than the controller's limit."""
    age = parse_duration(str(controller_config.get(ctx, "audit-log-max-age")))
    with ctx.store.write() as tx:
        audit.prune(tx, ctx.clock.now(), ctx.clock.now() - timedelta(seconds=age))


def _prune_batch(
    ctx: Context, model: str, batch: StatementName, prune: StatementName, *, after: str, before: str
) -> str | None:
    """Delete the oldest rows between two times, in one transaction.

    Returns:
        The time after which the next batch begins, also past rows that stay, however old; None at the end.
    """
    with ctx.write(model) as tx:
        last: str | None = tx.scalar(batch, after=after, before=before, batch=_BATCH - 1)
        tx.run(prune, after=after, last=last or before)
    return last


def forced_ends(ctx: Context, model: str, tell: Tell = silent) -> datetime | None:
    """Run the forced removals that are due; return when the next one is due."""
    hopeless: set[str] = set()
    with ctx.write(model) as tx:
        next_due = _force_due(tx, hopeless)
    for name in sorted(hopeless, key=natural_key):
        tell(Event(entity=name, text="is in error: removed without its hooks"))
    return next_due


def _force_due(tx: ModelTx, hopeless: set[str]) -> datetime | None:
    """Run the forced removals that are due; add the units that were removed early to `hopeless`."""
    while ends := tx.list(Cleanup, "cleanup_list"):
        failed = _hopeless(tx)
        early = [end for end in ends if end.kind == removal.FORCE_UNIT and end.entity in failed]
        due = [end for end in ends if end.due <= tx.now or end in early]
        if not due:
            return ends[0].due
        hopeless.update(end.entity for end in early)
        for cleanup in due:  # force may add cleanups that are due at once
            force(tx, cleanup)
    return None


def _hopeless(tx: ModelTx) -> set[str]:
    """Return the units in error of a model that is removed by force, whose errors no user will resolve.

    Units with subordinates go after their subordinates. Mirrors: juju state/cleanup.go obliterateUnit (3.6)
    """
    found = tx.find(Model, "model_by_uuid", uuid=tx.model)
    if found is None or found.life == Life.ALIVE or not found.forced:
        return set()
    names = [status.entity for status in tx.list(Status, "units_in_error")]
    return {name for name in names if not removal.lives_of_subordinates(tx, name)}


def force(tx: ModelTx, cleanup: Cleanup) -> None:
    """Run the forced removal of a cleanup, if the entity still exists; delete the cleanup."""
    # Deleted in the same transaction: after a failure of the removal, the cleanup is tried again.
    tx.run("cleanup_delete", id=cleanup.id)
    if cleanup.kind in (removal.FORCE_UNIT, removal.FORCE_REMOVE_UNIT):
        unit = tx.find(Unit, "unit_get", name=cleanup.entity)
        if unit is not None and cleanup.kind == removal.FORCE_UNIT:
            wait = float(cleanup.args.get("wait", removal.MAX_WAIT_S))
            removal.force_dead(tx, unit, removal.Force(wait_s=wait))
        elif unit is not None:
            removal.force_unit(tx, unit)
    elif cleanup.kind == "force-machine":
        machine = tx.find(Machine, "machine_get", id=cleanup.entity)
        if machine is not None:
            for unit in machines.units_on(tx, cleanup.entity):
                removal.force_unit(tx, unit)
    elif cleanup.kind == "force-relation":
        removal.force_relation(tx, int(cleanup.entity))
    elif cleanup.kind == "force-storage":
        storage_instances.forget(tx, cleanup.entity)


async def _end_model(runtime: Runtime, model: Model) -> None:
    ctx = runtime.ctx
    await _or_forced(runtime, model, lambda: secret_rotation.clear(runtime, model.uuid), "its secret backend")
    await _or_forced(runtime, model, lambda: _clear_cloud(runtime, model.uuid), "its cloud")
    with ctx.write(model.uuid) as tx:
        if tx.list(Application, "application_list"):
            return
        models.delete(tx)  # also deletes the row with this process's lease
    _drop_blobs(runtime.base_ctx)
    ctx.controller.known_hosts(model.uuid).unlink(missing_ok=True)
    if ctx.controller.settings().get("current-model") == model.qualified:
        ctx.controller.set("current-model", None)
    runtime.tell(Event(entity=f"model {model.name}", text="destroyed", state="done"))


async def _clear_cloud(runtime: Runtime, model: str) -> None:
    await runtime.within(START_S, runtime.provider(model).destroy_model())


async def _or_forced(runtime: Runtime, model: Model, clear: Callable[[], Awaitable[None]], what: str) -> None:
    """Remove what a model has elsewhere; a forced removal reports a failure and goes on."""
    try:
        await clear()
    except PushjujuError as error:
        if not model.forced:
            raise
        text = f"forgotten though {what} could not be cleared: {error}"
        runtime.tell(Event(entity=f"model {model.name}", text=text, state="failed"))


def _drop_blobs(ctx: Context) -> None:
    """Delete archives and resources that no model uses any more."""
    blobs = ctx.controller.blobs
    for name in blobs.names():
        with ctx.store.write() as tx:
            if not tx.scalar("blob_uses", sha256=name):
                blobs.delete(name)
