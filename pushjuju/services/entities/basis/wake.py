"""Wakes the workers that must read the model again after a change.

A wake names the worker of a machine or a loop of the model, but never what to do there.
"""

from __future__ import annotations

from datetime import datetime

from pushjuju.store.queue import machine_key, model_key, touch
from pushjuju.store.rows.records import Unit
from pushjuju.store.tx import ModelTx


def machine(tx: ModelTx, machine_id: str, reason: str) -> None:
    """Make a machine's worker look again."""
    touch(tx, machine_key(tx.model, machine_id), tx.now, reason)


def unit(tx: ModelTx, record: Unit, reason: str) -> None:
    """Make the worker of a unit's machine look again."""
    if record.machine is not None:
        machine(tx, record.machine, reason)


def application(tx: ModelTx, name: str, reason: str) -> None:
    """Make the workers of all units of an application look again."""
    rows = tx.rows("application_machines", application=name)
    for found in sorted({row["machine"] for row in rows if row["machine"] is not None}):
        machine(tx, found, reason)


def all_units(tx: ModelTx, reason: str) -> None:
    """Make every worker that has a unit look again."""
    for row in tx.rows("unit_machines"):
        machine(tx, row["machine"], reason)


def cleaner(tx: ModelTx, now: datetime, reason: str) -> None:
    """Make the model's cleaner look again."""
    touch(tx, model_key(tx.model, "cleanup"), now, reason)


def storage(tx: ModelTx, reason: str) -> None:
    """Make the model's loop for storage that is on no machine look again."""
    touch(tx, model_key(tx.model, "storage"), tx.now, reason)


def poller(tx: ModelTx, due: datetime, reason: str) -> None:
    """Make the model's poller of instances look again, at a time."""
    touch(tx, model_key(tx.model, "poller"), due, reason)


def firewall(tx: ModelTx, reason: str) -> None:
    """Make the loop look that wakes machines whose firewall has changed."""
    touch(tx, model_key(tx.model, "firewall"), tx.now, reason)
