"""A charm of a store, resolved."""

from __future__ import annotations

from dataclasses import dataclass

from pushjuju.charms.format.url import CharmURL
from pushjuju.core.base import Base
from pushjuju.core.channel import Channel
from pushjuju.core.charmstore import (
    StoreCharm,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOrigin:
    """A resolved charm: where it comes from and what it becomes in a model.

    Attributes:
        channel: The channel that is followed from now on.
        base: The base that it is deployed on; a bundle's own base has no meaning.
        arch: For which it was picked.
    """

    charm: StoreCharm
    channel: Channel
    base: Base
    arch: str

    @property
    def url(self) -> str:
        """How a model names the charm: `ch:amd64/jammy/postgresql-345`."""
        return str(
            CharmURL(
                schema="ch", name=self.charm.name, revision=self.charm.revision, architecture=self.arch,
                series=self.base.series,
            )
        )  # fmt: skip
