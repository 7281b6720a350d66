"""The availability zone of each start: chosen, recorded, excluded after a failure.

Mirrors: juju worker/provisioner/provisioner_task.go, availability zone machines (3.6)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from pushjuju.core.errors import NotValid
from pushjuju.core.model import zones as rules
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.providers import Provider, StartRequest, Zoned
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The zone of one attempt."""

    zone: str = ""  # name of the zone; "" in a cloud without zones
    others: tuple[str, ...] = ()  # zones that were not tried in this round


async def choose(ctx: Context, machine: Machine, provider: Provider, request: StartRequest) -> Choice:
    """Choose the zone of a start, and record the zone so that parallel starts see it."""
    if not isinstance(provider, Zoned):
        return Choice()
    listed = [zone.name for zone in await provider.zones() if zone.available]
    if not listed:
        return Choice()
    derived = await provider.derive_zones(request)
    usable = rules.candidates(listed, wanted=machine.constraints.get("zones") or (), derived=derived)
    if not usable:
        raise NotValid(f"suitable availability zone for machine {machine.id} not found")
    with ctx.write(machine.model) as tx:
        failed = _failed(tx, machine)
        population = _population(tx, machine, usable)
        zone = rules.choose(usable, population, failed=failed, draw=ctx.random.choice)
        if zone is None:  # all usable zones have failed before
            failed = []
            zone = rules.choose(usable, population, draw=ctx.random.choice) or usable[0]
        _put(tx, machine, zone, failed)
    return Choice(zone=zone, others=tuple(name for name in usable if name not in {zone, *failed}))


def crossed_out(tx: ModelTx, machine: Machine, choice: Choice) -> bool:
    """Record that a zone failed; return True when another zone is left; else allow all zones again."""
    failed = [*_failed(tx, machine), choice.zone] if choice.others else []
    _put(tx, machine, choice.zone, failed)
    return bool(choice.others)


def settled(tx: ModelTx, machine: Machine, zone: str) -> None:
    """Record the zone in which a machine runs."""
    _put(tx, machine, zone, [])


def _failed(tx: ModelTx, machine: Machine) -> list[str]:
    rows = tx.rows("zone_get", machine=machine.id)
    return [str(name) for row in rows for name in json.loads(row["failed"])]


def _put(tx: ModelTx, machine: Machine, zone: str, failed: Sequence[str]) -> None:
    tx.run("zone_put", machine=machine.id, zone=zone, failed=json.dumps(list(failed)))


def _population(tx: ModelTx, machine: Machine, zones: Sequence[str]) -> dict[str, int]:
    """Return zone -> number of machines of the distribution group: those with units of its applications."""
    principals = {unit.application for unit in machines.units_on(tx, machine.id) if unit.principal is None}
    if not principals:
        return {zone: int(tx.scalar("zone_count", zone=zone, machine=machine.id) or 0) for zone in zones}
    found = {
        (row["machine"], row["zone"])
        for name in principals
        for row in tx.rows("zone_of_application", application=name, machine=machine.id)
    }
    return Counter(zone for _, zone in found)
