"""Shapes that many facades share, and checks of what they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, NotRequired, TypedDict, TypeVar

from pushjuju.core.errors import NotValid
from pushjuju.services.lifecycle import removal
from pushjuju.web.decoding import Count, wire_name
from pushjuju.web.errors import Error

T = TypeVar("T")
_WEB = ("http://", "https://", "mirror+http://", "mirror+https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """An entity, by its tag."""

    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """Entities of a bulk call."""

    entities: list[Entity] = field(default_factory=list)


class ResultOf(TypedDict, Generic[T]):
    """A result of a bulk call, or an error."""

    result: NotRequired[T]
    error: NotRequired[Error]


class ResultsOf(TypedDict, Generic[T]):
    """The results of a bulk call, in the order of its arguments."""

    results: list[T]


StringResult = ResultOf[str]
StringsResult = ResultOf[list[str]]
Base = TypedDict("Base", {"name": str, "channel": str})
EntityStatus = TypedDict(
    "EntityStatus", {"status": str, "info": str, "data": dict[str, object], "since": str | None}
)
HostPort = TypedDict("HostPort", {"value": str, "type": str, "scope": str, "port": int})
Results = ResultsOf[Any]


def force_of(max_wait: int | None, *, force: bool | None) -> removal.Force | None:
    """Return the options of a forced removal, or None without force; the wait is in nanoseconds."""
    if not force:
        return None
    return removal.Force() if max_wait is None else removal.Force(wait_s=max_wait / 1e9)


def checked_settings(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings; a charm store in a local folder can be set only by commands on the host.

    Raises:
        NotValid: A URL is not an address of the web.
    """
    for key, value in values.items():
        if key.endswith("url") and value and not str(value).startswith(_WEB):
            raise NotValid(f'{key}: "{value}" is not an address of the web, as the API takes them')
    return dict(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintsValue:
    """Constraints; None stands for a constraint that is not set. Sizes are in MiB."""

    allocate_public_ip: bool | None = None
    arch: str | None = None
    container: str | None = None
    cores: Count | None = None
    cpu_power: Count | None = None
    image_id: str | None = None
    instance_role: str | None = None
    instance_type: str | None = None
    mem: Count | None = None
    root_disk: Count | None = None
    root_disk_source: str | None = None
    spaces: list[str] | None = None
    tags: list[str] | None = None
    virt_type: str | None = None
    zones: list[str] | None = None


def known_constraints(value: ConstraintsValue) -> dict[str, object]:
    """Return the constraints that are set, under the names that services use."""
    found = {wire_name(item): getattr(value, item.name) for item in fields(value)}
    return {key: item for key, item in found.items() if item is not None}
