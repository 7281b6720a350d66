"""What `apply --prune` takes away. Layer: services.

Each step goes the way of the command of its name: units by their hooks, storage stays unless it was said.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pushjuju.core.life import Life
from pushjuju.services import applications, expose, integrate, machines, notes, removal, units
from pushjuju.services import relations as relation_rows
from pushjuju.state.store import Tx


def unset_annotations(tx: Tx, model: str, args: Mapping[str, Any], _now: datetime) -> None:
    """Take annotations away."""
    kind = notes.Kind(args["entity-type"])
    notes.put(tx, model, kind, args["id"], dict.fromkeys(args["keys"]))


def unexpose(tx: Tx, model: str, args: Mapping[str, Any], now: datetime) -> None:
    """Let endpoints be reached no more."""
    expose.forget(tx, applications.get(tx, model, args["application"]), args["endpoints"], now)


def remove_relation(tx: Tx, model: str, args: Mapping[str, Any], now: datetime) -> None:
    """End a relation, unless that of its application ended it."""
    relation = integrate.find(tx, model, [args["endpoint1"], args["endpoint2"]])
    if relation.life == Life.ALIVE:
        relation_rows.destroy(tx, relation, now)


def remove_unit(tx: Tx, model: str, args: Mapping[str, Any], now: datetime) -> None:
    """Make a unit go."""
    removal.destroy_unit(
        tx, units.get(tx, model, args["unit"]), now, destroy_storage=bool(args.get("destroy-storage"))
    )


def remove_application(tx: Tx, model: str, args: Mapping[str, Any], now: datetime) -> None:
    """Make an application go."""
    application = applications.get(tx, model, args["application"])
    removal.destroy_application(tx, application, now, destroy_storage=bool(args.get("destroy-storage")))


def remove_machine(tx: Tx, model: str, args: Mapping[str, Any], now: datetime) -> None:
    """Make a machine go that hosts nothing."""
    machine = machines.get(tx, model, args["machine"])
    if machine.life == Life.ALIVE and not machines.units_on(tx, model, machine.id):
        removal.destroy_machine(tx, machine, now)
