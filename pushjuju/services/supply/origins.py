"""Records from which store, channel and revision the charm of an application comes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace

from pushjuju.charms.format.url import CharmURL
from pushjuju.charms.hub.wire import instance_key
from pushjuju.core.base import Base, Channel
from pushjuju.core.charmstore import Held, StoreCharm, StoreResource
from pushjuju.core.clock import to_iso
from pushjuju.core.values import dataclass
from pushjuju.store.rows.origin_records import ApplicationOrigin, ResourceLatest
from pushjuju.store.rows.records import Application
from pushjuju.store.tx import ModelTx, Tx


def find(tx: ModelTx, application: str) -> ApplicationOrigin | None:
    """Return the origin of an application's charm, or None for a charm without a store."""
    return tx.find(ApplicationOrigin, "origin_get", application=application)


def put(tx: ModelTx, application: Application, origin: StoreOrigin | None) -> None:
    """Record the origin of an application's charm, or None for a charm without a store."""
    if origin is None:
        tx.run("origin_delete", application=application.name)
        tx.run("resource_latest_clear", application=application.name)
        return
    record = ApplicationOrigin(
        model=application.model, application=application.name, source=origin.charm.source,
        id=origin.charm.id, hash=origin.charm.download.sha256 or origin.charm.download.sha384,
        revision=origin.charm.revision, channel=str(origin.channel), arch=origin.arch, os=origin.base.os,
        track=origin.base.track,
    )  # fmt: skip
    tx.run("origin_put", **asdict(record))


def follow(tx: Tx, known: ApplicationOrigin, channel: Channel) -> None:
    """Record another channel for an application, which keeps its present charm."""
    record = replace(known, channel=str(channel), latest_url="", latest_revision=-1, looked=None)
    tx.run("origin_put", **asdict(record))


def held(known: ApplicationOrigin) -> Held:
    """Return the present charm of an application, for a request to its store."""
    return Held(
        id=known.id,
        revision=known.revision,
        channel=Channel.parse(known.channel),
        key=instance_key(known.application, known.model),
    )


def latest(
    tx: ModelTx, known: ApplicationOrigin, url: str, revision: int, found: Iterable[StoreResource]
) -> None:
    """Record a store's newest revisions for an application, unless its charm or channel has changed."""
    newer = revision > known.revision
    tx.run(
        "origin_latest", application=known.application, url=url if newer else "",
        latest=revision if newer else -1, looked=tx.now,
        revision=known.revision, channel=known.channel
    )  # fmt: skip
    for item in found:
        record = ResourceLatest(
            model=known.model, application=known.application, name=item.name, revision=item.revision,
            type=item.type, path=item.filename, description=item.description,
            fingerprint=item.download.sha384, size=item.download.size, time=to_iso(tx.now),
        )  # fmt: skip
        tx.run("resource_latest_put", **asdict(record))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOrigin:
    """A revision of a charm, with where it comes from and how a model uses it."""

    charm: StoreCharm
    channel: Channel  # the channel that the application follows from now on
    base: Base  # the base for the application; without meaning for a bundle
    arch: str  # the architecture for which the revision was chosen

    @property
    def url(self) -> str:
        """The charm's URL in a model: `ch:amd64/jammy/postgresql-345`."""
        return str(
            CharmURL(
                schema="ch", name=self.charm.name, revision=self.charm.revision, architecture=self.arch,
                series=self.base.series,
            )
        )  # fmt: skip
