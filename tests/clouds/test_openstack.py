"""OpenStack over HTTP, against a fake of the parts that are used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.constraints import check
from pushjuju.core.errors import Conflict, CredentialInvalid, NotFound, NotValid, ProviderError
from pushjuju.core.firewall import IngressRule, MachineRules
from pushjuju.core.model.ports import PortRange
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.plugins.providers.libcloud.opening import SecurityGroups
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from tests.clouds.cases import MODEL, CloudBench, CloudCases
from tests.clouds.fake_openstack import APP_ID, APP_SECRET, PASSWORD, PROJECT, FakeOpenStack
from tests.clouds.httpfake import Answer

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)

PERSON = {
    "username": "me",
    "password": PASSWORD,
    "tenant-name": "shop",
    "user-domain-name": "People",
}


class OpenStackBench(CloudBench):
    """The project of the fake."""

    fake: FakeOpenStack

    def instances(self) -> int:
        return len(self.fake.servers)

    def leftovers(self) -> list[str]:
        return [item["name"] for item in self.fake.groups.values()] + list(self.fake.floating)

    def user_data(self) -> list[str]:
        return [item["data"] for item in self.fake.servers.values()]

    def guarded(self, machine: str) -> GuardedMachine:
        """Return a machine as firewalls are told of it."""

        async def run(_script: str) -> ScriptResult:
            return ScriptResult(rc=0)

        return GuardedMachine(machine_id=machine, instance_id="i", run=run)


def _credential(**changes: str) -> Credential:
    return Credential(name="me", auth_type="userpass", attributes={**PERSON, **changes})


def make(fake: FakeOpenStack, folder: Path) -> OpenStackBench:
    """Return a bench on a fake."""
    text = "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances"
    full = "No valid host was found. There are not enough hosts available."
    return OpenStackBench(
        fake=fake,
        cloud=CloudSpec(name="lab", type="openstack", region="north", endpoint=f"{fake.url}/identity/v3"),
        credential=_credential(),
        wrong=_credential(password="stale-hunter"),
        create=("POST", r"/servers$"),
        quota=Answer(status=403, body={"forbidden": {"code": 403, "message": text}}),
        full=Answer(status=400, body={"badRequest": {"code": 400, "message": full}}),
        size="m1.medium",
        secrets=(PASSWORD, "stale-hunter", APP_SECRET),
        data_dir=folder,
    )


@pytest.fixture
def fake() -> Iterator[FakeOpenStack]:
    fake = FakeOpenStack()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


@pytest.fixture
def bench(fake: FakeOpenStack, tmp_path: Path) -> OpenStackBench:
    return make(fake, tmp_path)


class TestOpenStack(CloudCases):
    """The suite of all clouds."""

    scope = "local-cloud"


async def test_domains_project_and_one_login_for_all(bench: OpenStackBench) -> None:
    provider = bench.open()
    await provider.start(bench.request())
    await provider.start(bench.request("1"))
    assert len(bench.fake.logins) <= 4  # threads that began at once, not one for each connection
    assert bench.fake.logins[0]["scope"] == {"project": {"name": "shop", "domain": {"name": "Default"}}}
    await bench.open(credential=_credential(**{"tenant-name": "", "tenant-id": PROJECT})).list()
    assert bench.fake.logins[-1]["scope"] == {"project": {"id": PROJECT}}
    with pytest.raises(NotValid, match="needs a credential with tenant-name or tenant-id"):
        await bench.open(credential=_credential(**{"tenant-name": ""})).list()
    with pytest.raises(NotValid, match="the URL of Keystone"):
        await bench.open(endpoint="lab").list()


async def test_an_application_credential(bench: OpenStackBench) -> None:
    keys = {"access-key": APP_ID, "secret-key": APP_SECRET}
    credential = Credential(name="app", auth_type="access-key", attributes=keys)
    started = await bench.open(credential=credential).start(bench.request())
    assert started.instance.id in bench.fake.servers
    wrong = Credential(name="app", auth_type="access-key", attributes={**keys, "secret-key": "no"})
    with pytest.raises(CredentialInvalid):
        await bench.open(credential=wrong).list()


async def test_a_token_that_was_withdrawn_is_asked_for_anew(bench: OpenStackBench) -> None:
    provider = bench.open()
    await provider.start(bench.request())
    bench.fake.tokens.clear()
    assert len(await provider.list()) == 1
    bench.fake.tokens.clear()
    await provider.start(bench.request("1"))


async def test_a_token_that_expired_is_asked_for_anew(bench: OpenStackBench) -> None:
    bench.fake.lifetime = "2020-01-01T00:00:00.000000Z"
    provider = bench.open()
    await provider.start(bench.request())
    assert len(await provider.list()) == 1


async def test_account_and_regions(bench: OpenStackBench) -> None:
    found = await bench.open().check()
    assert (found.account, found.costs) == (
        "me",
        "No machine is started now. A machine without constraints is a m1.small.",
    )
    with pytest.raises(NotValid, match="has several regions: north, south"):
        await bench.open(region="default").check()


async def test_what_a_server_is_asked_with(bench: OpenStackBench) -> None:
    await bench.open().start(bench.request(zone="az2"))
    (server,) = bench.fake.servers.values()
    assert server["groups"] == [f"juju-{MODEL}", f"juju-{MODEL}-0"]
    assert server["OS-EXT-AZ:availability_zone"] == "az2"
    marks = server["metadata"]
    assert (marks["juju-model-uuid"], marks["pushjuju-machine"], marks["owner"]) == (MODEL, "0", "Me & You")
    assert (marks["juju-units-deployed"], marks["pushjuju-arch"]) == ("web/0 db/1", "amd64")
    assert server["image"] == {"id": "noble"}
    assert "nftables" not in server["data"]


@pytest.mark.parametrize(
    ("base", "constraints", "image"),
    [
        ("ubuntu@24.04", {"arch": "arm64"}, "noble-arm"),
        ("ubuntu@22.04", {}, "jammy"),
        ("ubuntu@22.04", {"arch": "arm64"}, "jammy-arm"),
        ("debian@12", {}, "bookworm"),
        ("debian@12", {"image-id": "Ubuntu 22.04"}, "jammy"),
        ("debian@12", {"image-id": "noble"}, "noble"),
    ],
)
async def test_images(bench: OpenStackBench, base: str, constraints: dict[str, str], image: str) -> None:
    request = bench.request(base=Base.parse(base), constraints=constraints)
    started = await bench.open().start(request)
    assert bench.fake.servers[started.instance.id]["image"] == {"id": image}
    assert started.instance.hardware.arch == constraints.get("arch", "amd64")
    (listed,) = await bench.open().list()
    assert listed.hardware.arch == constraints.get("arch", "amd64")
    with pytest.raises(NotValid, match="moon not found"):
        await bench.open().start(bench.request("1", constraints={"image-id": "moon"}))


async def test_networks(bench: OpenStackBench) -> None:
    bench.fake.networks.append({"id": "net-2", "name": "backup", "router:external": False})
    with pytest.raises(NotValid, match="the project has several networks: backup, private"):
        await bench.open().start(bench.request())
    bench.config["network"] = "moon"
    with pytest.raises(NotValid, match="there is no network moon; there are: backup, private, public"):
        await bench.open().start(bench.request())
    bench.config["network"] = "backup"
    await bench.open().start(bench.request())
    assert [item["network_id"] for item in bench.fake.ports.values()] == ["net-2"]


async def test_a_floating_ip_where_it_is_wanted(bench: OpenStackBench) -> None:
    provider = bench.open()
    bench.fake.fail("POST", r"floatingips$", kind="lost")
    request = bench.request(constraints={"allocate-public-ip": True})
    started = await provider.start(request)
    assert [(item.value, item.scope) for item in started.instance.addresses] == [
        ("203.0.113.1", "public"),
        ("10.0.0.1", "local-cloud"),
    ]
    plain = await provider.start(bench.request("1"))
    assert [item.scope for item in plain.instance.addresses] == ["local-cloud"]
    assert len(bench.fake.floating) == 1
    await provider.start(request)
    assert len(bench.fake.floating) == 1
    await provider.stop([plain.instance.id])
    assert len(bench.fake.floating) == 1
    await provider.stop([started.instance.id])
    assert bench.fake.floating == {}


async def test_floating_ips_can_be_used_up(bench: OpenStackBench) -> None:
    body = {"type": "OverQuota", "message": "Quota exceeded for resources: ['floatingip'].", "detail": ""}
    bench.fake.fail("POST", r"floatingips$", answer=Answer(status=409, body={"NeutronError": body}))
    with pytest.raises(ProviderError, match="quota"):
        await bench.open().start(bench.request(constraints={"allocate-public-ip": True}))
    assert (bench.fake.servers, bench.fake.floating) == ({}, {})
    bench.fake.networks.pop()
    with pytest.raises(NotValid, match="no external network found"):
        await bench.open().start(bench.request(constraints={"allocate-public-ip": True}))
    assert bench.fake.servers == {}


async def test_a_server_without_a_host_is_told_and_gone(bench: OpenStackBench) -> None:
    bench.fake.doomed.append("No valid host was found.")
    with pytest.raises(ProviderError, match="failed to start") as caught:
        await bench.open().start(bench.request())
    assert (type(caught.value), caught.value.detail) == (ProviderError, "No valid host was found.")
    assert bench.fake.servers == {}


async def test_a_root_disk_that_is_a_volume(bench: OpenStackBench) -> None:
    rules = await bench.open().rules()
    wanted = {"root-disk-source": "volume", "root-disk": 61440}
    assert check(wanted, rules) == []
    await bench.open().start(bench.request(constraints=wanted))
    (server,) = bench.fake.servers.values()
    assert server["flavor"]["id"] == "1"
    assert server["disks"][0] == {
        "boot_index": 0,
        "uuid": "noble",
        "source_type": "image",
        "destination_type": "volume",
        "volume_size": 60,
        "delete_on_termination": True,
    }
    with pytest.raises(NotValid, match="no instance types"):
        await bench.open().precheck(Base.parse("ubuntu@24.04"), {"root-disk": 61440}, "")


async def test_groups_follow_the_rules(bench: OpenStackBench) -> None:
    provider = bench.open()
    await provider.start(bench.request())
    (shared, own) = bench.fake.groups.values()

    def ingress(group: str) -> set[tuple[object, ...]]:
        return {
            (item["ethertype"], item["protocol"], item["port_range_min"], item["port_range_max"],
             item["remote_ip_prefix"] or item["remote_group_id"])
            for item in bench.fake.rules.values()
            if item["security_group_id"] == group and item["direction"] == "ingress"
        }  # fmt: skip

    assert ingress(shared["id"]) == {
        ("IPv4", None, None, None, shared["id"]),
        ("IPv6", None, None, None, shared["id"]),
        ("IPv4", "tcp", 22, 22, "0.0.0.0/0"),
        ("IPv6", "tcp", 22, 22, "::/0"),
    }
    guard, machine = SecurityGroups(provider), bench.guarded("0")
    web = IngressRule(PortRange("tcp", 80, 90), ("0.0.0.0/0", "::/0"))
    ping = IngressRule(PortRange("icmp", -1, -1), ("10.0.0.0/8", "fd00::/8"))
    for _ in range(2):
        await guard.apply(machine, MachineRules(ingress=(web, ping)))
    assert ingress(own["id"]) == {
        ("IPv4", "tcp", 80, 90, "0.0.0.0/0"),
        ("IPv6", "tcp", 80, 90, "::/0"),
        ("IPv4", "icmp", None, None, "10.0.0.0/8"),
        ("IPv6", "ipv6-icmp", None, None, "fd00::/8"),
    }
    await guard.clear(machine)
    assert ingress(own["id"]) == set()
    await guard.apply(bench.guarded("77"), MachineRules(ingress=(web,)))
    bench.fake.fail("GET", "security-groups$", answer=Answer(status=403, body={"message": "no"}))
    with pytest.raises(Exception, match="the security group of machine 0 was not changed"):
        await guard.apply(machine, MachineRules())


async def test_the_default_group_where_it_is_wanted(bench: OpenStackBench) -> None:
    bench.config["use-default-secgroup"] = True
    await bench.open().start(bench.request())
    (server,) = bench.fake.servers.values()
    assert server["groups"][-1] == "default"


async def test_volumes(bench: OpenStackBench) -> None:
    provider = bench.open()
    started = await provider.start(bench.request(zone="az2"))
    other = await provider.start(bench.request("1"))
    volumes = CloudVolumes(provider, provider.adapter)  # type: ignore[arg-type]
    item = StorageItem(
        id="0", kind=Kind.BLOCK, size=1500, uuid="11111111-2222-4333-8444-555555555555",
        attributes={"volume-type": "fast"}, instance_id=started.instance.id, tags={"owner": "me"},
    )  # fmt: skip
    bench.fake.fail("POST", r"/volumes$", kind="lost")
    made = await volumes.create(item)
    assert (made, made.size) == (await volumes.create(item), 2048)
    (volume,) = bench.fake.volumes.values()
    assert (volume["volume_type"], volume["availability_zone"]) == ("fast", "az2")
    assert volume["metadata"]["owner"] == "me"
    there = replace(item, provider_id=made.provider_id)
    seen = [await volumes.attach(there) for _ in range(2)]
    assert seen[0] == seen[1]
    assert seen[0].serial == made.provider_id[:20]
    assert seen[0].paths[0] == f"/dev/disk/by-id/virtio-{made.provider_id[:20]}"
    elsewhere = replace(there, instance_id=other.instance.id)
    for refused in (volumes.attach(elsewhere), volumes.destroy(there)):
        with pytest.raises(Conflict, match="is attached to instance"):
            await refused
    for _ in range(2):
        await volumes.detach(there)
    await volumes.release(there)
    assert "juju-model-uuid" not in volume["metadata"]
    assert (await volumes.find(made.provider_id, Kind.BLOCK)).size == 2048
    with pytest.raises(NotFound):
        await volumes.find("moon", Kind.BLOCK)
    for _ in range(2):
        await volumes.destroy(there)
    assert bench.fake.volumes == {}
    bench.fake.fail("POST", r"/volumes$", answer=Answer(status=413, body={"overLimit": {
        "code": 413, "message": "VolumeLimitExceeded: Maximum number of volumes (10) exceeded for quota",
    }}))  # fmt: skip
    with pytest.raises(ProviderError, match="quota"):
        await volumes.create(item)
