"""Shapes of the facade Application."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from pushjuju.web.errors import Error
from pushjuju.web.shapes.common import Base, ConstraintsValue, Entity
from pushjuju.web.shapes.placement import BaseParams, PlacementParams, StorageParams


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmOriginParams:
    """The origin of a charm: its store, revision, channel and base."""

    source: str = ""
    type: str = ""
    id: str = ""
    hash: str = ""
    risk: str = ""
    revision: int | None = None
    track: str | None = None
    branch: str | None = None
    architecture: str = ""
    base: BaseParams = field(default_factory=BaseParams)

    @property
    def channel(self) -> str:
        """The channel as text; empty without a risk."""
        parts = [part for part in (self.track, self.risk, self.branch) if part]
        return "/".join(parts) if self.risk else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationDeploy:
    """An application to deploy from a charm in the model."""

    application: str = ""
    charm_url: str = ""
    charm_origin: CharmOriginParams = field(default_factory=CharmOriginParams)
    num_units: int = 0
    config: dict[str, str] = field(default_factory=dict)
    config_yaml: str = ""
    constraints: ConstraintsValue = field(default_factory=ConstraintsValue)
    placement: list[PlacementParams] = field(default_factory=list)
    storage: dict[str, StorageParams] = field(default_factory=dict)
    attach_storage: list[str] = field(default_factory=list)
    endpoint_bindings: dict[str, str] = field(default_factory=dict)
    resources: dict[str, str] = field(default_factory=dict)
    devices: dict[str, Any] = field(default_factory=dict)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployFromRepositoryArg:
    """An application to deploy from a charm in the model's store."""

    application_name: str = field(default="", metadata={"wire": "ApplicationName"})
    attach_storage: list[str] = field(default_factory=list, metadata={"wire": "AttachStorage"})
    charm_name: str = field(default="", metadata={"wire": "CharmName"})
    config_yaml: str = field(default="", metadata={"wire": "ConfigYAML"})
    cons: ConstraintsValue = field(default_factory=ConstraintsValue)
    devices: dict[str, Any] = field(default_factory=dict)
    dry_run: bool = field(default=False, metadata={"wire": "DryRun"})
    placement: list[PlacementParams] = field(default_factory=list)
    storage: dict[str, StorageParams] = field(default_factory=dict)
    trust: bool = False
    base: BaseParams = field(default_factory=BaseParams)
    channel: str = ""
    endpoint_bindings: dict[str, str] = field(default_factory=dict)
    force: bool = False
    num_units: int | None = None
    resources: dict[str, str] = field(default_factory=dict)
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationSetCharm:
    """A refresh of an application to another charm or revision."""

    application: str = ""
    charm_url: str = ""
    channel: str = ""
    charm_origin: CharmOriginParams = field(default_factory=CharmOriginParams)
    config_settings: dict[str, str] = field(default_factory=dict)
    config_settings_yaml: str = ""
    endpoint_bindings: dict[str, str] = field(default_factory=dict)
    storage_constraints: dict[str, StorageParams] = field(default_factory=dict)
    resource_ids: dict[str, str] = field(default_factory=dict)
    force: bool = False
    force_base: bool = False
    force_units: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DestroyUnit:
    """A unit to remove; the wait is in nanoseconds."""

    unit_tag: str = ""
    destroy_storage: bool = False
    force: bool = False
    max_wait: int | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DestroyApplication:
    """An application to remove; the wait is in nanoseconds."""

    application_tag: str = ""
    destroy_storage: bool = False
    force: bool = False
    max_wait: int | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationGet:
    """An application, by its name."""

    application: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSet:
    """New settings of an application."""

    application: str = ""
    config: dict[str, str] = field(default_factory=dict)
    config_yaml: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationUnset:
    """Settings of an application to reset to their defaults."""

    application: str = ""
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class DestroyRelation:
    """A relation to end, by its endpoints or its id."""

    endpoints: list[str] = field(default_factory=list)
    relation_id: int = 0
    force: bool = False
    max_wait: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSuspendedArg:
    relation_id: int = 0
    suspended: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedEndpointParams:
    """The spaces and networks that may reach an endpoint."""

    expose_to_spaces: list[str] = field(default_factory=list)
    expose_to_cidrs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationMergeBindings:
    """Spaces for endpoints of an application; the empty endpoint stands for the others."""

    application_tag: str = ""
    bindings: dict[str, str] = field(default_factory=dict)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateChannelArg:
    """A new base for an application: the channel of Ubuntu."""

    tag: Entity = field(default_factory=Entity)
    channel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationStorageUpdate:
    """The storage that future units of an application get."""

    application_tag: str = ""
    storage_constraints: dict[str, StorageParams] = field(default_factory=dict)


Info = TypedDict(
    "Info",
    {
        "architecture": str,
        "base": Base,
        "channel": str,
        "effective-channel": NotRequired[str],
        "name": str,
        "revision": int,
    },
)
PendingUpload = TypedDict("PendingUpload", {"Name": str, "Type": str, "Filename": str})
DeployFromRepositoryResult = TypedDict(
    "DeployFromRepositoryResult",
    {"Errors": list[Error], "Info": Info, "PendingResourceUploads": list[PendingUpload]},
)
DeployFromRepositoryResults = TypedDict(
    "DeployFromRepositoryResults", {"Results": list[DeployFromRepositoryResult]}
)
ConfigResult = TypedDict("ConfigResult", {"config": dict[str, object], "error": NotRequired[Error]})
ConfigResults = TypedDict("ConfigResults", {"Results": list[ConfigResult]})
CharmRelationsResults = TypedDict("CharmRelationsResults", {"charm-relations": list[str]})
AddUnitsResults = TypedDict("AddUnitsResults", {"units": list[str]})
RelationEnd = TypedDict(
    "RelationEnd", {"name": str, "role": str, "interface": str, "optional": bool, "limit": int, "scope": str}
)
AddRelationResults = TypedDict("AddRelationResults", {"endpoints": dict[str, RelationEnd]})
ApplicationGetResults = TypedDict(
    "ApplicationGetResults",
    {
        "application": str,
        "charm": str,
        "config": dict[str, object],
        "application-config": dict[str, object],
        "constraints": dict[str, object],
        "base": Base,
        "channel": str,
        "endpoint-bindings": dict[str, str],
    },
)
