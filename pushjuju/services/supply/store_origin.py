"""The store's answer for a charm: its revision, channel and base."""

from __future__ import annotations

from pushjuju.charms.format.url import CharmURL
from pushjuju.core.base import Base
from pushjuju.core.channel import Channel
from pushjuju.core.charmstore import StoreCharm
from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOrigin:
    """A revision of a charm, with where it comes from and how a model uses it.

    Attributes:
        channel: The channel that the application follows from now on.
        base: The base for the application; without meaning for a bundle.
        arch: The architecture for which the revision was chosen.
    """

    charm: StoreCharm
    channel: Channel
    base: Base
    arch: str

    @property
    def url(self) -> str:
        """The charm's URL in a model: `ch:amd64/jammy/postgresql-345`."""
        return str(
            CharmURL(
                schema="ch", name=self.charm.name, revision=self.charm.revision, architecture=self.arch,
                series=self.base.series,
            )
        )  # fmt: skip
