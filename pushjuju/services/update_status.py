"""Making update-status due at once, for cron. Layer: services."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.clock import to_iso
from pushjuju.core.life import Life
from pushjuju.services import touch, units
from pushjuju.services.context import Context
from pushjuju.state.records import Unit


def make_due(ctx: Context, model: str, names: Sequence[str] = ()) -> list[str]:
    """Let update-status run as soon as the units are worked.

    Args:
        ctx: The controller.
        model: UUID.
        names: Units; all of the model when empty.

    Returns:
        The units that will run it; those that never came to rest have their turn later anyway.

    Raises:
        NotFound: No such unit.
    """
    now = ctx.clock.now()
    with ctx.store.write() as tx:
        chosen = [units.get(tx, model, name) for name in names] or tx.list(Unit, "unit_list", model=model)
        ready = [unit for unit in chosen if unit.life == Life.ALIVE and unit.update_status_due]
        for unit in ready:
            tx.run(
                "unit_set_update_status",
                model=model,
                name=unit.name,
                version=unit.update_status_version,
                due=to_iso(now),
            )
            touch.unit(tx, unit, now, "update-status is due")
    return [unit.name for unit in ready]
