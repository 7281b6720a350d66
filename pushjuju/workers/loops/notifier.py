"""The loop that delivers the events of a model to the targets that want them.

Events of one entity reach a target in their order. After a failure, all events of the model wait for the
target, which is tried again later; an event that is older than a day is then dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from pushjuju.core.errors import NotifyError
from pushjuju.services.entities.basis import logs, notices, notify_targets
from pushjuju.store.rows.notify_records import NoticeRow, TargetRow
from pushjuju.store.rows.records import Model
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime

KEPT_S = 86400.0
MOST_S = 45.0  # seconds for one event, of a plugin that waits for ever
LOGGER = "pushjuju.notify"


async def deliver(runtime: Runtime, model: str) -> Outcome:
    """Deliver the events that are due, of a model, or of the controller for an empty name."""
    ctx = runtime.ctx
    with ctx.write(model) as tx:
        found = tx.find(Model, "model_by_uuid", uuid=model)
        if found is None and model:
            return Outcome()
        lasting = notices.raise_due(tx)
    name = found.qualified if found is not None else ""
    # at the same time: a server that is silent keeps no other target waiting
    dues = await asyncio.gather(
        *(_deliver_to(runtime, model, name, target) for target in _waiting(runtime, model))
    )
    known = [due for due in (*dues, lasting) if due is not None]
    return Outcome(due=min(known, default=None))


def _waiting(runtime: Runtime, model: str) -> list[TargetRow]:
    with runtime.ctx.read(model) as tx:
        names = [row["target"] for row in tx.rows("notice_next")]
        found = (tx.find(TargetRow, "notify_target_get", name=name) for name in names)
        return [row for row in found if row is not None]


async def _deliver_to(runtime: Runtime, model: str, name: str, target: TargetRow) -> datetime | None:
    """Deliver the events of a model to a target; return when to go on, or None when no event waits."""
    ctx = runtime.ctx
    if target.due is not None and target.due > ctx.clock.now():
        return target.due
    sent: set[int] = set()
    while True:
        row, later = _next(runtime, model, target.name, sent)
        if row is None:
            return later
        sent.add(row.number)
        if ctx.clock.now() - row.latest > timedelta(seconds=KEPT_S):
            _drop(runtime, target, row)
            continue
        event = notify_targets.event_of(ctx, row, name)
        try:
            refused = await _within(MOST_S, partial(notify_targets.send, ctx, runtime.host, target, event))
        except NotifyError as error:
            return _failed(runtime, target, error)
        _delivered(runtime, target, row, refused)
        target = replace(target, attempts=0, error=refused)


def _next(
    runtime: Runtime, model: str, target: str, sent: set[int]
) -> tuple[NoticeRow | None, datetime | None]:
    """Return the next event that is due, or None and when the next one is.

    An event waits for the earlier events of its entity.
    """
    now, held, later = runtime.ctx.clock.now(), set[tuple[str, str]](), list[datetime]()
    with runtime.ctx.read(model) as tx:
        rows = tx.list(NoticeRow, "notice_waiting", target=target)
    for row in rows:
        entity = (row.kind, row.entity)
        if row.due > now or entity in held:
            held.add(entity)
            later.append(row.due)
        elif row.number not in sent:
            return row, None
    return None, min(later, default=None)


def _delivered(runtime: Runtime, target: TargetRow, row: NoticeRow, refused: str) -> None:
    """Record that an event was delivered, and which receivers of the target refused it.

    An equal event that came meanwhile has a row of its own.
    """
    ctx = runtime.ctx
    with ctx.write(row.model) as tx:
        tx.run("notice_sent", number=row.number, now=tx.now)
        if refused and row.model:
            text = f"target {target.name}, event {row.event}: {refused}"
            logs.append(tx, f"model-{row.model}", "WARNING", LOGGER, text, now=tx.now)
    if target.attempts or target.error != refused:
        with ctx.store.write() as whole:
            whole.run("notify_target_state", name=target.name, attempts=0, due=None, error=refused)


def _failed(runtime: Runtime, target: TargetRow, error: NotifyError) -> datetime:
    """Record a failure, and return when to try again."""
    attempts = target.attempts + 1
    again = notify_targets.again_at(runtime.ctx.clock.now(), attempts)
    with runtime.ctx.store.write() as whole:
        whole.run(
            "notify_target_state", name=target.name, attempts=attempts, due=again, error=error.message
        )  # fmt: skip
    return again


def _drop(runtime: Runtime, target: TargetRow, row: NoticeRow) -> None:
    """Forget an event that is too old, also one of a restored backup; the model's log names it."""
    why = target.error or "no process worked"
    text = f"target {target.name} has not got the event {row.event} within a day: {why}"
    with runtime.ctx.write(row.model) as tx:
        tx.run("notice_drop", number=row.number)
        if row.model:
            logs.append(tx, f"model-{row.model}", "WARNING", LOGGER, text, now=tx.now)


async def _within(seconds: float, send: Callable[[], str]) -> str:
    """Run a function in a thread, which is left alone when the function takes too long.

    Raises:
        NotifyError: The event was not delivered in time, or not at all.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

    def end(found: BaseException | str) -> None:
        if done.done():
            return
        done.set_result(found) if isinstance(found, str) else done.set_exception(found)

    def work() -> None:
        found: BaseException | str
        try:
            found = send()
        except BaseException as error:  # noqa: BLE001 - the waiting task gets it
            found = error
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(end, found)

    threading.Thread(target=work, name="notify", daemon=True).start()
    try:
        return await asyncio.wait_for(done, seconds)
    except TimeoutError:
        raise NotifyError(f"no answer within {seconds:.0f} s") from None
