"""Volumes of clouds with an adapter keep the contract of storage. The fakes have no disks: data is here."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.storage import Kind
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from pushjuju.plugins.types import StorageProvider
from pushjuju.testing.storage_contract import StorageContract
from tests.clouds import (
    test_azure,
    test_cloudstack,
    test_digitalocean,
    test_gce,
    test_linode,
    test_openstack,
    test_scaleway,
    test_vultr,
)
from tests.clouds.cases import CloudBench
from tests.clouds.fake_azure import FakeAzure
from tests.clouds.fake_cloudstack import FakeCloudStack
from tests.clouds.fake_digitalocean import FakeDigitalOcean
from tests.clouds.fake_gce import FakeGce
from tests.clouds.fake_linode import FakeLinode
from tests.clouds.fake_openstack import FakeOpenStack
from tests.clouds.fake_scaleway import FakeScaleway
from tests.clouds.fake_vultr import FakeVultr

pytestmark = pytest.mark.timeout(60)


class VolumeBench:
    """A cloud whose volumes are read and written by their serial number."""

    kind = Kind.BLOCK

    def __init__(self, cloud: CloudBench, storage: str, volumes: Callable[[Any], Any]) -> None:
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
        return list(self._volumes(self.cloud.fake))


CLOUDS: dict[str, tuple[Any, Any, Callable[[Any], Any]]] = {  # storage -> bench, fake, the fake's volumes
    "azure": (test_azure, FakeAzure, lambda fake: fake.of("disks")),
    "cinder": (test_openstack, FakeOpenStack, lambda fake: fake.volumes),
    "cloudstack": (test_cloudstack, FakeCloudStack, lambda fake: fake.disks),
    "digitalocean": (test_digitalocean, FakeDigitalOcean, lambda fake: fake.volumes),
    "gce": (test_gce, FakeGce, lambda fake: fake.disks),
    "linode": (test_linode, FakeLinode, lambda fake: fake.disks),
    "scaleway": (test_scaleway, FakeScaleway, lambda fake: fake.disks),
    "vultr": (test_vultr, FakeVultr, lambda fake: fake.blocks),
}


@pytest.fixture(params=CLOUDS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VolumeBench]:
    module, fake, volumes = CLOUDS[request.param]
    cloud: CloudBench = module.make(fake(), tmp_path)
    yield VolumeBench(cloud, request.param, volumes)
    cloud.fake.close()
    assert cloud.fake.problems == []


class TestCloudVolumes(StorageContract):
    """The contract."""
