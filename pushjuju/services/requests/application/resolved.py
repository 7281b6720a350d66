"""The request of resolved: units in error continue. Mirrors: juju state/unit.go Resolve (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.errors import NotValid
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import lost_results
from pushjuju.store.rows.records import Unit


def resolve(ctx: Context, model: str, names: Sequence[str], *, retry: bool) -> None:
    """Let units in error continue, with or without a retry of the hook; an exception leaves all unchanged."""
    mode = "retry-hooks" if retry else "no-hooks"
    with ctx.change(model) as tx:
        for name in names:
            unit = units.get(tx, name)
            if not units.in_error(tx, name):
                raise NotValid(f'unit "{name}" is not in an error state')
            if unit.resolved != "none":
                raise NotValid(f'cannot set resolved mode for unit "{name}": already resolved')
            lost_results.excuse(tx, unit, retry=retry)
            tx.run("unit_set_resolved", name=name, resolved=mode)
            wake.unit(tx, unit, "resolved")


def resolve_all(ctx: Context, model: str, *, retry: bool) -> list[str]:
    """Let all units of a model that are in error continue; return their names."""
    with ctx.read(model) as tx:
        every = tx.list(Unit, "unit_list")
        names = [unit.name for unit in every if units.in_error(tx, unit.name) and unit.resolved == "none"]
    resolve(ctx, model, names, retry=retry)
    return names
