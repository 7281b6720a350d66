"""The loop of a model's secrets: rotations, expiries, and the transfer of content to secret backends.

Rotations and expiries that are due wake the units that manage the secrets. Content for a backend waits,
encrypted, in the store until the backend has it; every step may be repeated.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial

from pushjuju.core.errors import BackendError, NotFound, PushjujuError
from pushjuju.core.model.secrets import Content
from pushjuju.core.problems import Problem
from pushjuju.plugins.api.backends import SecretBackend
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.secret import expiring, secret_backends, secrets
from pushjuju.store.rows.records import Model
from pushjuju.store.rows.secret_records import BackendRow, RevisionRow, SecretRow, TrashRow
from pushjuju.store.tx import ModelTx
from pushjuju.workers.machine.machine_worker import again_later
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime


async def look_after(runtime: Runtime, model: str, attempts: int = 0) -> Outcome:
    """Do what is due for the secrets of a model; a failing backend becomes a problem of the outcome."""
    ctx = runtime.ctx
    with ctx.write(model) as tx:
        if tx.find(Model, "model_by_uuid", uuid=model) is None:
            return Outcome()
        next_due = _earlier(expiring.announce(tx), secrets.make_due(tx))
        secrets.prune(tx)
    try:
        await _move(runtime, model)
        await empty_trash(runtime, model)
    except PushjujuError as error:
        outcome = again_later(ctx, attempts, Problem(f"secret backend: {error.message}"))
        return Outcome(
            due=_earlier(outcome.due, next_due), attempts=outcome.attempts, problems=outcome.problems
        )
    return Outcome(due=next_due)


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [moment for moment in (one, other) if moment is not None]
    return min(known) if known else None


async def _move(runtime: Runtime, model: str) -> None:
    """Move contents to the backends, or into the store, where they belong."""
    ctx = runtime.ctx
    while True:
        with ctx.read(model) as tx:
            waiting = tx.list(RevisionRow, "secret_to_move")
        for item in waiting:
            content = await _content(ctx, item)
            if item.target:
                backend = _opened(runtime, item.target)
                await _asked(
                    ctx, item.target, partial(backend.save, secrets.backend_path(item), dict(content))
                )
            runtime.checkpoint("secret-saved")
            _moved(ctx, item, content)
            runtime.checkpoint("secret-moved")
        if not waiting:
            return


async def _content(ctx: Context, item: RevisionRow) -> Content:
    """Return the content of a revision from the store or its backend."""
    if found := secrets.stored(ctx, item).content:
        return found
    with ctx.store.read() as tx:
        ask = secret_backends.reader(ctx, tx, item)
    return await asyncio.to_thread(ask)


def _moved(ctx: Context, item: RevisionRow, content: Content) -> None:
    """Record where content is now; for content in a backend, the store keeps only the checksum."""
    value = {"checksum": content.checksum(), **({} if item.target else {"content": dict(content)})}
    with ctx.write(item.model) as tx:
        present = tx.find(RevisionRow, "secret_revision_get", secret=item.secret, revision=item.revision)
        if present is None:
            return  # removed meanwhile: every copy is in the trash
        if present.target != item.target:  # the target has changed meanwhile: this copy is not needed
            if item.target:
                _throw_away(tx, item, item.target)
            return
        sealed = ctx.controller.keyring.seal(tx, value, secrets.place(item, item.revision), ctx.clock.now())
        tx.run(
            "secret_moved", secret=item.secret, revision=item.revision, key=sealed.key,
            data=sealed.data, backend=item.target
        )  # fmt: skip
        if item.backend:
            _throw_away(tx, item, item.backend)


def _throw_away(tx: ModelTx, item: RevisionRow, backend: str) -> None:
    tx.run("secret_trash_add", backend=backend, path=secrets.backend_path(item))


async def clear(runtime: Runtime, model: str) -> None:
    """Delete all secrets of a model that is removed, and their content in backends."""
    ctx = runtime.ctx
    with ctx.write(model) as tx:
        for row in tx.list(SecretRow, "secret_list"):
            secrets.remove(tx, row, None)
    await empty_trash(runtime, model)


async def empty_trash(runtime: Runtime, model: str) -> None:
    """Delete in the backends what was removed from a model, also after the model's own removal."""
    ctx = runtime.ctx
    while True:
        with ctx.read(model) as tx:
            waiting = tx.list(TrashRow, "secret_trash_list")
        for item in waiting:
            try:
                backend = _opened(runtime, item.backend)
            except NotFound:
                backend = None  # the backend was removed by force
            if backend is not None:
                await _asked(ctx, item.backend, partial(backend.delete, item.path))
            with ctx.store.write() as tx:
                tx.run("secret_trash_delete", id=item.id)
        if not waiting:
            return


def _opened(runtime: Runtime, backend: str) -> SecretBackend:
    with runtime.ctx.store.read() as tx:
        row = tx.get(BackendRow, "secret_backend_by_id", f"secret backend {backend} not found", id=backend)
    return secret_backends.opened(runtime.ctx, row, runtime.host)


async def _asked(ctx: Context, backend: str, call: partial[None]) -> None:
    """Call a backend in a thread, and record its status."""
    status, message = "active", ""
    try:
        await asyncio.to_thread(call)
    except BackendError as error:
        status, message = "error", error.message
        raise
    finally:
        with ctx.store.write() as tx:
            tx.run("secret_backend_set_status", id=backend, status=status, message=message)
