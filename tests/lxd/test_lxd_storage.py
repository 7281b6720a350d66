"""Storage pools of LXD as storage, on a real LXD (`make lxd`)."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.providers.lxd.volumes import LxdStorage
from pushjuju.testing.storage_contract import StorageBench, StorageContract
from tests.lxd.conftest import LxdBench
from tests.lxd.server import Lxd

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = pytest.mark.lxd
POOLS = {"dir": {"lxd-pool": "pjdir"}, "btrfs": {"driver": "btrfs", "lxd-pool": "pjbtrfs", "size": "1GiB"}}


class LxdStorageBench:
    """One controller, its machines, and pools of one driver."""

    kind = Kind.FILESYSTEM

    def __init__(self, lxd: Lxd, folder: Path, driver: str) -> None:
        self._lxd, self.attributes = lxd, POOLS[driver]
        self.machines = LxdBench(lxd, folder)
        self._numbers = itertools.count()

    def open(self) -> LxdStorage:
        return self.machines.open().storage()

    async def machine(self) -> str:
        started = await self.machines.open().start(self.machines.request(str(next(self._numbers))))
        return started.instance.id

    async def write(self, instance: str, place: str, text: str) -> None:
        await self._run(instance, f"mountpoint -q {place} && echo {text} > {place}/file && sync")

    async def read(self, instance: str, place: str) -> str:
        return (await self._run(instance, f"cat {place}/file")).strip()

    async def _run(self, instance: str, script: str) -> str:
        provider = self.machines.open()
        found = (await provider.get([instance]))[0]
        assert found is not None
        done = await self.machines.run(await provider.ssh_target(found), script)
        assert done.rc == 0, done
        return done.stdout

    def leftovers(self) -> list[str]:
        pool = self.attributes["lxd-pool"]
        return json.loads(self._lxd.command("lxc", "query", f"/1.0/storage-pools/{pool}/volumes/custom"))


@pytest.fixture(params=["dir", "btrfs"])
async def bench(lxd: Lxd, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[LxdStorageBench]:
    made = LxdStorageBench(lxd, tmp_path, request.param)
    yield made
    await made.machines.open().destroy_model()
    assert await made.machines.leftovers() == []
    lxd.command("lxc", "storage", "delete", made.attributes["lxd-pool"])


class TestLxdStorage(StorageContract):
    """The contract."""

    def item(self, bench: StorageBench, **more: object) -> StorageItem:
        assert isinstance(bench, LxdStorageBench)
        return super().item(bench, **{"attributes": bench.attributes, **more})
