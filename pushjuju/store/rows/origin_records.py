"""Rows about where charms come from, as values; see `records`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationOrigin:
    """The store that an application's charm came from, and what is newest there.

    Attributes:
        source: Name of the source type, `charm-hub`.
        id: The charm's id there.
        hash: SHA-256 of the archive as the store has it.
        channel: The channel that the application follows, with track and risk.
        latest_url: A newer revision in that channel, or empty when no newer revision is known.
        looked: When the store was last asked, or None when it never was.
    """

    model: str
    application: str
    source: str
    id: str
    hash: str
    revision: int
    channel: str
    arch: str
    os: str
    track: str
    latest_url: str = ""
    latest_revision: int = -1
    looked: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLatest:
    """What a store has for a resource of an application."""

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
