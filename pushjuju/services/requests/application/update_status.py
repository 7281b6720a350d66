"""The request of update-status: makes the hook due at once, for use with cron."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.status import Life
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.processes import CAUSE


def make_due(ctx: Context, model: str, names: Sequence[str] = ()) -> list[str]:
    """Make update-status due, so that units run the hook at the next work on their machine.

    Args:
        names: Names of units; empty for all units of the model.

    Returns:
        The units that will run the hook; units that have never been idle run it later anyway.
    """
    now = ctx.clock.now()
    with ctx.change(model) as tx:
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
        # Until the end of the block: what waits on the machines still follows the command that asked for it.
        CAUSE.set("")
        for machine in sorted({machine for _, machine in ready if machine is not None}):
            wake.machine(tx, machine, "update-status is due")
    return [name for name, _ in ready]
