"""What working a key leaves behind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from pushjuju.core.storage import DISK_OF
from pushjuju.services.entities.machine import machines
from pushjuju.store.tx import Tx

_STORAGE = r"storage [a-z0-9-]+/[0-9]+"
_ON_NO_MACHINE = re.compile(rf"; (?=(?:{_STORAGE}|{DISK_OF}machine [0-9]+): )")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a worker.

    Attributes:
        due: When the worker runs again without being woken; never, when None.
        attempts: Failures in a row.
        reason: Why the worker waits, for users.
        failed: The worker could not do what it should.
        routine: The worker is due for nothing but the next update-status.
    """

    due: datetime | None = None
    attempts: int = 0
    reason: str = ""
    failed: bool = False
    routine: bool = False


def is_of_guest(reason: str) -> bool:
    """Return True when a failure is of one unit or storage alone, and not of its machine."""
    return reason.startswith(("unit ", "storage "))


def problems_of(tx: Tx, key: str, reason: str) -> list[str]:
    """Return what failed, with the unit, storage or machine in front; a loop names its subject itself."""
    model, kind, name = key.split("/", 2)
    if kind != "machine":
        return _ON_NO_MACHINE.split(reason) if name == "storage" else [reason]
    units = "|".join(re.escape(seat.name) for seat in machines.seats_on(tx, model, name))
    # Others that a machine names are not believed.
    whose = re.compile(rf"unit (?:{units})[: ]|{_STORAGE} on machine {re.escape(name)}: ")
    parts = re.split(rf"; (?={whose.pattern})", reason)
    return [part if whose.match(part) else f"machine {name}: {part}" for part in parts]
