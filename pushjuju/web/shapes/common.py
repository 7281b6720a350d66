"""Shapes that many facades share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

from pushjuju.web.errors import Error


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """An entity, by its tag."""

    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """Entities of a bulk call."""

    entities: list[Entity] = field(default_factory=list)


class StringResult(TypedDict):
    """A text, or an error."""

    result: NotRequired[str]
    error: NotRequired[Error]


class StringsResult(TypedDict):
    """Texts, or an error."""

    result: NotRequired[list[str]]
    error: NotRequired[Error]


Base = TypedDict("Base", {"name": str, "channel": str})
EntityStatus = TypedDict(
    "EntityStatus", {"status": str, "info": str, "data": dict[str, object], "since": str | None}
)
HostPort = TypedDict("HostPort", {"value": str, "type": str, "scope": str, "port": int})
Results = TypedDict("Results", {"results": list[Any]})
