"""The life and the statuses of entities, and the rules between them.

Mirrors: juju core/life, core/status (3.6)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from pushjuju.core.values import dataclass


class Life(StrEnum):
    """The life of an entity: Alive, Dying, Dead, never back. The record of a dead entity is removed."""

    ALIVE = "alive"
    DYING = "dying"
    DEAD = "dead"


class StatusKind(StrEnum):
    """The kind of entity that a status belongs to, as in the Type column of show-status-log."""

    WORKLOAD = "workload"
    AGENT = "juju-unit"
    APPLICATION = "application"
    MACHINE = "juju-machine"
    INSTANCE = "machine"
    MODEL = "model"
    RELATION = "relation"
    VOLUME = "volume"
    FILESYSTEM = "filesystem"


class Workload(StrEnum):
    """The status of a unit's or application's workload, as the charm or Juju set it."""

    UNSET = "unset"
    UNKNOWN = "unknown"
    MAINTENANCE = "maintenance"
    WAITING = "waiting"
    BLOCKED = "blocked"
    ACTIVE = "active"
    TERMINATED = "terminated"
    ERROR = "error"


CHARM_STATUSES = (Workload.MAINTENANCE, Workload.BLOCKED, Workload.WAITING, Workload.ACTIVE)
"""The statuses that a charm may set; Juju sets the others."""


class Agent(StrEnum):
    """The status of a unit's agent: what its runner does."""

    ALLOCATING = "allocating"
    IDLE = "idle"
    EXECUTING = "executing"
    REBOOTING = "rebooting"
    ERROR = "error"
    FAILED = "failed"
    LOST = "lost"


class MachineStatus(StrEnum):
    """The status of a machine in the model."""

    PENDING = "pending"
    STARTED = "started"
    STOPPED = "stopped"
    ERROR = "error"
    DOWN = "down"


class InstanceStatus(StrEnum):
    """The state of the instance behind a machine, as the cloud reports it."""

    PENDING = "pending"
    ALLOCATING = "allocating"
    RUNNING = "running"
    ERROR = "error"
    PROVISIONING_ERROR = "provisioning error"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


WAITING_FOR_MACHINE = "waiting for machine"
INSTALLING_AGENT = "installing agent"
AGENT_INITIALISING = "agent initialising"
INSTALLING_CHARM = "installing charm software"
INSTALLING = "running install hook"
STOPPING_CHARM = "stopping charm software"
CLEANING_UP = "cleaning up prior to charm deletion"
NOT_COMMUNICATING = "agent is not communicating with the server"

OFFER_REMOVED = "offer has been removed"


def is_before_agent(found: StatusInfo) -> bool:
    """Return True for the workload status of a unit whose machine does not exist yet."""
    before = (WAITING_FOR_MACHINE, INSTALLING_AGENT)
    return found.status == Workload.WAITING and found.message in before


def is_beginning(status: str, message: str) -> bool:
    """Return True for a workload before its install hook has ended. As in Juju, the message decides."""
    beginning = ((Workload.MAINTENANCE, INSTALLING_CHARM), (Workload.WAITING, AGENT_INITIALISING))
    return (status, message) in beginning


def is_installing(message: str) -> bool:
    """Return True for an agent whose status message says that the install hook runs."""
    return message == INSTALLING


def is_of_removed_offer(found: StatusInfo) -> bool:
    """Return True for the status of a consumed application whose offer was removed."""
    return found.status == Workload.TERMINATED and found.message == OFFER_REMOVED


# When units differ, the unit with the greatest number gives the application its status.
_SEVERITY: Mapping[str, int] = {
    Workload.ERROR: 100,
    Workload.BLOCKED: 90,
    Workload.MAINTENANCE: 80,
    Workload.WAITING: 70,
    Workload.ACTIVE: 60,
    Workload.TERMINATED: 50,
    Workload.UNKNOWN: 40,
}


MODEL_SUSPENDED = "suspended"
"""The status of a model whose credential the cloud refused; the data give the `reason`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusInfo:
    """A status: word, message, data, and the time since when the status holds (None when unknown)."""

    status: str
    message: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    since: datetime | None = None


def most_severe(words: Iterable[str]) -> int | None:
    """Return the index of the most severe status, or None when no status ranks above unknown."""
    found, most = None, _SEVERITY[Workload.UNKNOWN]
    for at, word in enumerate(words):
        severity = _SEVERITY.get(word, 0)
        if severity > most:
            found, most = at, severity
    return found


def derive_application_status(units: Iterable[StatusInfo]) -> StatusInfo:
    """Return the status of an application whose leader never set one.

    Args:
        units: The statuses shown for its units, in the order of their names as text.

    Mirrors: juju core/status/status.go DeriveStatus (3.6)
    """
    shown = list(units)
    worst = most_severe(unit.status for unit in shown)
    return StatusInfo(status=Workload.UNKNOWN) if worst is None else shown[worst]
