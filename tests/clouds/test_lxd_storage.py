"""Storage pools of LXD as storage, against a stand-in; tests/lxd has the real server."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.core.errors import Conflict, NotFound, NotValid, ProviderError
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import ModelInfo, Services
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.lxd.provider import LxdProvider
from pushjuju.plugins.providers.lxd.volumes import LxdStorage
from pushjuju.testing.provider_contract import MODEL
from pushjuju.testing.storage_contract import StorageContract
from tests.clouds.lxd_standin import StandIn

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = pytest.mark.timeout(60)

OTHER = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"


class StandInBench:
    """One controller and a server."""

    kind = Kind.FILESYSTEM

    def __init__(self, lxd: StandIn, folder: Path) -> None:
        self.lxd, self._folder = lxd, folder

    def open(self, model: str = MODEL) -> LxdStorage:
        provider = LxdProvider(
            cloud=CloudSpec(name="localhost", type="lxd", endpoint=str(self.lxd.socket)),
            credential=Credential(),
            model=ModelInfo(uuid=model, name="shop", controller_uuid="c"),
            config={},
            services=Services(data_dir=self._folder),
        )
        opened = PluginHost(environ={}).open_storage("lxd", provider)
        assert isinstance(opened, LxdStorage)
        return opened

    async def machine(self) -> str:
        name = f"machine-{len(self.lxd.instances)}"
        self.lxd.instances[name] = {
            "name": name, "architecture": "x86_64", "config": {}, "devices": {}, "profiles": ["default"],
            "ephemeral": False, "location": "none",
        }  # fmt: skip
        return name

    def _volume(self, instance: str, place: str) -> str:
        devices = self.lxd.instances[instance]["devices"].values()
        return next(f"{item['pool']}/{item['source']}" for item in devices if item["path"] == place)

    async def write(self, instance: str, place: str, text: str) -> None:
        self.lxd.texts[self._volume(instance, place)] = text

    async def read(self, instance: str, place: str) -> str:
        return self.lxd.texts[self._volume(instance, place)]

    def leftovers(self) -> list[str]:
        return sorted(self.lxd.volumes)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[StandInBench]:
    with tempfile.TemporaryDirectory(prefix="pjl") as folder:
        server = StandIn(Path(folder) / "unix.socket")
        yield StandInBench(server, tmp_path)
        server.close()


class TestLxdStorage(StorageContract):
    """The contract."""


def new(**more: object) -> StorageItem:
    plain = {"id": "0", "kind": Kind.FILESYSTEM, "size": 64, "uuid": str(uuid.uuid4())}
    return StorageItem(**{**plain, **more})  # type: ignore[arg-type]


async def test_a_pool_is_made_as_its_attributes_say(bench: StandInBench) -> None:
    """Sized, where the driver knows sizes; a pool that is there is taken, but for another driver."""
    attributes = {"driver": "zfs", "lxd-pool": "tank", "zfs.pool_name": "t"}
    item = new(attributes=attributes, tags={"juju-storage-instance": "data/0", "x": "y"})
    made = await bench.open().create(item)
    assert bench.lxd.pools["tank"] == {"name": "tank", "driver": "zfs", "config": {"zfs.pool_name": "t"}}
    config = bench.lxd.volumes[f"tank/juju-{item.uuid}"]["config"]
    assert (config["size"], config["user.juju-storage-instance"]) == ("64MiB", "data/0")
    assert "user.x" not in config
    assert (made.provider_id, made.size) == (f"tank:juju-{item.uuid}", 64)
    await bench.open().destroy(new(uuid=item.uuid, attributes=attributes))  # nobody noted that it was made
    assert bench.leftovers() == []
    with pytest.raises(ProviderError, match='pool "fast" exists, with conflicting driver "btrfs"'):
        await bench.open().create(new(attributes={"lxd-pool": "fast"}))


@pytest.mark.parametrize("done", [[], ["one"], ["one", "two"]])
async def test_a_pool_of_a_cluster_is_made_on_each_member(bench: StandInBench, done: list[str]) -> None:
    """Also where an earlier try stopped halfway."""
    bench.lxd.environment["server_clustered"] = True
    bench.lxd.members = [{"server_name": "one"}, {"server_name": "two"}]
    if done:
        bench.lxd.pools["pj"] = {
            "name": "pj", "driver": "btrfs", "config": {}, "status": "Pending", "locations": done,
        }  # fmt: skip
    attributes = {"driver": "btrfs", "lxd-pool": "pj", "size": "1GiB", "btrfs.mount_options": "x"}
    await bench.open().create(new(attributes=attributes))
    made = bench.lxd.pools["pj"]
    assert (made["status"], made["locations"]) == ("Created", ["one", "two"])
    assert made["config"] == {"btrfs.mount_options": "x"}


async def test_what_an_operator_made_is_taken_in_with_its_size(bench: StandInBench) -> None:
    bench.lxd.volumes["fast/theirs"] = {"name": "theirs", "config": {"size": "2GiB"}}
    bench.lxd.volumes["fast/unsized"] = {"name": "unsized", "config": {}}
    assert (await bench.open().find("fast:theirs", Kind.FILESYSTEM)).size == 2048
    assert (await bench.open().find("fast:unsized", Kind.FILESYSTEM)).size == 1024  # the pool's
    with pytest.raises(Conflict, match="belongs to another model"):
        await bench.open(OTHER).find("fast:theirs", Kind.FILESYSTEM)


async def test_what_an_instance_uses_is_not_taken_in(bench: StandInBench) -> None:
    bench.lxd.volumes["fast/theirs"] = {"name": "theirs", "config": {}}
    machine = await bench.machine()
    bench.lxd.instances[machine]["devices"]["x"] = {"type": "disk", "pool": "fast", "source": "theirs"}
    with pytest.raises(Conflict, match=f'filesystem "fast:theirs" is in use by {machine}'):
        await bench.open().find("fast:theirs", Kind.FILESYSTEM)


@pytest.mark.parametrize("name", ["", "x", "fast:", ":x", "../x:y", "fast:..", "fast:a/b"])
async def test_a_name_leads_nowhere_else(bench: StandInBench, name: str) -> None:
    with pytest.raises(NotValid, match="expected ID in format <lxd-pool>:<volume-name>"):
        await bench.open().find(name, Kind.FILESYSTEM)
    with pytest.raises(NotFound):
        await bench.open().find("fast:nothing", Kind.FILESYSTEM)
