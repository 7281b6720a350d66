"""The storage of the local cloud keeps the contract."""

from __future__ import annotations

import itertools
import subprocess
import uuid
from collections.abc import AsyncIterator

import pytest

from pushjuju.core.errors import Conflict, NotValid, ProviderError
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.providers.local import volumes
from pushjuju.plugins.providers.local.opening import LocalStorage
from pushjuju.plugins.providers.nspawn.layout import Layout
from pushjuju.testing.machines import LocalCloud
from pushjuju.testing.provider_contract import MODEL
from pushjuju.testing.storage_contract import StorageContract

pytestmark = pytest.mark.machine
OTHER = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"


def loop_files() -> str:
    """The files behind all loop devices of this host."""
    argv = ["losetup", "-n", "-O", "BACK-FILE"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


class LocalStorageBench:
    """One controller on this host, and its machines."""

    kind = Kind.FILESYSTEM

    def __init__(self, cloud: LocalCloud) -> None:
        self.cloud = cloud
        self.data_dir = cloud.data_dir()
        self.layout = Layout.of(self.data_dir)
        self._numbers = itertools.count()

    def open(self, model: str = MODEL) -> LocalStorage:
        return LocalStorage(self.cloud.provider(self.data_dir, model=model))

    async def machine(self) -> str:
        provider = self.cloud.provider(self.data_dir, model=MODEL)
        started = await provider.start(self.cloud.request(str(next(self._numbers))))
        return started.instance.id

    async def _run(self, instance: str, script: str) -> str:
        provider = self.cloud.provider(self.data_dir, model=MODEL)
        found = (await provider.get([instance]))[0]
        assert found is not None
        done = await self.cloud.ssh.wait_for(await provider.ssh_target(found), script)
        assert done.rc == 0, done
        return done.stdout

    async def write(self, instance: str, place: str, text: str) -> None:
        await self._run(instance, f"mountpoint -q {place} && echo {text} > {place}/file && sync")

    async def read(self, instance: str, place: str) -> str:
        return (await self._run(instance, f"cat {place}/file")).strip()

    def leftovers(self) -> list[str]:
        folder = self.layout.volumes
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture
async def bench(local_cloud: LocalCloud) -> AsyncIterator[LocalStorageBench]:
    made = LocalStorageBench(local_cloud)
    yield made
    local_cloud.sweep_data_dir(made.data_dir)
    assert local_cloud.leftovers(made.data_dir) == []
    assert str(made.data_dir) not in loop_files()


class TestLocalStorage(StorageContract):
    """The contract."""


def new(**more: object) -> StorageItem:
    plain = {"id": "0", "kind": Kind.FILESYSTEM, "size": 16, "uuid": str(uuid.uuid4())}
    return StorageItem(**{**plain, **more})  # type: ignore[arg-type]


async def test_data_outlives_a_machine_that_is_taken_away(bench: LocalStorageBench) -> None:
    """Even when nobody detached it."""
    item = new()
    made = await bench.open().create(item)
    first = await bench.machine()
    there = new(uuid=item.uuid, provider_id=made.provider_id, instance_id=first)
    seen = await bench.open().attach(there)
    await bench.write(first, seen.source, "kept")
    await bench.cloud.provider(bench.data_dir, model=MODEL).stop([first])
    second = await bench.machine()
    there = new(uuid=item.uuid, provider_id=made.provider_id, instance_id=second)
    seen = await bench.open().attach(there)
    assert await bench.read(second, seen.source) == "kept"


async def test_a_full_host_leaves_nothing_half_made(bench: LocalStorageBench) -> None:
    with pytest.raises(ProviderError, match=r"no room for \d+ MiB: \d+ MiB of the disk are free"):
        await bench.open().create(new(size=1 << 30))
    assert bench.leftovers() == []


async def test_what_is_half_made_is_made_anew(bench: LocalStorageBench) -> None:
    item = new()
    folder = bench.layout.volumes / volumes.volume_id(item.uuid)
    folder.mkdir(parents=True)
    (folder / "image").write_bytes(b"half")
    made = await bench.open().create(item)
    assert (folder / "image").stat().st_size == made.size << 20


async def test_another_model_has_it_only_when_it_was_let_go(bench: LocalStorageBench) -> None:
    item = new()
    made = await bench.open().create(item)
    with pytest.raises(Conflict, match="belongs to another model"):
        await bench.open(OTHER).find(made.provider_id, Kind.FILESYSTEM)
    await bench.open().release(new(uuid=item.uuid, provider_id=made.provider_id))
    assert await bench.open(OTHER).find(made.provider_id, Kind.FILESYSTEM) == made
    with pytest.raises(Conflict):
        await bench.open().find(made.provider_id, Kind.FILESYSTEM)


@pytest.mark.parametrize("name", ["", "..", "volume-../../x", "/etc", "machines"])
async def test_a_name_leads_nowhere_else(bench: LocalStorageBench, name: str) -> None:
    with pytest.raises(NotValid):
        await bench.open().find(name, Kind.FILESYSTEM)
