"""Vultr over HTTP, against a fake of its API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from tests.clouds.cases import CloudBench, CloudCases
from tests.clouds.fake_vultr import TOKEN, FakeVultr
from tests.clouds.httpfake import Answer
from tests.clouds.volumes_cases import life_of_a_volume, opened

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)


class VultrBench(CloudBench):
    """The account of the fake."""

    fake: FakeVultr

    def instances(self) -> int:
        return len(self.fake.instances)

    def leftovers(self) -> list[str]:
        return [item["name"] for item in self.fake.keys.values()]

    def user_data(self) -> list[str]:
        return [item["user_data"] for item in self.fake.instances.values()]


def make(fake: FakeVultr, folder: Path) -> VultrBench:
    """Return a bench on a fake."""
    limit = "Server add failed: You have reached the maximum monthly fee limit for this account."
    return VultrBench(
        fake=fake,
        cloud=CloudSpec(name="vultr", type="vultr", region="ewr", endpoint=fake.url),
        credential=Credential(name="me", auth_type="token", attributes={"token": TOKEN}),
        wrong=Credential(name="me", auth_type="token", attributes={"token": "STALE"}),
        create=("POST", r"^/v2/instances$"),
        quota=Answer(status=400, body={"error": limit, "status": 400}),
        full=Answer(
            status=400, body={"error": "Plan is not available in the selected region.", "status": 400}
        ),
        size="vc2-2c-4gb",
        secrets=(TOKEN, "STALE"),
        data_dir=folder,
    )


@pytest.fixture
def fake() -> Iterator[FakeVultr]:
    fake = FakeVultr()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


@pytest.fixture
def bench(fake: FakeVultr, tmp_path: Path) -> VultrBench:
    return make(fake, tmp_path)


class TestVultr(CloudCases):
    """The suite of all clouds."""


async def test_images_of_bases(bench: VultrBench, fake: FakeVultr) -> None:
    chosen = {"0": ("debian@12", ""), "1": ("centos@9", ""), "2": ("ubuntu@24.04", "1743")}
    for machine, (base, image) in chosen.items():
        constraints = {"image-id": image} if image else {}
        await bench.open().start(bench.request(machine, base=Base.parse(base), constraints=constraints))
    assert [item["os_id"] for item in fake.instances.values()] == [2136, 167, 1743]
    with pytest.raises(NotValid, match=r"no image for base ubuntu@24\.04: .* \(99 not found\)"):
        await bench.open().start(bench.request("3", constraints={"image-id": "99"}))


async def test_the_life_of_a_volume(bench: VultrBench, fake: FakeVultr) -> None:
    def told(name: str) -> StorageSeen:
        serial = fake.blocks[name]["mount_id"][:20]
        return StorageSeen(serial=serial, paths=(f"/dev/disk/by-id/virtio-{serial}",))

    await life_of_a_volume(bench, lambda: len(fake.blocks), 10 * 1024, told)
    tape = StorageItem(id="0", kind=Kind.BLOCK, size=10, uuid="u", attributes={"block-type": "tape"})
    with pytest.raises(NotValid, match="block-type: expected one of"):
        await opened(bench).create(tape)
