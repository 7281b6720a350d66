"""The remote state: what the model wants of a unit, read in one transaction before each decision.

Mirrors: juju worker/uniter/remotestate/snapshot.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pushjuju.core.model.series import SeriesStatus
from pushjuju.core.status import Life
from pushjuju.core.values import dataclass
from pushjuju.uniter.decide.state import ResolvedMode


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRelation:
    """One relation of the unit's application, as the model has it.

    Attributes:
        remote_application: The other application; in a peer relation the unit's own.
        peer: True for a peer relation.
        implicit: True when the unit's endpoint is the implicit juju-info.
        container: True when the scope is container, not global.
        implemented: True when the charm on the machine has the endpoint, which an upgrade may add.
        suspended: True while the relation is suspended.
        members: Each remote unit in scope, without departing units and this unit -> its settings version.
        app_members: The remote application (in a peer relation, the unit's own) -> its settings version.
    """

    endpoint: str
    remote_application: str = ""
    life: Life = Life.ALIVE
    peer: bool = False
    implicit: bool = False
    container: bool = False
    implemented: bool = True
    suspended: bool = False
    members: Mapping[str, int] = field(default_factory=dict)
    app_members: Mapping[str, int] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Return True when units may be in the relation's scope."""
        return self.life is Life.ALIVE and not self.suspended


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteStorage:
    """One storage attachment of the unit.

    Attributes:
        attached: True when the storage is provisioned and attached to the machine with a location.
        implemented: True when the charm on the machine declares the storage, which an upgrade may add.
    """

    kind: str = "filesystem"
    life: Life = Life.ALIVE
    attached: bool = False
    implemented: bool = True
    location: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """One action that waits for its run.

    Attributes:
        parallel: True when the action needs no machine lock.
        execution_group: The group whose actions share a lock with the action, or "".
    """

    id: str
    name: str = ""
    parallel: bool = False
    execution_group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRevision:
    """One revision of a secret."""

    uri: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumedSecret:
    """A secret that this unit reads: its latest revision and the unit's own label for it."""

    revision: int
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedSecret:
    """A secret that this unit may have to manage.

    Attributes:
        application: True when the application owns the secret, so that only the leader manages it.
    """

    revision: int
    label: str = ""
    application: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteState:
    """All that the model wants of a unit.

    Attributes:
        unit: The unit's name.
        principal: The principal unit of a subordinate, or "".
        subordinates: Names of its subordinate units -> their life.
        resolved: How a user wants a failed hook to be resolved.
        charm_url: The application's charm, not the unit's.
        force_charm: True to upgrade the charm even in an error state.
        charm_modified_version: Grows with each change of the charm or of a resource.
        charm_present: False when the charm's directory is known to be missing on the machine.
        profile_ready: True when the machine has the profile that the charm needs.
        leader: True when the unit is the leader.
        leader_settings_version: 1 from the start, grows with each change.
        update_status_version: How often update-status has become due.
        retry_hook_version: How often the retry timer of a failed hook has run out.
        retry_hooks: Model config automatically-retry-hooks.
        boot_id: The machine's running boot; "" while unknown.
        relations: Relation id -> relation.
        storage: Storage id -> attachment.
        actions: Pending actions, oldest first.
        commands: Ids of commands from juju-exec on the machine, oldest first.
        secrets_expired: Revisions past their expiry, in order.
        secrets_rotate: URIs whose rotation is due, in order.
        secrets_consumed: URI -> the secret that this unit reads.
        secrets_owned: URI -> the secret that this unit may manage.
        secrets_obsolete: URI -> revisions that no consumer tracks.
        secrets_deleted: URIs of secrets that were deleted.
        series: The step that the machine's upgrade to another base has reached.
        series_target: The target base of that upgrade.
    """

    unit: str
    application_life: Life = Life.ALIVE
    life: Life = Life.ALIVE
    principal: str = ""
    subordinates: Mapping[str, Life] = field(default_factory=dict)
    resolved: ResolvedMode = ResolvedMode.NONE
    charm_url: str = ""
    force_charm: bool = False
    charm_modified_version: int = 0
    charm_present: bool = True
    profile_ready: bool = True
    config_hash: str = ""
    trust_hash: str = ""
    addresses_hash: str = ""
    leader: bool = False
    leader_settings_version: int = 1
    update_status_version: int = 0
    retry_hook_version: int = 0
    retry_hooks: bool = True
    boot_id: str = ""
    relations: Mapping[int, RemoteRelation] = field(default_factory=dict)
    storage: Mapping[str, RemoteStorage] = field(default_factory=dict)
    actions: tuple[PendingAction, ...] = ()
    commands: tuple[str, ...] = ()
    secrets_expired: tuple[SecretRevision, ...] = ()
    secrets_rotate: tuple[str, ...] = ()
    secrets_consumed: Mapping[str, ConsumedSecret] = field(default_factory=dict)
    secrets_owned: Mapping[str, OwnedSecret] = field(default_factory=dict)
    secrets_obsolete: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    secrets_deleted: tuple[str, ...] = ()
    series: SeriesStatus = SeriesStatus.NOT_STARTED
    series_target: str = ""
