"""Shapes that many facades share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, NotRequired, TypedDict, TypeVar

from pushjuju.web.errors import Error

T = TypeVar("T")


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
