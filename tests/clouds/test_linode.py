"""Linode over HTTP, against a fake of its API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.storage_types import StorageSeen
from tests.clouds.cases import CloudBench, CloudCases
from tests.clouds.fake_linode import TOKEN, FakeLinode, error
from tests.clouds.volumes_cases import life_of_a_volume

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)


class LinodeBench(CloudBench):
    """The account of the fake."""

    fake: FakeLinode

    def instances(self) -> int:
        return len(self.fake.instances)

    def leftovers(self) -> list[str]:
        return []

    def user_data(self) -> list[str]:
        return [item["user_data"] for item in self.fake.instances.values()]


def make(fake: FakeLinode, folder: Path) -> LinodeBench:
    """Return a bench on a fake."""
    return LinodeBench(
        fake=fake,
        cloud=CloudSpec(name="linode", type="linode", region="us-ord", endpoint=fake.url),
        credential=Credential(name="me", auth_type="token", attributes={"token": TOKEN}),
        wrong=Credential(name="me", auth_type="token", attributes={"token": "STALE"}),
        create=("POST", r"^/v4/linode/instances$"),
        quota=error(400, "Account Limit reached. Please open a support ticket."),
        full=error(400, "Resources are not available in this region", "region"),
        size="g6-standard-2",
        secrets=(TOKEN, "STALE"),
        data_dir=folder,
    )


@pytest.fixture
def fake() -> Iterator[FakeLinode]:
    fake = FakeLinode()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


@pytest.fixture
def bench(fake: FakeLinode, tmp_path: Path) -> LinodeBench:
    return make(fake, tmp_path)


class TestLinode(CloudCases):
    """The suite of all clouds."""


async def test_images_of_bases(bench: LinodeBench) -> None:
    await bench.open().start(bench.request(base=Base.parse("debian@12")))
    for base, image, problem in (
        ("centos@9", "", "no image for base centos@9: name one with the constraint image-id$"),
        ("debian@13", "", r"\(linode/debian13 not found\)"),
        ("debian@12", "linode/arch", r"\(linode/arch takes no user data\)"),
    ):
        constraints = {"image-id": image} if image else {}
        with pytest.raises(NotValid, match=problem):
            await bench.open().start(bench.request("1", base=Base.parse(base), constraints=constraints))


async def test_a_region_that_gives_no_user_data(bench: LinodeBench) -> None:
    with pytest.raises(NotValid, match="region us-old does not pass user data to machines"):
        await bench.open(region="us-old").check()


async def test_the_life_of_a_volume(bench: LinodeBench, fake: FakeLinode) -> None:
    def told(name: str) -> StorageSeen:
        disk = fake.disks[name]
        return StorageSeen(serial=disk["label"], paths=(disk["filesystem_path"],))

    await life_of_a_volume(bench, lambda: len(fake.disks), 10 * 1024, told)
