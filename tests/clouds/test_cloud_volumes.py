"""Volumes of clouds with an adapter keep the contract of storage. The fakes have no disks: data is here."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.core.storage import Kind
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from pushjuju.plugins.types import StorageProvider
from pushjuju.testing.storage_contract import StorageContract
from tests.clouds import test_digitalocean, test_gce, test_linode, test_openstack, test_vultr
from tests.clouds.cases import CloudBench
from tests.clouds.fake_digitalocean import FakeDigitalOcean
from tests.clouds.fake_gce import FakeGce
from tests.clouds.fake_linode import FakeLinode
from tests.clouds.fake_openstack import FakeOpenStack
from tests.clouds.fake_vultr import FakeVultr

pytestmark = pytest.mark.timeout(60)


class VolumeBench:
    """A cloud whose volumes are read and written by their serial number."""

    kind = Kind.BLOCK

    def __init__(self, cloud: CloudBench, storage: str, volumes: str) -> None:
        self.cloud, self._storage, self._volumes = cloud, storage, volumes
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
        return list(vars(self.cloud.fake)[self._volumes])


@pytest.fixture(params=["digitalocean", "gce", "openstack", "vultr", "linode"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VolumeBench]:
    cloud: CloudBench
    if request.param == "digitalocean":
        droplets = FakeDigitalOcean()
        cloud, storage, volumes = test_digitalocean.make(droplets, tmp_path), "digitalocean", "volumes"
    elif request.param == "gce":
        google = FakeGce()
        cloud, storage, volumes = test_gce.make(google, tmp_path), "gce", "disks"
    elif request.param == "vultr":
        cloud, storage, volumes = test_vultr.make(FakeVultr(), tmp_path), "vultr", "blocks"
    elif request.param == "linode":
        cloud, storage, volumes = test_linode.make(FakeLinode(), tmp_path), "linode", "disks"
    else:
        lab = FakeOpenStack()
        cloud, storage, volumes = test_openstack.make(lab, tmp_path), "cinder", "volumes"
    yield VolumeBench(cloud, storage, volumes)
    cloud.fake.close()
    assert cloud.fake.problems == []


class TestCloudVolumes(StorageContract):
    """The contract."""
