"""Making update-status due at once, for cron."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.model.life import Life
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context


def make_due(ctx: Context, model: str, names: Sequence[str] = ()) -> list[str]:
    """Let update-status run as soon as the units are worked.

    Args:
        names: Units; all of the model when empty.

    Returns:
        The units that will run it; those that never came to rest have their turn later anyway.

    Raises:
        NotFound: No such unit.
    """
    now = ctx.clock.now()
    with ctx.write(model) as tx:
        if names:
            chosen = [units.get(tx, name) for name in names]
            ready = [
                (unit.name, unit.machine)
                for unit in chosen
                if unit.life == Life.ALIVE and unit.update_status_due
            ]
            for name, _ in ready:
                tx.run("unit_update_status_now", name=name, due=now)
        else:
            rows = tx.rows("units_with_update_status")
            ready = [(row["name"], row["machine"]) for row in rows]
            tx.run("units_update_status_now", due=now)
        for machine in sorted({machine for _, machine in ready if machine is not None}):
            wake.machine(tx, machine, "update-status is due")
    return [name for name, _ in ready]
