"""Payloads: containers and similar programs that charms register; deprecated in Juju.

Mirrors: juju state/payloads.go (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pushjuju.core import limits
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.problems import Subject
from pushjuju.services.entities.charm import charms
from pushjuju.store.rows.records import Application, Payload, Unit
from pushjuju.store.tx import ModelTx

STATUSES = ("running", "starting", "stopped", "stopping")


def register(tx: ModelTx, unit: Unit, kind: str, name: str, number: str, labels: Sequence[str]) -> None:
    """Register a payload of a unit as running."""
    application = tx.get(Application, "application_get", "", name=unit.application)
    declared = charms.get(tx, unit.charm_url or application.charm_url).meta.payloads.get(name)
    if declared is None:
        raise NotFound(f'payload "{name}" not found in metadata.yaml')
    if declared.type != kind:
        raise NotValid(f'incorrect type "{kind}" for payload "{name}", expected "{declared.type}"')
    if len(of_unit(tx, unit)) >= limits.PAYLOADS:
        text = f"unit {unit.name} has {limits.PAYLOADS} payloads already"
        raise NotValid(text, subject=Subject("unit", unit.name))
    tx.run(
        "payload_set", unit=unit.name, payload_class=name, type=kind, id=number,
        labels=json.dumps(list(labels)), status="running"
    )  # fmt: skip


def unregister(tx: ModelTx, unit: Unit, name: str, number: str) -> None:
    """Delete a payload of a unit; a payload that does not exist causes no error."""
    tx.run("payload_delete", unit=unit.name, payload_class=name, id=number)


def set_status(tx: ModelTx, unit: Unit, name: str, number: str, status: str) -> None:
    """Change the status of a payload."""
    if status not in STATUSES:
        raise NotValid(f'status "{status}" not supported')
    changed = tx.run("payload_set_status", unit=unit.name, payload_class=name, id=number, status=status)
    if not changed:
        raise NotFound(f'payload "{name}/{number}" not found')


def of_unit(tx: ModelTx, unit: Unit) -> list[Payload]:
    return tx.list(Payload, "payload_of_unit", unit=unit.name)
