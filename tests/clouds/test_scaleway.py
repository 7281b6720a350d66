"""Scaleway over HTTP, against a fake of its APIs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from tests.clouds.cases import CloudBench, CloudCases
from tests.clouds.fake_scaleway import KEY, PROJECT, FakeScaleway, image
from tests.clouds.httpfake import Answer
from tests.clouds.volumes_cases import life_of_a_volume, opened

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)


class ScalewayBench(CloudBench):
    """The project of the fake; a server that was never started is a leftover."""

    fake: FakeScaleway

    def instances(self) -> int:
        live = [item for item in self.fake.servers.values() if item["state"] != "stopping"]
        return sum(item["started"] for item in live)

    def leftovers(self) -> list[str]:
        unready = [item["id"] for item in self.fake.servers.values() if not item["started"]]
        return unready + [name for name, item in self.fake.disks.items() if not item["tags"]]

    def user_data(self) -> list[str]:
        return list(self.fake.data.values())


def _key(secret: str) -> Credential:
    attributes = {"secret-key": secret, "project-id": PROJECT}
    return Credential(name="me", auth_type="access-key", attributes=attributes)


@pytest.fixture
def fake() -> Iterator[FakeScaleway]:
    fake = FakeScaleway()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


def make(fake: FakeScaleway, folder: Path) -> ScalewayBench:
    """Return a bench on a fake."""
    quota = {
        "type": "quotas_exceeded",
        "message": "Quota(s) exceeded for this resource.",
        "resource": "servers",
    }
    full = {"type": "out_of_stock", "message": "resource is out of stock", "resource": "DEV1-M"}
    return ScalewayBench(
        fake=fake,
        cloud=CloudSpec(name="scaleway", type="scaleway", region="fr-par", endpoint=fake.url),
        credential=_key(KEY),
        wrong=_key("STALE"),
        create=("POST", r"/servers$"),
        quota=Answer(status=403, body=quota),
        full=Answer(status=412, body=full),
        size="DEV1-M",
        secrets=(KEY, "STALE"),
        data_dir=folder,
    )


@pytest.fixture
def bench(fake: FakeScaleway, tmp_path: Path) -> ScalewayBench:
    return make(fake, tmp_path)


class TestScaleway(CloudCases):
    """The suite of all clouds."""


async def test_images_of_bases_types_and_architectures(bench: ScalewayBench, fake: FakeScaleway) -> None:
    chosen = image("ubuntu_jammy", "instance_local", "x86_64")
    wanted = [
        ("debian@12", {}, image("debian_bookworm", "instance_local", "x86_64")),
        ("centos@9", {"instance-type": "PLAY2-NANO"}, image("centos_stream_9", "instance_sbs", "x86_64")),
        ("ubuntu@24.04", {"arch": "arm64"}, image("ubuntu_noble", "instance_sbs", "arm64")),
        ("ubuntu@24.04", {"image-id": "ubuntu_jammy"}, chosen),
        ("ubuntu@24.04", {"image-id": chosen}, chosen),
    ]
    for machine, (base, constraints, _) in enumerate(wanted):
        request = bench.request(str(machine), base=Base.parse(base), constraints=constraints)
        await bench.open().start(request)
    assert [item["image"] for item in fake.servers.values()] == [item[2] for item in wanted]
    with pytest.raises(NotValid, match=r"no image for base ubuntu@24\.04: .* \(moon not found for type"):
        await bench.open().start(bench.request("9", constraints={"image-id": "moon"}))


async def test_a_root_disk_on_block_storage_goes_with_its_server(
    bench: ScalewayBench, fake: FakeScaleway
) -> None:
    constraints = {"instance-type": "PLAY2-NANO", "root-disk": 51200}
    one = (await bench.open().start(bench.request(constraints=constraints))).instance
    two = (await bench.open().start(bench.request("1", constraints={"instance-type": "PLAY2-NANO"}))).instance
    assert sorted(item["size"] for item in fake.disks.values()) == [20 * 10**9, 54 * 10**9]
    await bench.open().stop([one.id])
    assert [item["size"] for item in fake.disks.values()] == [20 * 10**9]
    assert two.id in fake.servers
    await bench.open().destroy_model()
    assert (bench.instances(), bench.leftovers()) == (0, [])


@pytest.mark.parametrize("kind", ["answer", "lost", "never"])
@pytest.mark.parametrize(
    ("method", "path"), [("PATCH", "/cloud-init$"), ("PATCH", r"/servers/[^/]+$"), ("POST", "/action$")]
)
async def test_what_is_lost_between_the_steps_of_a_start(
    bench: ScalewayBench, fake: FakeScaleway, kind: str, method: str, path: str
) -> None:
    fake.fail(method, path, kind=kind)
    started = await bench.open().start(bench.request())
    assert [item.id for item in await bench.open().list()] == [started.instance.id]
    assert (len(fake.servers), len(fake.data)) == (1, 1)
    (server,) = fake.servers.values()
    assert not [tag for tag in server["tags"] if tag.startswith("pushjuju-unready")]
    assert "AUTHORIZED_KEY=ssh-ed25519_AAAAC3NzaC1lZDI1NTE5AAAAIEhunter2" in server["tags"]


async def test_a_server_that_a_dead_controller_left_without_user_data_is_replaced(
    bench: ScalewayBench, fake: FakeScaleway
) -> None:
    fake.fail("PATCH", "/cloud-init$", times=99)
    provider = bench.open()
    provider._undo = _nothing  # type: ignore[assignment]  # nobody is left to do it
    with pytest.raises(Exception, match="the cloud failed"):
        await provider.start(bench.request())
    fake.faults.clear()
    await bench.open().start(bench.request())
    assert (len(fake.servers), len(fake.data)) == (1, 1)


async def test_the_life_of_a_volume(bench: ScalewayBench, fake: FakeScaleway) -> None:
    def told(name: str) -> StorageSeen:
        bare = name.removeprefix("fr-par-1/")
        return StorageSeen(serial=f"volume-{bare}", paths=(f"/dev/disk/by-id/scsi-0SCW_sbs_volume-{bare}",))

    await life_of_a_volume(bench, lambda: len(fake.disks), 2 * 10**9 // 2**20, told)
    slow = StorageItem(id="0", kind=Kind.BLOCK, size=10, uuid="u", attributes={"iops": 7})
    with pytest.raises(NotValid, match='iops: expected one of 5000, 15000, got "7"'):
        await opened(bench).create(slow)
    with pytest.raises(NotFound, match="volume 7 not found"):
        await opened(bench).find("7", Kind.BLOCK)


async def test_a_volume_and_a_root_disk_do_not_meet(bench: ScalewayBench, fake: FakeScaleway) -> None:
    """The disk of a machine's own goes with it, a volume stays; it brings the next machine to its zone."""
    request = bench.request(zone="fr-par-2", constraints={"instance-type": "PLAY2-NANO"})
    machine = (await bench.open().start(request)).instance.id
    item = StorageItem(
        id="0", kind=Kind.BLOCK, size=10, uuid="u", instance_id=machine, attributes={"iops": 15000}
    )
    made = await opened(bench).create(item)
    assert made.provider_id.startswith("fr-par-2/")
    assert fake.disks[made.provider_id[9:]]["specs"]["perf_iops"] == 15000
    await opened(bench).attach(replace(item, provider_id=made.provider_id))
    await bench.open().destroy_model()
    assert (bench.leftovers(), len(fake.disks)) == ([], 1)
    wanted = bench.request("1", attached=(made.provider_id,))
    assert await bench.open().derive_zones(wanted) == ["fr-par-2"]


async def _nothing(*_arguments: object) -> None:
    return
