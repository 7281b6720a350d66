"""The contract suites for sources of charms: stores, and places such as directories or URLs.

from pushjuju.testing.source_contract import CharmStoreContract, StoreBench

class TestMine(CharmStoreContract):
    @pytest.fixture
    def bench(self):
        return StoreBench(store=MyStore(...), name="web", revision=3, ...)
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.charms.archive.reader import read_charm
from pushjuju.core.base import Channel
from pushjuju.core.charmstore import Ask, Download, Held, HubError, Platform, StoreCharm
from pushjuju.core.errors import PushjujuError
from pushjuju.plugins.api.sources import CharmPlace, CharmStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBench:
    """A store with at least one charm, which has a resource.

    Attributes:
        name: The name of the charm.
        channel: A channel with track and risk, in which `revision` is the newest for `platform`.
        resource: The name of a resource of the charm.
    """

    store: CharmStore
    name: str
    revision: int
    channel: Channel
    platform: Platform
    resource: str


class CharmStoreContract:
    """The suite for stores; a subclass adds the fixture `bench`."""

    def one(self, bench: StoreBench, **asked: object) -> StoreCharm:
        """Return the answer to a single request, which must be a charm."""
        plain: dict[str, object] = {"name": bench.name, "platform": bench.platform}
        (found,) = bench.store.resolve([Ask(**{**plain, **asked})])  # type: ignore[arg-type]
        assert isinstance(found, StoreCharm), found
        return found

    def test_by_channel(self, bench: StoreBench) -> None:
        """A channel gives its newest revision, with the download address and the platform."""
        found = self.one(bench, channel=bench.channel)
        assert (found.name, found.revision, found.kind) == (bench.name, bench.revision, "charm")
        assert found.channel == bench.channel.full()
        assert found.platform.base in found.bases
        assert found.download.sha256 or found.download.sha384

    def test_by_revision(self, bench: StoreBench) -> None:
        """A revision is found in whatever channel it is."""
        assert self.one(bench, revision=bench.revision).revision == bench.revision

    def test_without_a_base(self, bench: StoreBench) -> None:
        """Without a base the store returns one of the charm's bases."""
        found = self.one(bench, channel=bench.channel, platform=Platform(arch=bench.platform.arch))
        assert found.platform.base is not None

    def test_what_is_there_already(self, bench: StoreBench) -> None:
        """A refresh returns the newest revision of the channel."""
        known = self.one(bench, channel=bench.channel)
        held = Held(id=known.id, revision=known.revision, channel=bench.channel, key="k")
        assert self.one(bench, channel=bench.channel, held=held).revision == bench.revision

    def test_several_at_once_come_in_their_order(self, bench: StoreBench) -> None:
        """An unknown charm is an answer of its own, and does not change the other answers."""
        asks = [
            Ask(name="no-such-charm-here", platform=bench.platform),
            Ask(name=bench.name, channel=bench.channel, platform=bench.platform),
        ]
        first, second = bench.store.resolve(asks)
        assert isinstance(first, HubError)
        assert isinstance(second, StoreCharm)
        assert bench.store.resolve([]) == []

    def test_a_channel_without_the_base_says_what_there_is(self, bench: StoreBench) -> None:
        """The error names the bases of the channel, and carries them as data."""
        other = Platform(arch=bench.platform.arch, os="genericlinux", track="0")
        (found,) = bench.store.resolve([Ask(name=bench.name, channel=bench.channel, platform=other)])
        assert isinstance(found, HubError)
        assert "available releases are:" in found.message
        assert any(platform.base == bench.platform.base for _, platform in found.releases)

    def test_the_archive_is_the_charm(self, bench: StoreBench, tmp_path: Path) -> None:
        """The archive is the charm of the answer, with the hash of the answer."""
        found, target = self.one(bench, channel=bench.channel), tmp_path / "x.charm"
        told: list[tuple[int, int]] = []
        bench.store.fetch(found.download, target, "charm", lambda here, whole: told.append((here, whole)))
        content = target.read_bytes()
        assert hashlib.sha256(content).hexdigest() == found.download.sha256
        assert read_charm(target).charm.name == bench.name
        bench.store.fetch(found.download, target, "charm")

    def test_a_file_that_is_not_what_was_told(self, bench: StoreBench, tmp_path: Path) -> None:
        """A download with a wrong hash fails, and leaves no file."""
        found = self.one(bench, channel=bench.channel).download
        wrong = Download(url=found.url, sha256="0" * 64, size=found.size)
        with pytest.raises(HubError):
            bench.store.fetch(wrong, tmp_path / "x", "charm")
        assert not (tmp_path / "x").exists()

    def test_resources(self, bench: StoreBench, tmp_path: Path) -> None:
        """The revisions of a resource have a SHA-384 each."""
        listed = bench.store.resources(bench.name, bench.resource)
        assert listed
        assert all(item.name == bench.resource and item.download.sha384 for item in listed)
        bench.store.fetch(listed[0].download, tmp_path / "r", "resource")
        content = (tmp_path / "r").read_bytes()
        assert hashlib.sha384(content).hexdigest() == listed[0].download.sha384
        with pytest.raises(HubError):
            bench.store.resources(bench.name, "no-such-resource")

    def test_info_and_find(self, bench: StoreBench) -> None:
        """`info` and `find` return descriptions in Charmhub's form."""
        assert bench.store.info(bench.name)["name"] == bench.name
        assert bench.name in [item["name"] for item in bench.store.find(bench.name, {})]
        assert bench.store.find("no-such-charm-here", {}) == []
        with pytest.raises(HubError):
            bench.store.info("no-such-charm-here")


class CharmPlaceContract:
    """The suite for places; a subclass adds the fixtures `place` (a charm `web`) and `empty` (no charm)."""

    def test_the_charm_is_brought(self, place: CharmPlace, tmp_path: Path) -> None:
        """A place returns a charm as a directory or an archive."""
        assert read_charm(place.bring(_folder(tmp_path))).charm.name == "web"

    def test_nothing_is_there(self, empty: CharmPlace, tmp_path: Path) -> None:
        """A place without a charm raises an error with a text for users."""
        with pytest.raises(PushjujuError):
            empty.bring(_folder(tmp_path))


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder
