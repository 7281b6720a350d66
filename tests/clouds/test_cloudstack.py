"""CloudStack over HTTP, against a fake of its API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, ProviderError, QuotaExceeded
from pushjuju.core.firewall import IngressRule, MachineRules
from pushjuju.core.model.ports import PortRange
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from tests.clouds import fake_cloudstack
from tests.clouds.cases import MODEL, CloudBench, CloudCases
from tests.clouds.fake_cloudstack import HIDDEN, KEY, FakeCloudStack
from tests.clouds.httpfake import Answer
from tests.clouds.volumes_cases import life_of_a_volume, opened

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)


class CloudStackBench(CloudBench):
    """The account of the fake."""

    fake: FakeCloudStack

    def instances(self) -> int:
        return sum(item["state"] != "Destroyed" for item in self.fake.vms.values())

    def leftovers(self) -> list[str]:
        return [item["name"] for item in self.fake.groups.values()]

    def user_data(self) -> list[str]:
        return [item["data"] for item in self.fake.vms.values()]


def _key(secret: str) -> Credential:
    return Credential(name="me", auth_type="access-key", attributes={"api-key": KEY, "secret-key": secret})


def _error(code: int, text: str) -> Answer:
    body = {"deployvirtualmachineresponse": {"errorcode": code, "errortext": text}}
    return Answer(status=code, body=body)


@pytest.fixture
def fake() -> Iterator[FakeCloudStack]:
    fake = FakeCloudStack()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


def make(fake: FakeCloudStack, folder: Path) -> CloudStackBench:
    """Return a bench on a fake."""
    quota = "Maximum number of resources of type 'user_vm' for account name=me has been exceeded."
    return CloudStackBench(
        fake=fake,
        cloud=CloudSpec(name="lab", type="cloudstack", region="paris", endpoint=f"{fake.url}/client/api"),
        credential=_key(HIDDEN),
        wrong=_key("STALE"),
        create=("POST", "deployVirtualMachine"),
        quota=_error(535, quota),
        full=_error(533, "Unable to create a deployment for VM"),
        size="medium",
        secrets=(HIDDEN, "STALE"),
        data_dir=folder,
    )


@pytest.fixture
def bench(fake: FakeCloudStack, tmp_path: Path) -> CloudStackBench:
    return make(fake, tmp_path)


class TestCloudStack(CloudCases):
    """The suite of all clouds."""


async def test_templates_of_bases(bench: CloudStackBench, fake: FakeCloudStack) -> None:
    wanted = [
        ("ubuntu@24.04", "", "t-2"), ("ubuntu@22.04", "", "t-3"), ("debian@12", "", "t-4"),
        ("ubuntu@24.04", "ubuntu-jammy", "t-3"), ("ubuntu@24.04", "t-1", "t-1"),
    ]  # fmt: skip
    for machine, (base, image, _) in enumerate(wanted):
        constraints = {"image-id": image} if image else {}
        request = bench.request(str(machine), base=Base.parse(base), constraints=constraints)
        await bench.open().start(request)
    assert [item["templateid"] for item in fake.vms.values()] == [item[2] for item in wanted]
    with pytest.raises(NotValid, match=r"no image for base ubuntu@24\.04: .* \(moon not found\)"):
        await bench.open().start(bench.request("9", constraints={"image-id": "moon"}))


async def test_a_zone_without_security_groups(bench: CloudStackBench) -> None:
    with pytest.raises(NotValid, match="zone berlin has no security groups"):
        await bench.open(region="berlin").check()
    with pytest.raises(NotValid, match="has no endpoint"):
        await bench.open(endpoint="").check()


async def test_tags_disks_and_networks(bench: CloudStackBench, fake: FakeCloudStack) -> None:
    bench.config["network"] = "shared"
    started = await bench.open().start(bench.request(constraints={"root-disk": 30000}))
    (vm,) = fake.vms.values()
    assert (vm["form"]["networkids"], vm["form"]["rootdisksize"]) == ("n-1", "30")
    (seen,) = await bench.open().list()
    assert seen.tags["owner"] == "Me & You"
    assert seen.id == started.instance.id
    bench.config["network"] = "moon"
    with pytest.raises(NotValid, match="there is no network moon; there are: shared"):
        await bench.open().start(bench.request("1"))


async def test_rules_of_a_machine(bench: CloudStackBench, fake: FakeCloudStack) -> None:
    provider = bench.open()
    await provider.start(bench.request())
    web = IngressRule(PortRange("tcp", 80, 90), ("10.0.0.0/8", "::/0"))
    ping = IngressRule(PortRange("icmp", -1, -1), ("0.0.0.0/0",))

    def group(suffix: str) -> list[tuple[object, ...]]:
        (found,) = [item for item in fake.groups.values() if item["name"] == f"juju-{MODEL}{suffix}"]
        keys = ("protocol", "startport", "endport", "icmptype", "cidr", "securitygroupname")
        return sorted((tuple(rule.get(key) for key in keys) for rule in found["ingressrule"]), key=str)

    for _ in range(2):
        await provider.set_ingress("0", MachineRules(ingress=(web, ping)))
        assert group("-0") == [
            ("icmp", None, None, -1, "0.0.0.0/0", None), ("tcp", 80, 90, None, "10.0.0.0/8", None),
        ]  # fmt: skip
    await provider.set_ingress("0", MachineRules(ingress=(ping,)))
    assert [rule[0] for rule in group("-0")] == ["icmp"]
    shared = f"juju-{MODEL}"
    assert group("") == [
        ("icmp", None, None, -1, None, shared), ("tcp", 1, 65535, None, None, shared),
        ("tcp", 22, 22, None, "0.0.0.0/0", None), ("udp", 1, 65535, None, None, shared),
    ]  # fmt: skip
    (vm,) = fake.vms.values()
    assert len(vm["groups"]) == 2


async def test_an_account_that_may_not_expunge(bench: CloudStackBench, fake: FakeCloudStack) -> None:
    fake.may_expunge = False
    provider = bench.open()
    await provider.start(bench.request())
    await provider.start(bench.request(nonce="machine-0:other"))
    assert [item["state"] for item in fake.vms.values()] == ["Destroyed", "Running"]
    await provider.destroy_model()
    assert (bench.instances(), bench.leftovers()) == (0, [])


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("Unable to create a deployment for VM: no host has 4096 MB", ProviderError),
        ("Maximum number of resources of type 'cpu' for account name=me has been exceeded.", QuotaExceeded),
    ],
)
async def test_a_machine_that_failed(
    bench: CloudStackBench, fake: FakeCloudStack, why: str, kind: type[ProviderError]
) -> None:
    fake.doomed = why
    with pytest.raises(kind) as caught:
        await bench.open().start(bench.request())
    assert (type(caught.value), caught.value.detail) == (kind, why)
    assert bench.instances() == 0


async def test_a_machine_that_failed_and_nobody_knows_why(
    bench: CloudStackBench, fake: FakeCloudStack
) -> None:
    fake.doomed = "no room"
    fake.fail("POST", "queryAsyncJobResult", times=999)
    with pytest.raises(ProviderError, match="failed to start") as caught:
        await bench.open().start(bench.request())
    assert caught.value.detail == "Error"
    assert bench.instances() == 0


async def test_the_life_of_a_volume(bench: CloudStackBench, fake: FakeCloudStack) -> None:
    def told(name: str) -> StorageSeen:
        serial = name.replace("-", "")[:20]
        links = (f"/dev/disk/by-id/{head}{serial}" for head in ("virtio-", "scsi-0QEMU_QEMU_HARDDISK_"))
        return StorageSeen(serial=serial, paths=tuple(links))

    await life_of_a_volume(bench, lambda: len(fake.disks), 2048, told)


@pytest.mark.parametrize(
    ("offering", "size", "made"), [("", 1500, 2), ("tiny", 900, 1), ("big", 1500, 100), ("do-custom", 10, 1)]
)
async def test_disk_offerings(
    bench: CloudStackBench, fake: FakeCloudStack, offering: str, size: int, made: int
) -> None:
    attributes = {"disk-offering": offering} if offering else {}
    item = StorageItem(
        id="0", kind=Kind.BLOCK, size=size, uuid="u", attributes=attributes, tags={"owner": "Me & You"}
    )
    assert (await opened(bench).create(item)).size == made * 1024
    (disk,) = fake.disks.values()
    assert disk["diskofferingid"] == f"do-{(offering or 'custom').removeprefix('do-')}"
    assert {"key": "owner", "value": "Me & You"} in disk["tags"]


async def test_disk_offerings_that_do_not_do(
    bench: CloudStackBench, fake: FakeCloudStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def item(offering: str) -> StorageItem:
        attributes = {"disk-offering": offering}
        return StorageItem(id="0", kind=Kind.BLOCK, size=9999, uuid="u", attributes=attributes)

    with pytest.raises(NotValid, match="no disk offering has 10 GiB"):
        await opened(bench).create(item("tiny"))
    with pytest.raises(NotValid, match="there is no disk offering moon; there are: big, custom, tiny"):
        await opened(bench).create(item("moon"))
    monkeypatch.setattr(fake_cloudstack, "DISK_OFFERINGS", {"tiny": 1, "huge": 500, "big": 100})
    assert (await opened(bench).create(item(""))).size == 100 * 1024
    assert len(fake.disks) == 1


async def test_where_xen_puts_a_disk(bench: CloudStackBench, fake: FakeCloudStack) -> None:
    machine = (await bench.open().start(bench.request())).instance.id
    item = StorageItem(id="0", kind=Kind.BLOCK, size=10, uuid="u", instance_id=machine)
    made = await opened(bench).create(item)
    fake.disks[made.provider_id]["hypervisor"] = "XenServer"
    seen = await opened(bench).attach(replace(item, provider_id=made.provider_id))
    assert seen.paths == ("/dev/xvdb",)


async def test_an_attachment_that_the_cloud_gives_up(bench: CloudStackBench, fake: FakeCloudStack) -> None:
    machine = (await bench.open().start(bench.request())).instance.id
    item = StorageItem(id="0", kind=Kind.BLOCK, size=10, uuid="u", instance_id=machine)
    item = replace(item, provider_id=(await opened(bench).create(item)).provider_id)
    attach = fake.do_attachVolume

    def failing(form: dict[str, str]) -> object:
        job = attach(form)
        fake.disks[form["id"]].pop("virtualmachineid")
        fake.jobs[job["jobid"]] = "Failed to attach volume: no room"
        return job

    fake.do_attachVolume = failing  # type: ignore[method-assign]
    with pytest.raises(ProviderError, match="the cloud refused the request") as caught:
        await opened(bench).attach(item)
    assert caught.value.detail == "Failed to attach volume: no room"
    fake.do_attachVolume = attach  # type: ignore[method-assign]
    await opened(bench).attach(item)
