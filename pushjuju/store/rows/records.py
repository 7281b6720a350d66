"""Rows as values: a frozen dataclass for each table, with fields named as the columns.

The type of a field says how its column is decoded (bool, datetime; a mapping or list is JSON) and encoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from pushjuju.core.values import dataclass
from pushjuju.store.rows.model import Model as Model  # noqa: PLC0414 - one of the records, kept apart


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmRecord:
    """A charm revision that a model knows; `document` is the charm as JSON."""

    model: str
    url: str
    name: str
    revision: int
    origin: str
    channel: str
    sha256: str
    size: int
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource of an application; `fingerprint` is its SHA-384, `sha256` names its blob if it is stored."""

    model: str
    application: str
    name: str
    type: str
    path: str
    description: str = ""
    origin: str
    revision: int = 0
    fingerprint: str = ""
    size: int = 0
    sha256: str = ""
    username: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitResource:
    """The revision of a resource that a unit has fetched last."""

    model: str
    unit: str
    name: str
    type: str
    path: str
    description: str = ""
    origin: str
    revision: int = 0
    fingerprint: str
    size: int
    username: str = ""
    time: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """An application."""

    model: str
    name: str
    charm_url: str
    charm_modified: int = 0
    force_charm: bool = False
    life: str
    subordinate: bool
    base: str
    trust: bool = False
    exposed: bool = False
    constraints: Mapping[str, Any] = field(default_factory=dict)
    leader_settings_version: int = 0
    workload_version: str = ""
    # 1 after the application or its units owned or read a secret; 2 after reading another model's
    secrets: int = 0
    created: datetime
    offered: bool = False  # 1 when the application has ever been offered to other models


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine.

    `hardware`: arch, cores, mem (MiB), ...; `addresses`: as `services.entities.basis.network.noted`;
    `ssh`: {host, port, user, jump, host_keys}; `forced`: remove it although it does not answer; `storage`:
    number of volumes and filesystems that are attached to the machine or exist on it; `look_again`: its
    addresses must be read again; `keys_due`: the keys that may log in have changed; `history` and `lost`: as
    `services.entities.machine.lost_results`.
    """

    model: str
    id: str
    life: str
    base: str
    constraints: Mapping[str, Any] = field(default_factory=dict)
    placement: str = ""
    nonce: str = ""
    provider: str = ""
    instance_id: str = ""
    display_name: str = ""
    hostname: str = ""
    hardware: Mapping[str, Any] = field(default_factory=dict)
    addresses: list[dict[str, Any]] = field(default_factory=list)
    ssh: Mapping[str, Any] = field(default_factory=dict)
    boot_id: str = ""
    attempts: int = 0
    keep_instance: bool = False
    forced: bool = False
    storage: int = 0
    last_seen: datetime | None = None
    unreachable_since: datetime | None = None
    last_failed: datetime | None = None
    created: datetime
    look_again: bool = False
    keys_due: bool = False
    history: int = 0
    lost: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineUpgrade:
    """The lock of a machine during its upgrade to another base; `status` as in `core.model.series`."""

    model: str
    machine: str
    from_base: str
    to_base: str
    force: bool = False
    status: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineUpgradeMessage:
    """A message of a machine's upgrade, in order; the text names the machine or unit."""

    id: int
    model: str
    machine: str
    time: datetime
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A network space; alpha has no row."""

    model: str
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """A subnet in which a machine has an address; `space` is an id."""

    model: str
    cidr: str
    space: str = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The place of a unit on a machine, without columns that a hook changes."""

    model: str
    name: str
    application: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit; `state` is its local state, `decision` its last decision with the reason.

    Both are JSON documents as text, which most readers do not decode. `series`: the step of its machine's
    upgrade that the unit has reached (`core.model.series`); `series_target`: the new base; `storage`: number
    of its storage attachments.
    """

    model: str
    name: str
    application: str
    number: int
    machine: str | None
    principal: str | None = None
    life: str
    charm_url: str = ""
    resolved: str = "none"
    state: str = "{}"
    update_status_version: int = 0
    update_status_due: datetime | None = None
    retry_version: int = 0
    retry_count: int = 0
    retry_due: datetime | None = None
    decision: str = "{}"
    forced: bool = False
    charm_gone: bool = False
    series: str = "not started"
    series_target: str = ""
    storage: int = 0
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation; `scope` is global or container, `egress` the requirer's subnets, comma-separated.

    A relation between two models has a row in each model.
    """

    model: str
    id: int
    key: str
    life: str
    scope: str
    suspended: bool = False
    suspended_reason: str = ""
    egress: str = ""
    created: datetime
    far_model: str = ""  # UUID of the other model, or "" for a relation inside one model
    far_relation: int = 0  # id of the relation in the other model
    far_alias: str = ""  # the other model's name for the application on this side
    offer: str = ""  # UUID of the offer, on the offering side


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Endpoints that an application offers to other models; `endpoints`: name in the offer -> endpoint."""

    uuid: str
    model: str
    name: str
    application: str
    endpoints: Mapping[str, str]
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteApplication:
    """An application of another model, as this model sees it."""

    model: str
    name: str
    # `[controller:]owner/model.offer`, or "" for the proxy of an application that consumes an offer
    url: str = ""
    offer: str  # UUID of the offer, which may have been removed
    source: str  # UUID of the application's model
    application: str  # its name in that model
    life: str
    endpoints: Mapping[str, Mapping[str, Any]]  # name -> `interface` and `role`
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationEndpoint:
    """One side of a relation; `capacity` is the charm's limit of relations, or 0."""

    model: str
    relation: int
    application: str
    endpoint: str
    role: str
    interface: str
    capacity: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationScope:
    """A unit in the scope of a relation."""

    model: str
    relation: int
    unit: str
    application: str
    container: str = ""
    departing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bag:
    """Settings of a unit or an application in a relation."""

    model: str
    relation: int
    entity: str
    version: int
    data: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A range of ports that a unit has opened; `endpoint` "" means all endpoints."""

    model: str
    unit: str
    endpoint: str
    protocol: str
    from_port: int
    to_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedEndpoint:
    """From where an application's ports may be reached; `endpoint` "" is for endpoints without a row."""

    model: str
    application: str
    endpoint: str
    spaces: list[str] = field(default_factory=list)
    cidrs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFirewall:
    """The rules in force on a machine: `applied` is their digest, or "" when it is not known.

    `changes` counts events that may change the rules, and `seen` those that have been handled;
    `peers`: addresses from which the machine's SSH port was reached.
    """

    model: str
    machine: str
    changes: int = 1
    seen: int = 0
    applied: str = ""
    applied_at: datetime | None = None
    boot_id: str = ""
    ssh_port: int = 0
    peers: list[str] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The present status of an entity; `kind` as in `core.status.StatusKind`."""

    model: str
    kind: str
    entity: str
    status: str
    message: str
    data: Mapping[str, Any]
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation on a machine: `prepared` until its result is `committed`.

    An operation of a plan is `planned` until the operation before it is committed.

    `events`: number of its last event that was committed.
    `decided`: the decision that led to it, as `services.entities.basis.decision_text` packs it; None for an
    operation that no unit decided.
    `cause`: the request that it followed, as the lines of the audit log name the request; or empty.
    """

    id: str
    model: str
    machine: str
    unit: str
    name: str
    state: str
    document: Mapping[str, Any]
    events: int = 0
    outcome: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    prepared: datetime
    committed: datetime | None = None
    decided: bytes | str | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """A line of the model's log."""

    id: int
    model: str
    time: str
    entity: str
    level: str
    module: str
    location: str
    labels: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """A removal that is due later, with its reason."""

    id: int
    model: str
    kind: str
    entity: str
    args: Mapping[str, Any] = field(default_factory=dict)
    due: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOperation:
    """The tasks of one `run` or `exec`; `fail`: why receivers got no task."""

    model: str
    id: int
    summary: str
    fail: str = ""
    enqueued: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The part of an action operation on one receiver; `kind` is `unit` or `machine`."""

    model: str
    id: int
    operation: int
    kind: str
    receiver: str
    action: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    parallel: bool = False
    execution_group: str = ""
    status: str
    message: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)
    enqueued: datetime
    started: datetime | None = None
    completed: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLog:
    """A progress message of a task."""

    id: int
    model: str
    task: int
    time: datetime
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A payload that a charm runs and registers; `id` is the charm's name for it."""

    model: str
    unit: str
    payload_class: str
    type: str
    id: str
    labels: list[str] = field(default_factory=list)
    status: str
