"""Volumes of EC2 over HTTP, against moto. It has no disks: what a machine writes is kept by serial here."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.errors import Conflict, NotFound, NotValid, ProviderError
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers.amazon import ebs
from pushjuju.plugins.providers.libcloud.drivers.amazon.ec2 import Ec2
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from pushjuju.testing.storage_contract import StorageContract
from tests.clouds.moto_server import (  # noqa: F401
    Moto,
    kept,
    server,
)
from tests.clouds.test_ec2 import MODEL, OTHER, _request, cloud, driver_of, site_of  # noqa: F401

pytestmark = pytest.mark.timeout(120)


class EbsBench:
    """An account, and the volumes that machines of a model see."""

    kind = Kind.BLOCK

    def __init__(self, spec: CloudSpec, data_dir: Path) -> None:
        self.spec, self.data_dir = spec, data_dir
        self.driver = driver_of(spec)
        self.disks: dict[str, str] = {}
        self._numbers = itertools.count()

    def provider(self, model: str = MODEL) -> CloudProvider:
        return self.open(model)._provider

    def open(self, model: str = MODEL) -> CloudVolumes:
        adapter = Ec2(site_of(self.spec, self.data_dir, model))
        adapter.look_s = 0.01
        return CloudVolumes(CloudProvider(adapter), adapter)

    async def machine(self, zone: str = "us-east-1a") -> str:
        request = replace(_request(str(next(self._numbers)), zone=zone), nonce=str(uuid.uuid4()))
        return (await self.provider().start(request)).instance.id

    def _here(self, instance: str, place: str) -> None:
        """Check that the cloud says that the volume of a serial number is at a machine."""
        found = {volume.id.replace("-", ""): volume for volume in self.volumes()}
        assert [one.instance for one in found[place].attachments] == [instance]

    async def write(self, instance: str, place: str, text: str) -> None:
        self._here(instance, place)
        self.disks[place] = text

    async def read(self, instance: str, place: str) -> str:
        self._here(instance, place)
        return self.disks[place]

    def volumes(self) -> list[ebs.Disk]:
        return [item for item in ebs.disks(self.driver, {}) if not _is_root(item)]

    def leftovers(self) -> list[str]:
        return [volume.id for volume in self.volumes()]


def _is_root(volume: ebs.Disk) -> bool:
    return any(one.device in ("/dev/sda1", "/dev/xvda") for one in volume.attachments)


@pytest.fixture
def bench(cloud: CloudSpec, kept: Path) -> EbsBench:  # noqa: F811
    return EbsBench(cloud, kept)


class TestEbsStorage(StorageContract):
    """The contract."""


def new(**more: Any) -> StorageItem:
    return StorageItem(**{"id": "3", "kind": Kind.BLOCK, "size": 1500, "uuid": str(uuid.uuid4()), **more})


async def test_a_volume_has_its_machines_zone_and_says_whose_it_is(bench: EbsBench) -> None:
    there = await bench.machine("us-east-1b")
    tags = {"juju-model-uuid": MODEL, "juju-storage-instance": "data/0"}
    item = new(instance_id=there, tags=tags, attributes={"volume-type": "gp3", "throughput": "250"})
    made = await bench.open().create(item)
    (volume,) = bench.volumes()
    assert (volume.zone, volume.size, made.size) == ("us-east-1b", 2, 2048)
    assert volume.tags == {**tags, "Name": "juju-eeeeee-volume-3", ebs.STORAGE_TAG: item.uuid}
    seen = await bench.open().attach(replace(item, provider_id=made.provider_id))
    serial = made.provider_id.replace("-", "")
    assert seen.serial == serial
    assert seen.paths == (
        f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{serial}",
        "/dev/xvdf",
        "/dev/sdf",
    )
    second = replace(item, uuid=str(uuid.uuid4()))
    again = await bench.open().create(second)
    seen = await bench.open().attach(replace(second, provider_id=again.provider_id))
    assert seen.paths[1] == "/dev/xvdg"
    far = replace(item, provider_id=again.provider_id, instance_id=await bench.machine("us-east-1a"))
    await bench.open().detach(replace(second, provider_id=again.provider_id))
    with pytest.raises(Conflict, match="is in zone us-east-1b, the machine is in us-east-1a"):
        await bench.open().attach(far)
    where = await bench.provider().derive_zones(_request(attached=(again.provider_id,)))
    assert list(where) == ["us-east-1b"]


async def test_a_crash_before_the_commit_leaves_no_orphan_and_no_double(bench: EbsBench) -> None:
    item = new(instance_id=await bench.machine())
    first = await bench.open().create(item)  # and nobody wrote it down
    assert await bench.open().create(item) == first
    assert len(bench.volumes()) == 1
    await bench.open().destroy(item)  # it is found without its id
    assert bench.volumes() == []


async def test_a_volume_that_broke_while_it_was_made_is_made_anew(
    bench: EbsBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, plain = new(), ebs._disk
    first = (await bench.open().create(item)).provider_id

    def broken(element: Any) -> ebs.Disk:
        disk = plain(element)
        return replace(disk, state="error") if disk.id == first else disk

    monkeypatch.setattr(ebs, "_disk", broken)
    second = (await bench.open().create(item)).provider_id
    assert second != first
    assert [volume.id for volume in bench.volumes()] == [second]


async def test_models_do_not_take_each_others_volumes(bench: EbsBench) -> None:
    item = new()
    made = await bench.open().create(item)
    with pytest.raises(Conflict, match=f"belongs to model {MODEL}"):
        await bench.open(OTHER).find(made.provider_id, Kind.BLOCK)
    await bench.open().release(replace(item, provider_id=made.provider_id))
    await bench.open(OTHER).find(made.provider_id, Kind.BLOCK)
    await bench.provider().destroy_model()
    assert len(bench.volumes()) == 1
    await bench.provider(OTHER).destroy_model()
    assert bench.volumes() == []
    with pytest.raises(NotFound, match="volume vol-0123 not found"):
        await bench.open().find("vol-0123", Kind.BLOCK)


async def test_a_machine_that_goes_while_a_volume_is_attached_ends_the_wait(
    bench: EbsBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = new(instance_id=await bench.machine())
    item = replace(item, provider_id=(await bench.open().create(item)).provider_id)
    attach = ebs.attach

    def attach_and_go(driver: Any, volume: str, instance: str, device: str) -> None:
        attach(driver, volume, instance, device)
        for node in driver.list_nodes(ex_node_ids=[instance]):
            driver.destroy_node(node)

    monkeypatch.setattr(ebs, "attach", attach_and_go)
    with pytest.raises(ProviderError, match=f"cannot be attached: instance {item.instance_id} is gone"):
        await bench.open().attach(item)
    await bench.open().destroy(item)
    assert bench.volumes() == []


async def test_a_machine_that_went_by_itself_gives_its_volumes_back(bench: EbsBench) -> None:
    there = await bench.machine()
    item = new(instance_id=there)
    item = replace(item, provider_id=(await bench.open().create(item)).provider_id)
    await bench.open().attach(item)
    await bench.provider().stop([there])
    await bench.open().detach(item)
    await bench.open().destroy(item)
    assert bench.volumes() == []


@pytest.mark.parametrize(
    ("size", "attributes", "params"),
    [
        (1, {}, {"Size": "1", "VolumeType": "gp2"}),
        (10240, {"volume-type": "ssd"}, {"Size": "10", "VolumeType": "gp2"}),
        (
            10240,
            {"volume-type": "provisioned-iops", "iops": "30"},
            {"Size": "10", "VolumeType": "io1", "Iops": "300"},
        ),
        (
            1024,
            {"volume-type": "gp3", "encrypted": "true", "kms-key-id": "k"},
            {"Size": "1", "VolumeType": "gp3", "Encrypted": "true", "KmsKeyId": "k"},
        ),
    ],
)
def test_what_pools_say(size: int, attributes: dict[str, str], params: dict[str, str]) -> None:
    assert ebs.wanted(size, attributes) == params


@pytest.mark.parametrize(
    ("size", "attributes", "problem"),
    [
        (1024, {"iops": "30"}, 'IOPS specified, but volume type is "gp2"'),
        (10240, {"volume-type": "io1"}, 'volume type is "io1", IOPS unspecified or zero'),
        (10240, {"volume-type": "io1", "iops": "51"}, "specified IOPS ratio is 51/GiB, maximum is 50/GiB"),
        (1024, {"volume-type": "io1", "iops": "3"}, "volume size is 1 GiB, must be at least 4 GiB"),
        (2048 * 1024, {"volume-type": "standard"}, "volume size 2048 GiB exceeds the maximum of 1024 GiB"),
        (1024, {"throughput": "125"}, '"throughput" cannot be specified when volume type is "gp2"'),
        (1024, {"volume-type": "tape"}, "volume-type: expected one of"),
        (1024, {"volume-type": "io1", "iops": "many"}, 'iops: expected a number, got "many"'),
        (1024, {"encrypted": "yes"}, 'encrypted: expected true or false, got "yes"'),
    ],
)
async def test_what_pools_may_not_say(
    bench: EbsBench, size: int, attributes: dict[str, str], problem: str
) -> None:
    with pytest.raises(NotValid) as caught:
        await bench.open().create(new(size=size, attributes=attributes))
    assert problem in caught.value.message
    assert bench.volumes() == []


def test_an_instance_has_so_many_names() -> None:
    taken = {"/dev/sda1", *(f"/dev/sd{letter}" for letter in "fghijklmno")}
    assert ebs.free_device(taken) == "/dev/sdp"
    with pytest.raises(ProviderError, match="has 11 volumes already"):
        ebs.free_device({*taken, "/dev/xvdp"})


def test_the_plugin_names_ebs_on_ec2_only() -> None:
    host = PluginHost(environ={}, path=[])
    assert host.storage_types("ec2")["ebs"].pools == {"ebs-ssd": {"volume-type": "ssd"}}
    assert "ebs" not in host.storage_types("local")
