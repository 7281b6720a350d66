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
    """One relation of the unit's application, as the model has it."""

    endpoint: str
    remote_application: str = ""  # the other application; in a peer relation the unit's own
    life: Life = Life.ALIVE
    peer: bool = False  # True for a peer relation
    implicit: bool = False  # True when the unit's endpoint is the implicit juju-info
    container: bool = False  # True when the scope is container, not global
    implemented: bool = True  # True when the charm on the machine has the endpoint, which an upgrade may add
    suspended: bool = False  # True while the relation is suspended
    # each remote unit in scope, without departing units and this unit -> its settings version
    members: Mapping[str, int] = field(default_factory=dict)
    # the remote application (in a peer relation, the unit's own) -> its settings version
    app_members: Mapping[str, int] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Return True when units may be in the relation's scope."""
        return self.life is Life.ALIVE and not self.suspended


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteStorage:
    """One storage attachment of the unit."""

    kind: str = "filesystem"
    life: Life = Life.ALIVE
    attached: bool = False  # True when the storage is provisioned and attached to the machine with a location
    # True when the charm on the machine declares the storage, which an upgrade may add
    implemented: bool = True
    location: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """One action that waits for its run."""

    id: str
    name: str = ""
    parallel: bool = False  # True when the action needs no machine lock
    execution_group: str = ""  # the group whose actions share a lock with the action, or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRevision:
    uri: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumedSecret:
    """A secret that this unit reads: its latest revision and the unit's own label for it."""

    revision: int
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedSecret:
    """A secret that this unit may have to manage."""

    revision: int
    label: str = ""
    application: bool = False  # True when the application owns the secret, so that only the leader manages it


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteState:
    """All that the model wants of a unit."""

    unit: str  # the unit's name
    application_life: Life = Life.ALIVE
    life: Life = Life.ALIVE
    principal: str = ""  # the principal unit of a subordinate, or ""
    # names of its subordinate units -> their life
    subordinates: Mapping[str, Life] = field(default_factory=dict)
    resolved: ResolvedMode = ResolvedMode.NONE  # how a user wants a failed hook to be resolved
    charm_url: str = ""  # the application's charm, not the unit's
    force_charm: bool = False  # True to upgrade the charm even in an error state
    charm_modified_version: int = 0  # grows with each change of the charm or of a resource
    charm_present: bool = True  # False when the charm's directory is known to be missing on the machine
    profile_ready: bool = True  # True when the machine has the profile that the charm needs
    config_hash: str = ""
    trust_hash: str = ""
    addresses_hash: str = ""
    leader: bool = False  # True when the unit is the leader
    leader_settings_version: int = 1  # 1 from the start, grows with each change
    update_status_version: int = 0  # how often update-status has become due
    retry_hook_version: int = 0  # how often the retry timer of a failed hook has run out
    retry_hooks: bool = True  # model config automatically-retry-hooks
    boot_id: str = ""  # the machine's running boot; "" while unknown
    relations: Mapping[int, RemoteRelation] = field(default_factory=dict)  # relation id -> relation
    storage: Mapping[str, RemoteStorage] = field(default_factory=dict)  # storage id -> attachment
    actions: tuple[PendingAction, ...] = ()  # pending actions, oldest first
    commands: tuple[str, ...] = ()  # ids of commands from juju-exec on the machine, oldest first
    secrets_expired: tuple[SecretRevision, ...] = ()  # revisions past their expiry, in order
    secrets_rotate: tuple[str, ...] = ()  # URIs whose rotation is due, in order
    # URI -> the secret that this unit reads
    secrets_consumed: Mapping[str, ConsumedSecret] = field(default_factory=dict)
    # URI -> the secret that this unit may manage
    secrets_owned: Mapping[str, OwnedSecret] = field(default_factory=dict)
    # URI -> revisions that no consumer tracks
    secrets_obsolete: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    secrets_deleted: tuple[str, ...] = ()  # URIs of secrets that were deleted
    # the step that the machine's upgrade to another base has reached
    series: SeriesStatus = SeriesStatus.NOT_STARTED
    series_target: str = ""  # the target base of that upgrade
