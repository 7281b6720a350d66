"""Bases, places of machines and storage on the wire. No param may name a file of this host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pushjuju.core.base import Base as CoreBase
from pushjuju.core.errors import NotValid
from pushjuju.core.model.placement import CONTAINER_TYPES, Placement, PlacementKind
from pushjuju.core.names import is_machine
from pushjuju.core.storage import Directive
from pushjuju.web import errors
from pushjuju.web.decoding import Count

_MACHINE = "#"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseParams:
    """A base; its channel may have a risk."""

    name: str = ""
    channel: str = ""

    @property
    def value(self) -> CoreBase | None:
        """The base, or None when the client named no base."""
        if not self.name or not self.channel:
            return None
        return CoreBase.parse(f"{self.name}@{self.channel.partition('/')[0]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementParams:
    """A placement: a scope, such as a type of container, and a directive for the scope."""

    scope: str = ""
    directive: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageParams:
    """A storage directive; the size is in MiB."""

    pool: str = ""
    size: Count = 0
    count: Count = 0


def directives(wanted: Mapping[str, StorageParams]) -> dict[str, Directive]:
    """Return name of the charm's storage -> directive."""
    return {name: directive(item) for name, item in wanted.items()}


def directive(item: StorageParams) -> Directive:
    """Return the directive for a storage of the charm; the count is at least 1."""
    return Directive(pool=item.pool, size=item.size, count=item.count or 1)


def places(wanted: Sequence[PlacementParams], model: str) -> list[Placement]:
    """Return the placements that a client names."""
    return [place(item, model) for item in wanted]


def place(item: PlacementParams, model: str) -> Placement:
    """Return one placement; see `places`."""
    scope, words = item.scope, item.directive
    if scope == _MACHINE:
        if not is_machine(words):
            raise NotValid(f'invalid value "{words}" for "{scope}" scope: expected machine-id')
        return Placement(PlacementKind.MACHINE, words)
    if scope in CONTAINER_TYPES:
        if words and not is_machine(words):
            raise NotValid(f'invalid value "{words}" for "{scope}" scope: expected machine-id')
        return Placement(PlacementKind.CONTAINER, scope, words or None)
    if scope == "ssh":
        raise errors.not_supported("machines that are there already are added on the host of the controller")
    if scope not in ("", model) or words.startswith("file:"):
        raise NotValid(f'invalid model id "{scope}"')
    return Placement(PlacementKind.PROVIDER, words)
