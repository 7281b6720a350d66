"""Clouds with an adapter keep the contract: their APIs are played over HTTP, the machines are real."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.plugins.api.providers import ModelInfo, Services, StartRequest
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.provider_contract import MODEL, ProviderContract
from tests.clouds import test_digitalocean, test_gce, test_openstack
from tests.clouds.backed_clouds import BackedCloud
from tests.clouds.cases import CloudBench
from tests.clouds.fake_digitalocean import FakeDigitalOcean
from tests.clouds.fake_gce import FakeGce
from tests.clouds.fake_openstack import FakeOpenStack

pytest.importorskip("libcloud", reason="the providers need apache-libcloud")
pytestmark = pytest.mark.machine


class BackedBench:
    """A cloud of a fake, with machines of this host."""

    def __init__(self, cloud: CloudBench, here: LocalCloud) -> None:
        self.cloud, self._here = cloud, here
        self._data_dir = here.data_dir()

    def open(self, model_uuid: str = MODEL) -> BackedCloud:
        site = Site(
            cloud=self.cloud.cloud,
            credential=self.cloud.credential,
            model=ModelInfo(uuid=model_uuid, name="test", controller_uuid="c0ffee"),
            services=Services(data_dir=self._data_dir),
        )
        return BackedCloud(site)

    def request(self, machine_id: str) -> StartRequest:
        return replace(self._here.request(machine_id), hostname=f"juju-a1a1a1-{machine_id}")

    async def run(self, target: SSHTarget, script: str) -> ScriptResult:
        return await self._here.ssh.wait_for(target, script)

    async def leftovers(self) -> list[str]:
        known = [*self.cloud.leftovers(), *self._here.leftovers(self._data_dir)]
        return [*known, *["instance"] * self.cloud.instances()]


async def _over(cloud: CloudBench, here: LocalCloud) -> AsyncIterator[BackedBench]:
    bench = BackedBench(cloud, here)
    yield bench
    await bench.open().destroy_model()
    assert await bench.leftovers() == []
    cloud.fake.close()
    assert cloud.fake.problems == []


class TestDigitalOceanProvider(ProviderContract):
    """The contract."""

    @pytest.fixture
    async def bench(self, local_cloud: LocalCloud, tmp_path: Path) -> AsyncIterator[BackedBench]:
        async for item in _over(test_digitalocean.make(FakeDigitalOcean(), tmp_path), local_cloud):
            yield item


class TestOpenStackProvider(ProviderContract):
    """The contract."""

    @pytest.fixture
    async def bench(self, local_cloud: LocalCloud, tmp_path: Path) -> AsyncIterator[BackedBench]:
        async for item in _over(test_openstack.make(FakeOpenStack(), tmp_path), local_cloud):
            yield item


class TestGceProvider(ProviderContract):
    """The contract."""

    @pytest.fixture
    async def bench(self, local_cloud: LocalCloud, tmp_path: Path) -> AsyncIterator[BackedBench]:
        async for item in _over(test_gce.make(FakeGce(), tmp_path), local_cloud):
            yield item
