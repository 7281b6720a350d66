"""Azure over HTTP, against a fake of its Resource Manager."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import Conflict, NotFound, NotValid, ProviderError, QuotaExceeded
from pushjuju.core.firewall import IngressRule, MachineRules
from pushjuju.core.model.ports import PortRange
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.providers.libcloud.opening import SecurityGroups
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from tests.clouds.cases import MODEL, OTHER, CloudBench, CloudCases
from tests.clouds.fake_azure import (
    APPLICATION,
    PASSWORD,
    REGION,
    SUBSCRIPTION,
    TENANT,
    TOKEN,
    FakeAzure,
    error,
)

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)
GROUP = f"juju-shop-{MODEL[:8]}"


class AzureBench(CloudBench):
    """The subscription of the fake."""

    fake: FakeAzure

    def instances(self) -> int:
        return len(self.fake.of("virtualMachines"))

    def leftovers(self) -> list[str]:
        return [*self.fake.groups, *self.fake.things]

    def user_data(self) -> list[str]:
        machines = [item["properties"]["osProfile"] for item in self.fake.of("virtualMachines")]
        return [base64.b64decode(item["customData"]).decode() for item in machines]


def _credential(**changes: str) -> Credential:
    given = {
        "application-id": APPLICATION,
        "application-password": PASSWORD,
        "subscription-id": SUBSCRIPTION,
        "tenant-id": TENANT,
    }
    return Credential(name="me", auth_type="service-principal-secret", attributes={**given, **changes})


@pytest.fixture
def fake() -> Iterator[FakeAzure]:
    fake = FakeAzure()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


def make(fake: FakeAzure, folder: Path) -> AzureBench:
    """Return a bench on a fake."""
    return AzureBench(
        fake=fake,
        cloud=CloudSpec(
            name="azure", type="azure", region=REGION, endpoint=fake.url, identity_endpoint=fake.url
        ),
        credential=_credential(),
        wrong=_credential(**{"application-password": "stale"}),
        create=("PUT", r"/virtualMachines/"),
        quota=error(409, "QuotaExceeded", "Operation could not be completed, exceeding approved cores quota"),
        full=error(409, "ZonalAllocationFailed", "We do not have sufficient capacity in this zone."),
        size="Standard_B2s",
        secrets=(PASSWORD, TOKEN, "stale"),
        data_dir=folder,
    )


@pytest.fixture
def bench(fake: FakeAzure, tmp_path: Path) -> AzureBench:
    return make(fake, tmp_path)


class TestAzure(CloudCases):
    """The suite of all clouds."""


async def test_a_machine_has_what_goes_with_it(bench: AzureBench, fake: FakeAzure) -> None:
    provider = bench.open()
    await provider.start(bench.request(zone="1", constraints={"root-disk": 40960}))
    (machine,) = fake.of("virtualMachines")
    assert machine["zones"] == ["1"]
    assert machine["tags"]["juju-units-deployed"] == "web/0 db/1"
    assert machine["properties"]["storageProfile"] == {
        "imageReference": {
            "publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"
        },
        "osDisk": {
            "createOption": "FromImage", "deleteOption": "Delete", "caching": "ReadWrite", "diskSizeGB": 40
        },
    }  # fmt: skip
    assert set(fake.groups) == {GROUP}
    assert fake.logins == 1 or fake.logins <= 16  # one for each thread
    await provider.stop([machine["name"]])
    await provider.start(bench.request("1"))  # the group of the first machine goes at the next end
    await provider.stop([item["name"] for item in fake.of("virtualMachines")])
    assert {item["name"] for item in fake.things.values()} == {"juju-internal-network"}


async def test_images_of_bases_and_sizes(bench: AzureBench, fake: FakeAzure) -> None:
    for machine, base, constraints in (
        ("0", "debian@12", {}),
        ("1", "ubuntu@22.04", {}),
        ("2", "ubuntu@24.04", {"arch": "arm64"}),
        ("3", "ubuntu@24.04", {"instance-type": "Standard_DS1"}),
        ("4", "ubuntu@24.04", {"image-id": "Debian:debian-12:12-gen2:0.1"}),
        ("5", "ubuntu@24.04", {"image-id": "/subscriptions/x/images/own"}),
    ):
        request = bench.request(machine, base=Base.parse(base), constraints=constraints)
        await bench.open().start(request)
    found = [item["properties"]["storageProfile"]["imageReference"] for item in fake.of("virtualMachines")]
    assert [item.get("sku", item.get("id")) for item in found] == [
        "12-gen2", "22_04-lts-gen2", "server-arm64", "server-gen1", "12-gen2", "/subscriptions/x/images/own",
    ]  # fmt: skip
    assert found[4]["version"] == "0.1"


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("AllocationFailed: We do not have sufficient capacity in this region.", ProviderError),
        ("QuotaExceeded: exceeding approved cores quota", QuotaExceeded),
    ],
)
async def test_a_machine_that_failed(
    bench: AzureBench, fake: FakeAzure, why: str, kind: type[ProviderError]
) -> None:
    fake.doomed = why
    with pytest.raises(kind) as caught:
        await bench.open().start(bench.request())
    assert (type(caught.value), caught.value.detail) == (kind, f"ProvisioningState/failed/{why}")
    assert bench.instances() == 0


async def test_a_credential_without_a_tenant(bench: AzureBench) -> None:
    lacking = _credential()
    attributes = {key: value for key, value in lacking.attributes.items() if key != "tenant-id"}
    with pytest.raises(NotValid, match="needs a credential with tenant-id"):
        await bench.open(credential=replace(lacking, attributes=attributes)).check()


async def test_security_groups_follow_the_rules(bench: AzureBench, fake: FakeAzure) -> None:
    provider = bench.open()
    await provider.start(bench.request())
    await provider.start(bench.request("1"))
    guard = SecurityGroups(provider)

    async def run(_script: str) -> ScriptResult:
        return ScriptResult(rc=0)

    machine = GuardedMachine(machine_id="0", instance_id="i", run=run)
    web = IngressRule(PortRange("tcp", 80, 90), ("0.0.0.0/0", "10.0.0.0/8"))
    await guard.apply(machine, MachineRules(ingress=(web,)))
    assert rules(fake) == {
        "0": [("22", "*"), ("80-90", "0.0.0.0/0"), ("80-90", "10.0.0.0/8")],
        "1": [("22", "*")],
    }
    await provider.start(bench.request())  # it stays open when its start is looked at again
    assert len(rules(fake)["0"]) == 3
    await guard.clear(machine)
    assert rules(fake)["0"] == [("22", "*")]


def rules(fake: FakeAzure) -> dict[str, list[tuple[str, str]]]:
    """Machine -> (ports, source) of its rules."""
    return {
        item["tags"]["pushjuju-machine"]: [
            (rule["properties"]["destinationPortRange"], rule["properties"]["sourceAddressPrefix"])
            for rule in item["properties"]["securityRules"]
        ]
        for item in fake.of("networkSecurityGroups")
    }


async def test_the_life_of_a_volume(bench: AzureBench, fake: FakeAzure) -> None:
    provider = bench.open()
    volumes = CloudVolumes(provider, provider.adapter)  # type: ignore[arg-type]
    one = (await provider.start(bench.request(zone="1"))).instance.id
    two = (await provider.start(bench.request("1", zone="1"))).instance.id
    item = StorageItem(
        id="0",
        kind=Kind.BLOCK,
        size=1500,
        uuid="u-1",
        instance_id=one,
        attributes={"account-type": "Premium_LRS"},
    )
    made = await volumes.create(item)
    assert await volumes.create(item) == made
    (disk,) = fake.of("disks")
    assert (disk["sku"]["name"], disk["zones"], made.size) == ("Premium_LRS", ["1"], 2048)
    item = replace(item, provider_id=made.provider_id)
    seen = await volumes.attach(item)
    assert seen == await volumes.attach(item)
    assert seen.paths[0] == "/dev/disk/azure/scsi1/lun0"
    for refused in (volumes.attach(replace(item, instance_id=two)), volumes.destroy(item)):
        with pytest.raises(Conflict, match="is attached to instance machine-0-"):
            await refused
    second = replace(item, uuid="u-2", id="1")
    other = await volumes.create(second)
    assert (await volumes.attach(replace(second, provider_id=other.provider_id))).paths[0].endswith("lun1")
    await volumes.detach(item)
    await volumes.detach(item)
    await volumes.release(item)
    await provider.destroy_model()
    assert [item["id"] for item in fake.of("disks")] == [made.provider_id]
    assert list(fake.things) == [made.provider_id.lower()]
    there = bench.open(OTHER)
    assert await CloudVolumes(there, there.adapter).find(made.provider_id, Kind.BLOCK) == made  # type: ignore[arg-type]
    with pytest.raises(Conflict, match=f"belongs to model {OTHER}"):
        await volumes.find(made.provider_id, Kind.BLOCK)
    with pytest.raises(NotFound):
        await volumes.find("volume-none", Kind.BLOCK)


def test_the_pool_of_fast_disks() -> None:
    found = PluginHost(environ={}, path=[]).storage_types("azure")["azure"]
    assert found.pools == {"azure-premium": {"account-type": "Premium_LRS"}}
