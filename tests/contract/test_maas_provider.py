"""The provider of MAAS keeps the contract: a server that is played, machines that are real."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import ModelInfo, Services, StartRequest
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.provider_contract import MODEL, ProviderContract
from tests.clouds.asgi import serve
from tests.clouds.backed_maas import BackedMaas
from tests.clouds.maas_fake import KEY, READY, FakeMaas, Node

pytestmark = pytest.mark.machine


class MaasBench:
    """A MAAS with five machines in two zones."""

    def __init__(self, cloud: LocalCloud, maas: FakeMaas, url: str) -> None:
        self._cloud = cloud
        self._maas = maas
        self._data_dir = cloud.data_dir()
        config = {"images": {cloud.base.display: "ubuntu/noble"}}
        self._spec = CloudSpec(name="lab", type="maas", endpoint=f"{url}/MAAS", config=config)

    def open(self, model_uuid: str = MODEL) -> BackedMaas:
        return BackedMaas(
            cloud=self._spec,
            credential=Credential(name="me", auth_type="oauth1", attributes={"maas-oauth": KEY}),
            model=ModelInfo(uuid=model_uuid, name="test", controller_uuid="c0ffee"),
            services=Services(data_dir=self._data_dir),
        )

    def request(self, machine_id: str) -> StartRequest:
        return self._cloud.request(machine_id)

    async def run(self, target: SSHTarget, script: str) -> ScriptResult:
        return await self._cloud.ssh.wait_for(target, script)

    async def leftovers(self) -> list[str]:
        ready = self._maas.in_state(READY)
        used = [node.hostname for node in self._maas.nodes.values() if node not in ready]
        return [*used, *self._cloud.leftovers(self._data_dir)]


@pytest.fixture
async def bench(local_cloud: LocalCloud) -> AsyncIterator[MaasBench]:
    zones = ("default", "rack-b")
    maas = FakeMaas([Node(f"n{number}", f"node{number}", zone=zones[number % 2]) for number in range(5)])
    with serve(maas) as url:
        bench = MaasBench(local_cloud, maas, url)
        yield bench
        await bench.open().destroy_model()
        assert await bench.leftovers() == []


class TestMaasProvider(ProviderContract):
    """The contract."""
