"""Makes the workers that a change concerns read the model again.

A wake makes a key of the work queue due; it never says what the worker has to do.
"""

from __future__ import annotations

from datetime import datetime

from pushjuju.store.queue import machine_key, model_key, touch, touch_routine
from pushjuju.store.rows.records import Unit
from pushjuju.store.tx import ModelTx


def machine(tx: ModelTx, machine_id: str, reason: str) -> None:
    """Wake the worker of a machine."""
    touch(tx, machine_key(tx.model, machine_id), tx.now, reason)


def routine(tx: ModelTx, machine_id: str) -> None:
    """Wake the worker of a machine for update-status, which other work does not wait for."""
    touch_routine(tx, machine_key(tx.model, machine_id), tx.now)


def unit(tx: ModelTx, record: Unit, reason: str) -> None:
    """Wake the worker of a unit's machine; a unit without a machine needs no wake."""
    if record.machine is not None:
        machine(tx, record.machine, reason)


def application(tx: ModelTx, name: str, reason: str) -> None:
    """Wake the workers of all machines that host a unit of an application."""
    rows = tx.rows("application_machines", application=name)
    for found in sorted({row["machine"] for row in rows if row["machine"] is not None}):
        machine(tx, found, reason)


def unsettled(tx: ModelTx, reason: str) -> None:
    """Wake the workers of all machines that are not at rest, for a change that no machine at rest sees."""
    for row in tx.rows("machines_unsettled"):
        machine(tx, row["machine"], reason)


def cleaner(tx: ModelTx, now: datetime, reason: str) -> None:
    """Wake the loop that deletes entities which nothing needs any more."""
    touch(tx, model_key(tx.model, "cleanup"), now, reason)


def storage(tx: ModelTx, reason: str) -> None:
    """Wake the loop for storage that is on no machine."""
    touch(tx, model_key(tx.model, "storage"), tx.now, reason)


def poller(tx: ModelTx, due: datetime, reason: str) -> None:
    """Make the loop that polls instances due at a time."""
    touch(tx, model_key(tx.model, "poller"), due, reason)


def firewall(tx: ModelTx, reason: str, application: str = "") -> None:
    """Wake the loop that wakes all machines whose firewall rules have changed.

    With an application, the loop wakes the machines of all applications that relations connect with it.
    """
    touch(tx, model_key(tx.model, f"firewall/{application}" if application else "firewall"), tx.now, reason)
