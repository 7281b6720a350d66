"""What the model wants of a unit: the remote state, read in one transaction before each decision.

Mirrors: juju worker/uniter/remotestate/snapshot.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pushjuju.core.model.life import Life
from pushjuju.core.model.series import SeriesStatus
from pushjuju.uniter.decide.state import ResolvedMode


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRelation:
    """One relation of the unit's application as the model has it.

    Attributes:
        endpoint: The unit's own endpoint of it.
        remote_application: The other application; for a peer relation the own one.
        peer: It is a peer relation.
        implicit: The own endpoint is the implicit juju-info.
        container: Its scope is container, not global.
        implemented: The charm on the machine has the endpoint (false until an upgrade brought it).
        suspended: It is suspended.
        members: Units of the counterpart role in scope, not departing, not this one -> version of settings.
        app_members: Counterpart applications (peer: the own one) -> version of settings.
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
        """Whether units may be in its scope."""
        return self.life is Life.ALIVE and not self.suspended


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteStorage:
    """One storage attachment of the unit.

    Attributes:
        attached: Provisioned, and attached to the machine with a location.
        implemented: The charm on the machine has the store (false until an upgrade brought it).
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
        parallel: It needs no machine lock.
        execution_group: It shares a lock with this group only.
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
    """A secret that this unit answers for.

    Attributes:
        application: It belongs to the application, so only the leader answers for it.
    """

    revision: int
    label: str = ""
    application: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteState:
    """All that the model wants of a unit.

    Attributes:
        unit: The unit's name.
        principal: Its principal unit, or empty.
        subordinates: Its subordinate units -> their life.
        resolved: How a user wants the failed hook to be resolved.
        charm_url: The application's charm, not the unit's.
        force_charm: Take the charm even in an error state.
        charm_modified_version: Grows with each change of the charm or of a resource.
        charm_present: The charm directory on the machine is readable, as far as is known.
        profile_ready: The profile that the charm needs is applied to the machine.
        leader: The unit holds the leadership.
        leader_settings_version: 1 from the start, grows with each change.
        update_status_version: Count of update-status ticks.
        retry_hook_version: Count of retry ticks.
        retry_hooks: Model config automatically-retry-hooks.
        boot_id: The machine's present boot; empty while it is not known.
        relations: Relation id -> relation.
        storage: Storage id -> attachment.
        actions: Pending actions, oldest first.
        commands: Ids of commands from juju-exec on the machine, oldest first.
        secrets_expired: Revisions past their expiry, in order.
        secrets_rotate: URIs whose rotation is due, in order.
        secrets_consumed: URI -> what this unit reads.
        secrets_owned: URI -> what this unit answers for.
        secrets_obsolete: URI -> revisions that nobody tracks.
        secrets_deleted: URIs known to be gone.
        series: The step that the machine's upgrade to another base has reached.
        series_target: The base it goes to.
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
