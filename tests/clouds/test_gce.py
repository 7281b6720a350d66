"""Google Compute Engine over HTTP, against a fake of its API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import Conflict, CredentialInvalid, NotFound, NotValid, ProviderError, QuotaExceeded
from pushjuju.core.firewall import IngressRule, MachineRules
from pushjuju.core.model.ports import PortRange
from pushjuju.core.storage import Kind
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.plugins.providers.libcloud.opening import SecurityGroups
from pushjuju.plugins.providers.libcloud.volumes import CloudVolumes
from tests.clouds.cases import KEY as LOGIN
from tests.clouds.cases import MODEL, CloudBench, CloudCases
from tests.clouds.fake_gce import EMAIL, KEY, OTHER_KEY, PROJECT, REGION, FakeGce, error, pem
from tests.clouds.httpfake import Answer

pytest.importorskip("libcloud", reason="the provider needs apache-libcloud")
pytestmark = pytest.mark.timeout(60)

FULL = "The zone 'us-east1-b' does not have enough resources available. Try a different zone, or later."


class GceBench(CloudBench):
    """The project of the fake."""

    fake: FakeGce

    def instances(self) -> int:
        return sum(item["status"] != "STOPPING" for item in self.fake.instances.values())

    def leftovers(self) -> list[str]:
        return list(self.fake.firewalls)

    def user_data(self) -> list[str]:
        return [self.metadata(item)["user-data"] for item in self.fake.instances.values()]

    @staticmethod
    def metadata(instance: dict[str, object]) -> dict[str, str]:
        """Return what an instance finds at the metadata server."""
        return {item["key"]: item["value"] for item in instance["metadata"]["items"]}  # type: ignore[index]


def _file(text: str) -> Credential:
    return Credential(name="me", auth_type="jsonfile", attributes={"file": text})


def make(fake: FakeGce, folder: Path) -> GceBench:
    """Return a bench on a fake."""
    return GceBench(
        fake=fake,
        cloud=CloudSpec(name="google", type="gce", region=REGION, endpoint=fake.url),
        credential=_file(fake.key_file()),
        wrong=_file(fake.key_file(OTHER_KEY)),
        create=("POST", r"/instances$"),
        quota=error(403, "quotaExceeded", "Quota 'CPUS' exceeded. Limit: 24.0 in region us-east1."),
        full=Answer(
            body={
                "name": "operation-1",
                "status": "DONE",
                "error": {"errors": [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": FULL}]},
            }
        ),
        size="e2-medium",
        secrets=(pem(KEY)[40:80], "PRIVATE KEY", "ya29."),
        data_dir=folder,
    )


@pytest.fixture
def fake() -> Iterator[FakeGce]:
    fake = FakeGce()
    yield fake
    if not fake.closing.is_set():
        fake.close()
    assert fake.problems == []


@pytest.fixture
def bench(fake: FakeGce, tmp_path: Path) -> GceBench:
    return make(fake, tmp_path)


class TestGce(CloudCases):
    """The suite of all clouds."""


async def test_credentials(bench: GceBench, tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    path.write_text(bench.fake.key_file())
    await bench.open(credential=_file(str(path))).start(bench.request())
    known = {"client-id": "1", "client-email": EMAIL, "private-key": pem(KEY), "project-id": PROJECT}
    person = Credential(name="o", auth_type="oauth2", attributes=known)
    token = f"{bench.fake.url}/token"
    assert len(await bench.open(credential=person, identity_endpoint=token).list()) == 1
    written = replace(person, attributes={**known, "private-key": pem(KEY).replace("\n", "\\n")})
    assert len(await bench.open(credential=written, identity_endpoint=token).list()) == 1
    broken = json.loads(bench.fake.key_file())
    for text, problem in (
        ("{}", "is a key file without client_email"),
        (str(tmp_path / "none"), "is not a key file of a service account"),
        ('{"type": "authorized_user"}', "is not a key file of a service account"),
        (json.dumps({**broken, "private_key": "hunter2"}), "is not an RSA key in PEM form"),
    ):
        with pytest.raises(NotValid, match=problem) as caught:
            await bench.open(credential=_file(text)).list()
        assert "hunter2" not in str(caught.value)
    with pytest.raises(NotValid, match="needs a credential with client-email, private-key, project-id"):
        await bench.open(credential=replace(person, attributes={})).list()


async def test_one_token_serves_all_and_a_withdrawn_one_is_asked_for_anew(bench: GceBench) -> None:
    provider = bench.open()
    for number in range(3):
        await provider.start(bench.request(str(number)))
    assert len(bench.fake.tokens) == 1
    bench.fake.tokens.clear()
    assert len(await provider.list()) == 3
    assert len(bench.fake.tokens) == 1


async def test_a_token_is_never_on_disk(
    bench: GceBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    await bench.open().start(bench.request())
    assert list(home.iterdir()) == []


async def test_the_token_endpoint_can_fail(bench: GceBench) -> None:
    bench.fake.fail("POST", "/token")
    bench.fake.fail("POST", "/token", kind="never")
    await bench.open().start(bench.request())
    bench.fake.fail("POST", "/token", answer=error(403, "forbidden", "account disabled"))
    with pytest.raises(CredentialInvalid):
        await bench.open().check()


async def test_account_price_and_types(bench: GceBench) -> None:
    found = await bench.open().check()
    assert found.account == PROJECT
    assert "is a e2-small, about 0.0" in found.costs
    for constraints, name in (
        ({"arch": "arm64"}, "t2a-standard-1"),
        ({"cores": 1, "mem": 1024}, "e2-small"),
        ({"instance-type": "n1-standard-1"}, "n1-standard-1"),
        ({"cores": 12}, "n4-standard-64"),
    ):
        started = await bench.open().start(bench.request(constraints=constraints))
        instance = bench.fake.instances[started.instance.id]
        assert instance["machineType"].endswith(f"/{name}")
        assert started.instance.hardware.arch == constraints.get("arch", "amd64")
        await bench.open().stop([started.instance.id])


async def test_what_an_instance_is_asked_with(bench: GceBench) -> None:
    request = bench.request(zone="us-east1-c", constraints={"root-disk": 30000})
    started = await bench.open().start(request)
    (instance,) = bench.fake.instances.values()
    assert started.instance.id == instance["name"]
    assert instance["name"].startswith("juju-eeeeee-0-")
    assert bench.metadata(instance)["ssh-keys"] == f"ubuntu:{LOGIN}"
    assert instance["tags"]["items"] == [f"juju-{MODEL}", f"juju-{MODEL}-0"]
    labels = instance["labels"]
    assert (labels["juju-model-uuid"], labels["pushjuju-machine"]) == (MODEL, "0")
    assert (labels["owner"], labels["juju-units-deployed"]) == ("me___you", "web_0_db_1")
    (disk,) = instance["disks"]
    assert disk["autoDelete"]
    assert disk["initializeParams"] == {
        "sourceImage": (
            "https://www.googleapis.com/compute/v1/projects/ubuntu-os-cloud/global/images/ubuntu-2404-lts-amd64-v2026"
        ),
        "diskSizeGb": "30",
        "diskType": "zones/us-east1-c/diskTypes/pd-balanced",
    }
    (card,) = instance["networkInterfaces"]
    assert card["network"] == "global/networks/default"


@pytest.mark.parametrize(
    ("base", "constraints", "image"),
    [
        ("ubuntu@24.04", {"arch": "arm64"}, "ubuntu-os-cloud/global/images/ubuntu-2404-lts-arm64-v2026"),
        ("ubuntu@22.04", {}, "ubuntu-os-cloud/global/images/ubuntu-2204-lts-v2026"),
        ("ubuntu@22.04", {"arch": "arm64"}, "ubuntu-os-cloud/global/images/ubuntu-2204-lts-arm64-v2026"),
        ("debian@12", {}, "debian-cloud/global/images/debian-12-v2026"),
        ("debian@12", {"arch": "arm64"}, "debian-cloud/global/images/debian-12-arm64-v2026"),
        ("centos@9", {"image-id": "golden"}, f"{PROJECT}/global/images/golden"),
        ("centos@9", {"image-id": "factory/golden"}, "factory/global/images/golden"),
        ("centos@9", {"image-id": "projects/f-1/global/images/golden"}, "f-1/global/images/golden"),
        (
            "centos@9",
            {"image-id": "https://compute.googleapis.com/compute/v1/projects/f-1/global/images/golden"},
            "f-1/global/images/golden",
        ),
    ],
)
async def test_images(bench: GceBench, base: str, constraints: dict[str, str], image: str) -> None:
    request = bench.request(base=Base.parse(base), constraints=constraints)
    started = await bench.open().start(request)
    (disk,) = bench.fake.instances[started.instance.id]["disks"]
    assert disk["initializeParams"]["sourceImage"].endswith(f"/projects/{image}")


async def test_an_image_that_is_not_there(bench: GceBench) -> None:
    for base in ("centos@9", "opensuse@15"):
        with pytest.raises(NotValid, match="no image for base"):
            await bench.open().start(bench.request(base=Base.parse(base)))
    with pytest.raises(NotValid, match="moon not found"):
        await bench.open().start(bench.request(constraints={"image-id": "moon"}))


async def test_networks_and_no_public_address(bench: GceBench) -> None:
    bench.config["vpc-id"] = "lab"
    started = await bench.open().start(bench.request(constraints={"allocate-public-ip": False}))
    assert [item.scope for item in started.instance.addresses] == ["local-cloud"]
    (card,) = bench.fake.instances[started.instance.id]["networkInterfaces"]
    assert (card["network"], card["subnetwork"]) == (
        "global/networks/lab",
        f"regions/{REGION}/subnetworks/lab-east",
    )
    assert {item["network"] for item in bench.fake.firewalls.values()} == {"global/networks/lab"}
    bench.config["vpc-id"] = "moon"
    with pytest.raises(NotValid, match=f"network moon has no subnetwork in {REGION}"):
        await bench.open().start(bench.request("1"))


async def test_operations_that_fail(bench: GceBench) -> None:
    bench.fake.broken.append(("ZONE_RESOURCE_POOL_EXHAUSTED", FULL))
    with pytest.raises(ProviderError) as caught:
        await bench.open().start(bench.request())
    assert (type(caught.value), caught.value.detail) == (ProviderError, FULL)
    assert bench.fake.count(*bench.create) == 1
    bench.fake.broken.append(("QUOTA_EXCEEDED", "Quota 'CPUS' exceeded.  Limit: 24.0 in region us-east1."))
    with pytest.raises(QuotaExceeded):
        await bench.open().start(bench.request())
    await bench.open().start(bench.request())
    assert bench.instances() == 1


async def test_rates_permissions_and_names_that_are_taken(bench: GceBench) -> None:
    slow = error(403, "rateLimitExceeded", "Rate Limit Exceeded")
    bench.fake.fail(*bench.create, answer=slow)
    await bench.open().start(bench.request())
    bench.fake.fail(*bench.create, answer=slow, times=99)
    with pytest.raises(ProviderError, match="the cloud is busy") as caught:
        await bench.open().start(bench.request("1"))
    assert caught.value.retryable
    bench.fake.faults.clear()
    text = "Required 'compute.instances.create' permission for 'projects/shop-1234'"
    bench.fake.fail(*bench.create, answer=error(403, "forbidden", text))
    with pytest.raises(CredentialInvalid) as refused:
        await bench.open().start(bench.request("1"))
    assert refused.value.detail == text


async def test_pages(bench: GceBench) -> None:
    bench.fake.page = 2
    provider = bench.open()
    for number in range(5):
        await provider.start(bench.request(str(number)))
    assert len(await provider.list()) == 5


async def test_firewalls_follow_the_rules(bench: GceBench) -> None:
    provider = bench.open()
    started = await provider.start(bench.request())
    await provider.start(bench.request("1"))
    mates, ssh = bench.fake.firewalls.values()
    assert (mates["sourceTags"], mates["targetTags"]) == ([f"juju-{MODEL}"], [f"juju-{MODEL}"])
    assert (ssh["sourceRanges"], ssh["allowed"]) == (
        ["0.0.0.0/0"],
        [{"IPProtocol": "tcp", "ports": ["22"]}],
    )

    async def run(_script: str) -> ScriptResult:
        return ScriptResult(rc=0)

    def own() -> list[tuple[object, object]]:
        found = sorted((item["sourceRanges"], item["allowed"]) for name, item in bench.fake.firewalls.items()
                       if name.startswith(f"juju-{MODEL}-0-"))  # fmt: skip
        return [*found]

    guard, machine = SecurityGroups(provider), GuardedMachine(machine_id="0", instance_id="i", run=run)
    everybody = ("0.0.0.0/0", "::/0")
    web = IngressRule(PortRange("tcp", 80, 90), everybody)
    dns, ping = (
        IngressRule(PortRange("udp", 53, 53), ("10.0.0.0/8",)),
        IngressRule(PortRange("icmp", -1, -1), everybody),
    )
    for _ in range(2):
        await guard.apply(machine, MachineRules(ingress=(web, dns, ping)))
    everybodys = [{"IPProtocol": "icmp"}, {"IPProtocol": "tcp", "ports": ["80-90"]}]
    assert own() == [
        (["0.0.0.0/0"], everybodys),
        (["10.0.0.0/8"], [{"IPProtocol": "udp", "ports": ["53"]}]),
    ]
    await guard.apply(machine, MachineRules(ingress=(IngressRule(PortRange("tcp", 80, 80), everybody),)))
    assert own() == [(["0.0.0.0/0"], [{"IPProtocol": "tcp", "ports": ["80"]}])]
    assert bench.fake.count("PATCH", "firewalls") == 1
    await provider.stop([started.instance.id])
    assert own() == []
    assert len(bench.fake.firewalls) == 2
    await guard.clear(machine)


async def test_volumes(bench: GceBench) -> None:
    provider = bench.open()
    started = await provider.start(bench.request(zone="us-east1-c"))
    volumes = CloudVolumes(provider, provider.adapter)  # type: ignore[arg-type]
    item = StorageItem(
        id="0", kind=Kind.BLOCK, size=1500, uuid="11111111-2222-4333-8444-555555555555",
        attributes={"disk-type": "pd-ssd"}, instance_id=started.instance.id, tags={"owner": "Me"},
    )  # fmt: skip
    bench.fake.fail("POST", r"/disks$", kind="lost")
    made = await volumes.create(item)
    assert (made, made.size) == (await volumes.create(item), 10240)
    (disk,) = bench.fake.disks.values()
    assert made.provider_id == f"us-east1-c/juju-{item.uuid}"
    assert disk["type"] == "zones/us-east1-c/diskTypes/pd-ssd"
    there = replace(item, provider_id=made.provider_id)
    seen = [await volumes.attach(there) for _ in range(2)]
    assert seen[0] == seen[1]
    assert seen[0].paths[0] == f"/dev/disk/by-id/google-juju-{item.uuid}"
    where = await provider.derive_zones(bench.request(attached=(made.provider_id,)))
    assert list(where) == ["us-east1-c"]
    with pytest.raises(Conflict, match="is attached to instance"):
        await volumes.destroy(there)
    for _ in range(2):
        await volumes.detach(there)
    await volumes.release(there)
    assert "juju-model-uuid" not in disk["labels"]
    assert (await volumes.find(made.provider_id, Kind.BLOCK)).size == 10240
    for name in ("moon", "us-east1-c/moon"):
        with pytest.raises(NotFound):
            await volumes.find(name, Kind.BLOCK)
    for _ in range(2):
        await volumes.destroy(there)
    assert bench.fake.disks == {}
    plain = await volumes.create(replace(item, instance_id="", uuid="2" * 8))
    assert plain.provider_id.startswith("us-east1-b/")
