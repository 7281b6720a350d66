"""The loop that asks a model's store for newer charms, once a day or so.

Mirrors: juju worker/charmrevision (3.6)
"""

from __future__ import annotations

import asyncio

from pushjuju.core.errors import PushjujuError
from pushjuju.services.supply import charm_updates, store_charms
from pushjuju.store.rows.records import Model
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.runtime import Runtime


async def look_for_newer(runtime: Runtime, model: str) -> Outcome:
    """Ask for newer charms of all applications in one request; ignore a failure until the next time."""
    ctx = runtime.ctx
    with ctx.read(model) as tx:
        if tx.find(Model, "model_by_uuid", uuid=model) is None:
            return Outcome()
        asked = charm_updates.questions(tx)
    if not asked:
        return Outcome()
    again = charm_updates.next_look(ctx.clock.now(), ctx.random)
    try:
        store = store_charms.open_store(ctx, model, patient=False)
        answers = await asyncio.to_thread(store.resolve, [item.ask for item in asked])
        problems = charm_updates.note(ctx, asked, answers)
    except PushjujuError as error:
        return Outcome(due=again, reason=f"charmhub: {error.message}")
    return Outcome(due=again, reason="; ".join(problems))
