"""DigitalOcean over HTTP, against a fake of its API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.errors import Conflict, NotFound
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from tests.clouds.cases import KEY, MODEL, CloudBench, CloudCases
from tests.clouds.fake_digitalocean import TOKEN, FakeDigitalOcean
from tests.clouds.httpfake import Answer

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)


class DigitalOceanBench(CloudBench):
    """The account of the fake."""

    fake: FakeDigitalOcean

    def instances(self) -> int:
        return len(self.fake.droplets)

    def leftovers(self) -> list[str]:
        tags = [item for item in self.fake.tags if item.startswith("juju-model-uuid")]
        return tags + [item["name"] for item in self.fake.keys.values()]

    def user_data(self) -> list[str]:
        return [item["user_data"] for item in self.fake.droplets.values()]


def make(fake: FakeDigitalOcean, folder: Path) -> DigitalOceanBench:
    """Return a bench on a fake."""
    return DigitalOceanBench(
        fake=fake,
        cloud=CloudSpec(name="digitalocean", type="digitalocean", region="nyc1", endpoint=fake.url),
        credential=Credential(name="me", auth_type="token", attributes={"token": TOKEN}),
        wrong=Credential(name="me", auth_type="token", attributes={"token": "dop_v1_stale"}),
        create=("POST", r"^/v2/droplets$"),
        quota=Answer(
            status=422,
            body={
                "id": "unprocessable_entity",
                "message": "creating this/these droplet(s) will exceed your droplet limit",
            },
        ),
        full=Answer(
            status=422,
            body={"id": "unprocessable_entity", "message": "Size is not available in this region."},
        ),
        size="s-2vcpu-4gb",
        secrets=(TOKEN, "dop_v1_stale"),
        data_dir=folder,
    )


@pytest.fixture
def fake() -> Iterator[FakeDigitalOcean]:
    fake = FakeDigitalOcean()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


@pytest.fixture
def bench(fake: FakeDigitalOcean, tmp_path: Path) -> DigitalOceanBench:
    return make(fake, tmp_path)


class TestDigitalOcean(CloudCases):
    """The suite of all clouds."""


async def test_tags_and_keys(bench: DigitalOceanBench) -> None:
    provider = bench.open()
    await provider.start(bench.request())
    await provider.start(bench.request("1"))
    (key,) = bench.fake.keys.values()
    assert (key["name"], key["public_key"]) == (f"juju-{MODEL}", " ".join(KEY.split()[:2]))
    droplet = next(iter(bench.fake.droplets.values()))
    assert droplet["keys"] == [key["id"]]
    assert {f"juju-model-uuid:{MODEL}", "pushjuju-machine:0", "owner:Me___You"} <= set(droplet["tags"])
    assert droplet["image"]["slug"] == "ubuntu-24-04-x64"
    assert droplet["size_slug"] == "s-1vcpu-2gb"
    assert "nftables" in droplet["user_data"]


async def test_a_key_that_the_account_has_is_used_and_stays(bench: DigitalOceanBench) -> None:
    bench.fake.keys[7] = {
        "id": 7, "name": "mine", "public_key": f"{' '.join(KEY.split()[:2])} laptop", "fingerprint": "aa",
    }  # fmt: skip
    await bench.open().start(bench.request())
    await bench.open().destroy_model()
    assert [item["name"] for item in bench.fake.keys.values()] == ["mine"]


async def test_pages(bench: DigitalOceanBench) -> None:
    bench.fake.page = 2
    provider = bench.open()
    for number in range(5):
        await provider.start(bench.request(str(number)))
    assert len(await provider.list()) == 5


async def test_an_image_that_was_chosen(bench: DigitalOceanBench) -> None:
    await bench.open().start(bench.request(constraints={"image-id": "4711"}))
    assert next(iter(bench.fake.droplets.values()))["image"]["slug"] == 4711
    await bench.open(config={"images": {"ubuntu@16.04": "ubuntu-22-04-x64"}}).start(bench.request("1"))


async def test_account_and_price(bench: DigitalOceanBench) -> None:
    found = await bench.open().check()
    assert found.account == "me@example.com"
    assert "is a s-1vcpu-2gb, about 0.0179 USD an hour" in found.costs


async def test_volumes(bench: DigitalOceanBench) -> None:
    provider = bench.open()
    started = await provider.start(bench.request())
    other = await provider.start(bench.request("1"))
    adapter = provider.adapter
    volumes = CloudVolumes(provider, adapter)  # type: ignore[arg-type]
    item = StorageItem(id="0", kind=Kind.BLOCK, size=1500, uuid="11111111-2222-4333-8444-555555555555")
    bench.fake.fail("POST", "/v2/volumes$", kind="lost")
    made = await volumes.create(item)
    assert (made, made.size) == (await volumes.create(item), 2048)
    assert len(bench.fake.volumes) == 1
    there = replace(item, provider_id=made.provider_id, instance_id=started.instance.id)
    seen = [await volumes.attach(there) for _ in range(2)]
    assert seen[0] == seen[1]
    link = "/dev/disk/by-id/scsi-0DO_Volume_juju-11111111-2222-4333-8444-555555555555"
    assert seen[0].paths == (link,)
    elsewhere = replace(there, instance_id=other.instance.id)
    with pytest.raises(Conflict, match="is attached to instance"):
        await volumes.attach(elsewhere)
    with pytest.raises(Conflict, match="is attached to instance"):
        await volumes.destroy(there)
    for _ in range(2):
        await volumes.detach(there)
    await volumes.attach(elsewhere)
    await volumes.detach(elsewhere)
    await volumes.release(there)
    assert (await volumes.find(made.provider_id, Kind.BLOCK)).size == 2048
    with pytest.raises(NotFound):
        await volumes.find("00000000-0000-4000-8000-000000000000", Kind.BLOCK)
    bench.fake.volumes[made.provider_id]["tags"] = ["juju-model-uuid:another"]
    with pytest.raises(Conflict, match="belongs to model another"):
        await volumes.find(made.provider_id, Kind.BLOCK)
    for _ in range(2):
        await volumes.destroy(there)
    assert bench.fake.volumes == {}
