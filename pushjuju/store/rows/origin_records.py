"""Rows about the origin of charms; see `records`."""

from __future__ import annotations

from datetime import datetime

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationOrigin:
    """The store from which an application's charm came, and the newest revision there."""

    model: str
    application: str
    source: str  # name of the source type, `charm-hub`
    id: str
    hash: str  # SHA-256 of the archive in the store
    revision: int
    channel: str  # the channel that the application follows, with track and risk
    arch: str
    os: str
    track: str
    # the newest revision in that channel, or "" when it is not newer than the application's
    latest_url: str = ""
    latest_revision: int = -1
    looked: datetime | None = None  # when the store was last asked, or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLatest:
    """The newest revision that a store has of an application's resource."""

    model: str
    application: str
    name: str
    revision: int
    type: str
    path: str
    description: str = ""
    fingerprint: str
    size: int
    time: str
