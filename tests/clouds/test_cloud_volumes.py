"""Volumes of clouds with an adapter keep the contract of storage. The fakes have no disks: data is here."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import ProviderError
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem, StorageProvider
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from pushjuju.testing.storage_contract import StorageContract
from tests.clouds.benches import bench_of
from tests.clouds.cases import CloudBench
from tests.clouds.httpfake import Answer
from tests.clouds.vanishing import at_each_moment

pytestmark = pytest.mark.timeout(60)


class VolumeBench:
    """A cloud whose volumes are read and written by their serial number."""

    kind = Kind.BLOCK

    def __init__(
        self, cloud: CloudBench, storage: str, volumes: Callable[[Any], Any], make: tuple[str, str]
    ) -> None:
        self.cloud, self._storage, self._volumes, self.make = cloud, storage, volumes, make
        self._disks: dict[str, str] = {}
        self._numbers = itertools.count()

    def open(self) -> StorageProvider:
        host = PluginHost(environ={}, path=[])
        found = host.open_storage(self._storage, self.cloud.open())
        assert isinstance(found, CloudVolumes)
        return found

    async def machine(self) -> str:
        request = self.cloud.request(str(next(self._numbers)), nonce=str(uuid.uuid4()))
        return (await self.cloud.open().start(request)).instance.id

    async def write(self, instance: str, place: str, text: str) -> None:
        self._disks[place] = text

    async def read(self, instance: str, place: str) -> str:
        return self._disks[place]

    def leftovers(self) -> list[str]:
        return list(self._volumes(self.cloud.fake))


Volumes = tuple[str, Callable[[Any], Any], tuple[str, str]]
VOLUMES: dict[str, Volumes] = {  # cloud -> type of storage, the fake's volumes, the request that makes one
    "azure": ("azure", lambda fake: fake.of("disks"), ("PUT", "/disks/")),
    "cloudstack": ("cloudstack", lambda fake: fake.disks, ("POST", "createVolume")),
    "digitalocean": ("digitalocean", lambda fake: fake.volumes, ("POST", "^/v2/volumes$")),
    "gce": ("gce", lambda fake: fake.disks, ("POST", "/disks$")),
    "linode": ("linode", lambda fake: fake.disks, ("POST", "/v4/volumes$")),
    "openstack": ("cinder", lambda fake: fake.volumes, ("POST", "/volumes$")),
    "scaleway": ("scaleway", lambda fake: fake.disks, ("POST", "^/block/.*/volumes$")),
    "vultr": ("vultr", lambda fake: fake.blocks, ("POST", "^/v2/blocks$")),
}


@pytest.fixture(params=VOLUMES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VolumeBench]:
    cloud = bench_of(request.param, tmp_path)
    yield VolumeBench(cloud, *VOLUMES[request.param])
    cloud.fake.close()
    assert cloud.fake.problems == []


class TestCloudVolumes(StorageContract):
    """The contract."""

    @pytest.mark.parametrize("kind", ["lost", "half", "never", "answer", "busy"])
    async def test_a_volume_is_made_once(self, bench: VolumeBench, kind: str) -> None:
        """The answer is lost, cut, never comes, or tells of a fault or of too many requests."""
        slow = Answer(status=429, body={"message": "slow down"}, headers={"retry-after": "7"})
        fault = {"answer": slow} if kind == "busy" else {"kind": kind}
        bench.cloud.fake.fail(*bench.make, **fault)
        item = self.item(bench)
        made = await bench.open().create(item)
        assert len(bench.leftovers()) == len(bench.cloud.pauses) == 1
        assert bench.cloud.fake.count(*bench.make) == (1 if kind in ("lost", "half") else 2)
        assert await bench.open().create(item) == made

    async def test_a_cloud_that_makes_no_volume(self, bench: VolumeBench) -> None:
        bench.cloud.fake.fail(*bench.make, times=99)
        with pytest.raises(ProviderError) as caught:
            await bench.open().create(self.item(bench))
        assert (caught.value.retryable, bench.leftovers()) == (True, [])


async def test_an_instance_that_disappears_at_any_moment(bench: VolumeBench) -> None:
    """Before any request of its volume's life: attaching fails at once, the volume comes free."""
    provider = bench.cloud.open()
    storage = CloudVolumes(provider, provider.adapter)  # type: ignore[arg-type]

    async def begin() -> str:
        return (await provider.start(bench.cloud.request(nonce=str(uuid.uuid4())))).instance.id

    async def call(instance: str) -> None:
        item = StorageItem(id="0", kind=Kind.BLOCK, size=1500, uuid=str(uuid.uuid4()), instance_id=instance)
        item = replace(item, provider_id=(await storage.create(item)).provider_id)
        with contextlib.suppress(ProviderError):  # long before the time that a volume may take
            await storage.attach(item)
        for step in (storage.detach, storage.destroy):
            with contextlib.suppress(ProviderError):  # the volume may be between two states
                await step(item)
            await step(item)
        assert bench.leftovers() == []
        bench.cloud.fake.problems.clear()  # what went a moment ago may be asked for

    await at_each_moment(bench.cloud.fake, bench.cloud.vanish(), bench.cloud.instances, begin, call)
