"""Shapes of ModelManager, and of models in Controller."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from pushjuju.web.errors import Error
from pushjuju.web.shapes.common import EntityStatus, ResultOf, ResultsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCreateArgs:
    name: str = ""
    owner_tag: str = ""
    cloud_tag: str = ""
    region: str = ""
    credential: str = ""
    config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DestroyModel:
    """A model to destroy; times are nanoseconds."""

    model_tag: str = ""
    destroy_storage: bool | None = None
    force: bool | None = None
    max_wait: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyModelAccess:
    """A change of one user's access to a model."""

    user_tag: str = ""
    action: str = ""
    access: str = ""
    model_tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifyControllerAccess:
    """A change of one user's access to the controller."""

    user_tag: str = ""
    action: str = ""
    access: str = ""


Model = TypedDict("Model", {"name": str, "uuid": str, "type": str, "owner-tag": str})
UserModel = TypedDict("UserModel", {"model": Model, "last-connection": str | None})
UserModelList = TypedDict("UserModelList", {"user-models": list[UserModel]})
SLA = TypedDict("SLA", {"level": str, "owner": str})
EntityCount = TypedDict("EntityCount", {"entity": str, "count": int})
ModelSummary = TypedDict(
    "ModelSummary",
    {
        "name": str,
        "uuid": str,
        "type": str,
        "controller-uuid": str,
        "is-controller": bool,
        "provider-type": str,
        "default-series": NotRequired[str],
        "cloud-tag": str,
        "cloud-region": NotRequired[str],
        "cloud-credential-tag": NotRequired[str],
        "owner-tag": str,
        "life": str,
        "status": EntityStatus,
        "user-access": str,
        "last-connection": str | None,
        "counts": list[EntityCount],
        "sla": SLA,
        "agent-version": str,
    },
)
ModelSummaryResult = ResultOf[ModelSummary]
ModelSummaryResults = ResultsOf[ModelSummaryResult]
ModelUser = TypedDict(
    "ModelUser",
    {"model-tag": str, "user": str, "display-name": str, "access": str, "last-connection": str | None},
)
ModelMachine = TypedDict(
    "ModelMachine",
    {
        "id": str,
        "instance-id": NotRequired[str],
        "display-name": NotRequired[str],
        "status": str,
        "message": NotRequired[str],
        "hardware": NotRequired[dict[str, object]],
        "has-vote": bool,
        "wants-vote": bool,
    },
)
Feature = TypedDict("Feature", {"name": str, "description": str, "version": str})
ModelInfo = TypedDict(
    "ModelInfo",
    {
        "name": str,
        "type": str,
        "uuid": str,
        "controller-uuid": str,
        "is-controller": bool,
        "provider-type": str,
        "default-series": NotRequired[str],
        "default-base": NotRequired[str],
        "cloud-tag": str,
        "cloud-region": NotRequired[str],
        "cloud-credential-tag": NotRequired[str],
        "cloud-credential-validity": NotRequired[bool],
        "owner-tag": str,
        "life": str,
        "status": EntityStatus,
        "users": list[ModelUser],
        "machines": list[ModelMachine],
        "secret-backends": list[Any],
        "sla": SLA,
        "agent-version": str,
        "supported-features": list[Feature],
    },
)
ModelInfoResult = ResultOf[ModelInfo]
ControllerAPIInfo = TypedDict(
    "ControllerAPIInfo", {"addresses": list[str], "cacert": str, "error": NotRequired[Error]}
)
AllWatcherId = TypedDict("AllWatcherId", {"watcher-id": str})
