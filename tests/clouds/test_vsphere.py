"""vSphere over HTTP, against a fake of vCenter's REST API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, NotSupported, NotValid, ProviderError
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import ModelInfo, Services
from pushjuju.plugins.api.storage_types import StorageItem, StorageProvider, StorageSeen
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.calls import Gone
from pushjuju.plugins.providers.libcloud.cloudprovider import CloudProvider
from pushjuju.plugins.providers.libcloud.drivers.adapter import Site
from pushjuju.plugins.providers.libcloud.drivers.vsphere import Vsphere
from pushjuju.plugins.providers.libcloud.drivers.vsphere_api import endpoint, reason
from pushjuju.plugins.providers.libcloud.volumes import VsphereStorage
from tests.clouds.cases import MODEL, CloudBench, CloudCases
from tests.clouds.fake_vsphere import PASSWORD, USER, FakeVsphere, failed
from tests.clouds.httpfake import Answer

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)

DEPLOY = r"^/rest/com/vmware/vcenter/ovf/library-item/id:item-"
ACCOUNT = {"user": USER, "password": PASSWORD}


class VsphereFaults(FakeVsphere):
    """Faults are of deployments, which have the path of what is asked before them."""

    def fault(self, asked: Any) -> Any:
        return None if asked.query.get("~action") == "filter" else super().fault(asked)

    def count(self, method: str, path: str) -> int:
        """Return how often something was asked for; looking at an item is not counted."""
        asked = [item for item in self.asked if item.query.get("~action") != "filter"]
        whole, self.asked = self.asked, asked
        try:
            return super().count(method, path)
        finally:
            self.asked = whole


class VsphereBench(CloudBench):
    """The vCenter of the fake."""

    fake: VsphereFaults

    def open(
        self, model: str = MODEL, *, credential: Credential | None = None, **cloud: Any
    ) -> CloudProvider:
        """Return the provider; a deployment is not waited for as long."""
        provider = super().open(model, credential=credential, **cloud)
        assert isinstance(provider.adapter, Vsphere)
        provider.adapter.deploy_s = 0.5
        provider.adapter.disks.look_s = 0.01
        return provider

    def instances(self) -> int:
        return len(self.fake.vms)

    def leftovers(self) -> list[str]:
        return []

    def user_data(self) -> list[str]:
        return [item["values"]["user-data"] for item in self.fake.vms.values()]


@pytest.fixture
def fake() -> Iterator[VsphereFaults]:
    fake = VsphereFaults()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


def make(fake: VsphereFaults, folder: Path) -> VsphereBench:
    """Return a bench on a fake."""
    return VsphereBench(
        fake=fake,
        cloud=CloudSpec(name="vc", type="vsphere", region="dc0", endpoint=fake.url),
        credential=Credential(name="me", auth_type="userpass", attributes=ACCOUNT),
        wrong=Credential(name="me", auth_type="userpass", attributes={**ACCOUNT, "password": "STALE"}),
        create=("POST", DEPLOY),
        quota=failed("There are not enough licenses installed to perform the operation."),
        full=failed("The host does not have sufficient memory resources to satisfy the reservation."),
        size="cpu1-mem4g",
        secrets=(PASSWORD, "STALE"),
        data_dir=folder,
    )


@pytest.fixture
def bench(fake: VsphereFaults, tmp_path: Path) -> VsphereBench:
    return make(fake, tmp_path)


class TestVsphere(CloudCases):
    """The suite of all clouds."""

    scope = "local-cloud"


async def test_what_a_machine_is_made_of(bench: VsphereBench, fake: VsphereFaults) -> None:
    constraints = {"cores": 5, "mem": 7000, "root-disk-source": "fast"}
    bench.config.update({"primary-network": "inner", "disk-provisioning-type": "thickEagerZero"})
    await bench.open().start(bench.request(constraints=constraints))
    (made,) = fake.vms.values()
    spec, values = made["spec"], made["values"]
    assert (made["cpu_count"], made["memory_size_MiB"], made["power_state"]) == (6, 8192, "POWERED_ON")
    assert (made["pool"], made["folder"], made["item"]) == ("resgroup-7", "group-v3", "item-noble")
    assert spec["network_mappings"] == [{"key": "nic0", "value": "network-13"}]
    assert (spec["default_datastore_id"], spec["storage_provisioning"]) == (
        "datastore-15",
        "eagerZeroedThick",
    )
    assert "juju-units-deployed=web/0 db/1" in spec["annotation"]
    assert values["hostname"] == "juju-eeeeee-0"
    assert values["instance-id"] == made["name"]
    assert values["public-keys"].startswith("ssh-ed25519 ")
    assert "password" not in values


async def test_a_machine_that_the_larger_api_does_not_find_is_gone_at_once(
    bench: VsphereBench, fake: VsphereFaults
) -> None:
    """It calls that a failure of the server, which would be waited out."""
    instance = (await bench.open().start(bench.request())).instance
    missing = Answer(status=500, body={"_typeName": "ManagedObjectNotFound", "faultMessage": []})
    fake.fail("GET", r"/VirtualMachine/vm-\d+/config", answer=missing)
    with pytest.raises(Gone, match="ManagedObjectNotFound") as caught:
        await _storage(bench).create(_disk(instance.id))
    assert (caught.value.retryable, bench.pauses) == (True, [])


async def test_zones_are_clusters_and_hosts_that_are_in_none(
    bench: VsphereBench, fake: VsphereFaults
) -> None:
    provider = bench.open()
    found = [(item.name, item.available) for item in await provider.zones()]
    assert found == [("compute", True), ("still", True), ("esx90", True), ("esx91", False)]
    for number, zone in enumerate(("compute", "still", "esx90")):
        started = await provider.start(bench.request(str(number), zone=zone))
        assert started.instance.hardware.availability_zone == zone
    assert [(item["pool"], item["host"]) for item in fake.vms.values()] == [
        ("resgroup-7", ""), ("resgroup-8", "host-81"), ("resgroup-90", "host-90"),
    ]  # fmt: skip
    with pytest.raises(ProviderError, match="no host of datacenter dc0 takes machines now"):
        await provider.start(bench.request("9", zone="esx91"))
    with pytest.raises(ProviderError, match="no host of datacenter dc1 takes machines now"):
        await bench.open(region="dc1").start(bench.request("9"))


async def test_items_of_bases(bench: VsphereBench, fake: VsphereFaults) -> None:
    provider = bench.open()
    await provider.start(bench.request("0", base=Base.parse("debian@12")))
    await provider.start(bench.request("1", constraints={"image-id": "noble-server-cloudimg-amd64"}))
    assert [item["item"] for item in fake.vms.values()] == ["item-debian", "item-noble"]
    for image, problem in (
        ("bare", r"\(bare has no property user-data\)"),
        ("gone", r"no content library has an OVF item gone"),
    ):
        with pytest.raises(NotValid, match=problem):
            await provider.start(bench.request("2", constraints={"image-id": image}))


async def test_folders_and_what_is_not_there(bench: VsphereBench, fake: VsphereFaults) -> None:
    inner = Credential(name="me", auth_type="userpass", attributes={**ACCOUNT, "vmfolder": "/shop/machines"})
    started = await bench.open(credential=inner).start(bench.request())
    assert fake.vms[started.instance.id]["folder"] == "group-v32"
    assert await bench.open().list() == []  # another folder
    lost = Credential(name="me", auth_type="userpass", attributes={**ACCOUNT, "vmfolder": "shop/x"})
    with pytest.raises(NotValid, match='vmfolder "shop/x" is not in datacenter dc0'):
        await bench.open(credential=lost).check()
    bench.config["primary-network"] = "outer"
    with pytest.raises(NotValid, match='datacenter dc0 has no network "outer"'):
        await bench.open().start(bench.request("1"))
    bench.config.clear()
    bench.config["disk-provisioning-type"] = "fat"
    problem = 'disk-provisioning-type: expected one of thin, thick, thickEagerZero, got "fat"'
    with pytest.raises(NotValid, match=problem):
        await bench.open().start(bench.request("1"))
    bench.config.clear()
    with pytest.raises(NotValid, match='datacenter dc0 has no datastore "slow"'):
        await bench.open().start(bench.request("1", constraints={"root-disk-source": "slow"}))


async def test_one_session_for_all_threads_and_a_new_one_when_it_ends(
    bench: VsphereBench, fake: VsphereFaults
) -> None:
    provider = bench.open()
    await provider.start(bench.request())
    assert fake.made == 1
    fake.sessions.clear()
    assert len(await provider.list()) == 1
    assert fake.made == 2


async def test_a_machine_that_was_made_but_not_started_is_started(
    bench: VsphereBench, fake: VsphereFaults
) -> None:
    fake.fail("POST", "/power/start$", times=99)
    provider = bench.open()
    with pytest.raises(ProviderError):
        await provider.start(bench.request(constraints={"mem": 4096}))
    assert bench.instances() == 0
    fake.faults.clear()
    fake.fail("POST", "/power/start$", kind="lost")
    started = await provider.start(bench.request(constraints={"mem": 4096}))
    assert fake.vms[started.instance.id]["memory_size_MiB"] == 4096


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("10.0.0.5", "https://10.0.0.5"),
        ("vc.example.com:8443", "https://vc.example.com:8443"),
        ("https://vc.example.com/sdk", "https://vc.example.com"),
        ("https://[fd00::5]", "https://[fd00::5]"),
    ],
)
def test_endpoints(bench: VsphereBench, given: str, found: str) -> None:
    assert endpoint(_site(bench, given)) == found


@pytest.mark.parametrize("given", ["", "ftp://vc", "https://vc:port"])
def test_what_is_no_endpoint(bench: VsphereBench, given: str) -> None:
    with pytest.raises(NotValid, match="needs the address of vCenter as its endpoint"):
        endpoint(_site(bench, given))


def _site(bench: VsphereBench, given: str) -> Site:
    return Site(
        cloud=replace(bench.cloud, endpoint=given),
        credential=bench.credential,
        model=ModelInfo(uuid=MODEL, name="shop", controller_uuid="c"),
        services=Services(data_dir=bench.data_dir),
    )


@pytest.mark.parametrize(("wanted", "size"), [(20000, 20000), (100, 10240), (0, 10240)])
async def test_the_size_of_a_root_disk(
    bench: VsphereBench, fake: VsphereFaults, wanted: int, size: int
) -> None:
    await bench.open().start(bench.request(constraints={"root-disk": wanted} if wanted else {}))
    (made,) = fake.vms.values()
    assert [item["capacityInBytes"] >> 20 for item in made["disks"]] == [size]
    assert made["extra"] == {"disk.enableUUID": "TRUE"}


async def test_a_root_disk_on_a_vcenter_that_is_too_old(bench: VsphereBench, fake: VsphereFaults) -> None:
    fake.releases = ["8.0.2.0", "8.0.1.0"]
    with pytest.raises(NotValid, match=r"^the constraint root-disk needs vCenter 8\.0 Update 3 or later$"):
        await bench.open().start(bench.request(constraints={"root-disk": 20000}))
    with pytest.raises(NotValid, match="the constraint root-disk needs vCenter"):  # before anything is noted
        await bench.open().precheck(Base.parse("ubuntu@24.04"), {"root-disk": 20000}, "")
    assert bench.instances() == 0
    started = await bench.open().start(bench.request())
    item = _disk(started.instance.id)
    with pytest.raises(NotValid, match=r"^a disk of vSphere needs vCenter 8\.0 Update 3 or later$"):
        await _storage(bench).create(item)
    await _storage(bench).destroy(item)


async def test_a_disk_that_cannot_grow(bench: VsphereBench, fake: VsphereFaults) -> None:
    fake.task_error = "Insufficient disk space on datastore fast."
    with pytest.raises(ProviderError, match="vCenter could not change machine vm-") as caught:
        await bench.open().start(bench.request(constraints={"root-disk": 20000}))
    assert caught.value.detail == fake.task_error
    assert bench.instances() == 0


@pytest.mark.parametrize("kind", ["lost", "half"])
async def test_a_change_whose_answer_was_lost_is_not_made_twice(
    bench: VsphereBench, fake: VsphereFaults, kind: str
) -> None:
    fake.fail("POST", "/ReconfigVM_Task$", kind=kind)
    await bench.open().start(bench.request(constraints={"root-disk": 20000}))
    (made,) = fake.vms.values()
    assert made["disks"][0]["capacityInBytes"] == 20000 << 20
    assert fake.count("POST", "/ReconfigVM_Task$") == 1


async def test_the_life_of_a_disk(bench: VsphereBench, fake: VsphereFaults) -> None:
    one = (await bench.open().start(bench.request())).instance.id
    item = _disk(one)
    fake.fail("POST", "/hardware/disk$", kind="lost")
    made = await _storage(bench).create(item)
    assert (await _storage(bench).create(item), len(fake.vms[one]["disks"])) == (made, 2)
    added = fake.vms[one]["disks"][1]
    assert (made.size, added["capacityInBytes"]) == (1500, 1500 << 20)
    bare = added["backing"]["uuid"].lower().replace("-", "")
    item = replace(item, provider_id=made.provider_id)
    assert await _storage(bench).attach(item) == StorageSeen(
        paths=(f"/dev/disk/by-id/wwn-0x{bare}", f"/dev/disk/by-id/scsi-3{bare}")
    )
    await _storage(bench).detach(item)
    for refused in (_storage(bench).release(item), _storage(bench).find(made.provider_id, Kind.BLOCK)):
        with pytest.raises(NotSupported, match="disks of vSphere belong to their machine"):
            await refused
    for _ in range(2):
        await _storage(bench).destroy(replace(item, instance_id=""))
    assert len(fake.vms[one]["disks"]) == 1
    lost = replace(item, uuid="u-2", provider_id="")
    await _storage(bench).create(lost)  # and nobody wrote it down
    await _storage(bench).destroy(lost)
    assert len(fake.vms[one]["disks"]) == 1
    await _storage(bench).create(lost)
    await bench.open().stop([one])
    await _storage(bench).destroy(lost)
    with pytest.raises(NotFound, match=f"machine {one} not found"):
        await _storage(bench).create(lost)


async def test_a_machine_that_does_not_tell_its_disks_apart(bench: VsphereBench, fake: VsphereFaults) -> None:
    fake.releases = ["8.0.2.0"]
    one = (await bench.open().start(bench.request())).instance.id
    fake.releases = ["8.0.3.0"]  # vCenter was made newer
    with pytest.raises(NotValid, match=r"set disk\.enableUUID on it"):
        await _storage(bench).create(_disk(one))
    assert len(fake.vms[one]["disks"]) == 1


def _storage(bench: VsphereBench) -> StorageProvider:
    found = PluginHost(environ={}, path=[]).open_storage("vsphere", bench.open())
    assert isinstance(found, VsphereStorage)
    return found


def _disk(vm: str) -> StorageItem:
    return StorageItem(id="0", kind=Kind.BLOCK, size=1500, uuid="u-1", instance_id=vm)


def test_reasons_of_errors() -> None:
    assert (
        reason("<html>")
        == reason("[]")
        == reason(None)
        == reason("[" * 100_000)
        == "an answer without a reason"
    )
    assert reason('{"type": "com.vmware.vapi.std.errors.unauthorized"}') == "unauthorized"
    fault = '{"_typeName": "NoPermission", "faultMessage": [{"key": "x", "message": "not you"}]}'
    assert reason(fault) == "NoPermission: not you"
