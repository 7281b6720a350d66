"""The lines that tell a user what a removal will do, before it is confirmed.

Mirrors: juju cmd/juju/application/removeunit.go, removeapplication.go, machine/remove.go (3.6)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pushjuju.core.status import Life
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import model_config
from pushjuju.services.entities.storage import disks, storage_instances
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Machine, Unit
from pushjuju.store.tx import ModelTx

DISK = "- will remove volume "  # begins the lines about disks, which need no confirmation of their own


def machine_lines(ctx: Context, model: str, ids: Sequence[str], *, keep_instance: bool) -> list[str]:
    """Return lines about what the removal of machines will do."""
    kept = " (but retaining cloud instance)" if keep_instance else ""
    lines = []
    with ctx.read(model) as tx:
        for name in ids:
            machines.get(tx, name)
            lines.append(f"will remove machine {name}{kept}")
            lines += _on_machine(tx, name)
            for container in machines.containers_on(tx, name):
                lines.append(f"will remove machine {container.id}{kept}")
                lines += _on_machine(tx, container.id)
    return lines


def _on_machine(tx: ModelTx, name: str) -> list[str]:
    there = machines.units_on(tx, name)
    units_ = [f"- will remove unit {unit.name}" for unit in there]
    stored = [f"- will remove storage {item}" for item in storage_instances.kept_on(tx, name)]
    own = [f"{DISK}{backing.id}" for _, backing in disks.of_machine(tx, name)]
    return units_ + stored + own


def unit_lines(ctx: Context, model: str, names: Sequence[str], *, destroy_storage: bool = False) -> list[str]:
    """Return lines about what the removal of units will do."""
    with ctx.read(model) as tx:
        lines = []
        for unit in removal.plan_units(tx, list(names)):
            lines.append(f"will remove unit {unit.name}")
            lines += _storage_lines(tx, [unit], destroy=destroy_storage)
    return lines


class StorageFate(NamedTuple):
    """The ids of the storage of removed units that is destroyed, and of the storage that is kept."""

    destroyed: list[str]
    detached: list[str]


def storage_fate(
    ctx: Context, model: str, names: Sequence[str], *, destroy_storage: bool = False
) -> StorageFate:
    """Return which storage of removed units is destroyed, and which is kept."""
    with ctx.read(model) as tx:
        return _fate(tx, [units.get(tx, name) for name in names], destroy=destroy_storage)


def _fate(tx: ModelTx, units_: Sequence[Unit], *, destroy: bool) -> StorageFate:
    """Return the fate of the units' storage, which is kept unless it is already being removed."""
    with_storage = [unit for unit in units_ if unit.storage]
    found = [
        storage_instances.get(tx, row.storage)
        for unit in with_storage
        for row in storage_instances.of_unit(tx, unit.name)
    ]
    gone = [item.id for item in found if destroy or item.life != Life.ALIVE]
    return StorageFate(gone, [item.id for item in found if item.id not in gone])


def _storage_lines(tx: ModelTx, units_: Sequence[Unit], *, destroy: bool) -> list[str]:
    """Return lines about the storage of removed units: removed with `destroy`, else detached."""
    fate = _fate(tx, units_, destroy=destroy)
    return [
        *(f"- will remove storage {name}" for name in fate.destroyed),
        *(f"- will detach storage {name}" for name in fate.detached),
    ]


def application_lines(
    ctx: Context, model: str, names: Sequence[str], *, destroy_storage: bool = False
) -> list[str]:
    """Return lines about what the removal of applications will do."""
    lines = []
    with ctx.read(model) as tx:
        for name in names:
            applications.get(tx, name)
            lines.append(f"will remove application {name}")
            listed = units.of_application(tx, name)
            lines += [f"- will remove unit {unit.name}" for unit in listed]
            lines += _storage_lines(tx, listed, destroy=destroy_storage)
    return lines


def asks_first(ctx: Context, model: str) -> bool:
    """Return True when the model's `mode` says that commands ask for confirmation before a removal."""
    with ctx.read(model) as tx:
        return requires_prompts(str(model_config.get(tx, "mode") or ""))


def requires_prompts(mode: str) -> bool:
    """Return True when a model's `mode` asks for confirmation before a removal."""
    return "requires-prompts" in mode.replace(" ", ",").split(",")


def kept(ctx: Context, model: str, ids: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (id, reason, storage) of the machines without units that stay because of storage."""
    found = []
    with ctx.read(model) as tx:
        for name in ids:
            machine = tx.find(Machine, "machine_get", id=name)
            if (
                machine is not None
                and machine.life == Life.ALIVE
                and (text := removal.kept_text(tx, machine))
            ):
                found.append((name, text, " ".join(storage_instances.kept_on(tx, name))))
    return found


def unit_names(ctx: Context, model: str, ids: Sequence[str]) -> list[str]:
    """Return the names of the units on some machines, including subordinates."""
    with ctx.read(model) as tx:
        return [unit.name for machine_id in ids for unit in machines.units_on(tx, machine_id)]
