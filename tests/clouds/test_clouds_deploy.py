"""Deploys on clouds with an adapter: over HTTP to a fake, machines stand for its instances, to active."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.charms.client import HELLO, Client
from tests.charms.conftest import client, local_cloud  # noqa: F401
from tests.clouds.backed_clouds import SUFFIX
from tests.clouds.benches import bench_of
from tests.clouds.cases import CloudBench
from tests.clouds.disks import release_disks
from tests.clouds.fake_azure import FakeAzure
from tests.clouds.fake_cloudstack import FakeCloudStack
from tests.clouds.fake_gce import FakeGce
from tests.clouds.fake_openstack import FakeOpenStack

pytest.importorskip("libcloud", reason="the providers need apache-libcloud")
pytestmark = [pytest.mark.machine, pytest.mark.timeout(400)]

REPOSITORY = Path(__file__).parents[2]
WITH_DISKS = ("cloudstack", "scaleway", "vsphere")  # any cloud's could be tried; each takes its time
BASES = ("ubuntu@24.04", "ubuntu@22.04", "ubuntu@20.04", "debian@12")


@pytest.fixture
def person(client: Client) -> Iterator[Client]:  # noqa: F811
    """A person with the plugin that has machines behind the instances."""
    site = client.work / "site"
    info = site / "backed_clouds-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backed-clouds\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pushjuju]\nbacked-clouds = tests.clouds.backed_clouds\n")
    client.environ["PYTHONPATH"] = f"{site}:{REPOSITORY}"
    yield client
    release_disks(client.data)


def use(person: Client, bench: CloudBench, image: str) -> None:
    """Let a person have a cloud and its credential."""
    spec, known = bench.cloud, bench.credential
    cloud = {
        "type": f"{spec.type}{SUFFIX}",
        "auth-types": [known.auth_type],
        "endpoint": spec.endpoint,
        "regions": {spec.region: {}},
        **({"identity-endpoint": spec.identity_endpoint} if spec.identity_endpoint else {}),
        "images": dict.fromkeys(BASES, image),
    }
    attributes = dict(known.attributes)
    if "file" in attributes:
        (person.work / "key.json").write_text(attributes["file"])
        attributes["file"] = str(person.work / "key.json")
    me = {"lab": {"me": {"auth-type": known.auth_type, **attributes}}}
    (person.work / "cloud.yaml").write_text(json.dumps({"clouds": {"lab": cloud}}))
    (person.work / "me.yaml").write_text(json.dumps({"credentials": me}))
    person.run("add-cloud", "lab", "cloud.yaml", "--client")
    person.run("add-credential", "lab", "-f", "me.yaml")


def deploy(person: Client, bench: CloudBench) -> list[str]:
    """Bootstrap, deploy two units to active; return the zones."""
    told = person.try_run("bootstrap", "lab", "far")
    assert told.rc == 0, str(told)
    assert "A machine without constraints is a " in told.stderr
    assert not [item for item in bench.secrets if item in str(told)]
    person.run("add-model", "shop")
    person.run("deploy", HELLO, "web", "-n", "2", "--constraints", "mem=4G", limit=300)
    found = person.json("status")
    assert found["applications"]["web"]["application-status"]["current"] == "active"
    machines = found["machines"].values()
    assert {item["machine-status"]["current"] for item in machines} == {"running"}
    assert bench.instances() == 2
    words = {word for item in machines for word in item["hardware"].split()}
    return sorted(word.partition("=")[2] for word in words if word.startswith("availability-zone="))


def end(person: Client, bench: CloudBench) -> None:
    """Remove a unit and the model; nothing may be left."""
    person.run("remove-unit", "web/1", "--no-prompt")
    assert bench.instances() == 1
    person.run("destroy-model", "shop", "--no-prompt")
    assert (bench.instances(), bench.leftovers()) == (0, [])
    bench.fake.close()
    assert bench.fake.problems == []


def test_a_deploy_on_openstack(person: Client, tmp_path: Path) -> None:
    bench = bench_of("openstack", tmp_path)
    fake = bench.fake
    assert isinstance(fake, FakeOpenStack)
    use(person, bench, "noble")
    assert deploy(person, bench) == ["az1", "az2"]
    person.run("expose", "web")
    opened = {
        (item["protocol"], item["port_range_min"], item["remote_ip_prefix"]) for item in fake.rules.values()
    }
    assert {("tcp", 8080, "0.0.0.0/0"), ("tcp", 8080, "::/0")} <= opened
    assert {item["metadata"]["juju-units-deployed"] for item in fake.servers.values()} == {"web/0", "web/1"}
    end(person, bench)


def test_a_deploy_on_gce(person: Client, tmp_path: Path) -> None:
    bench = bench_of("gce", tmp_path)
    fake = bench.fake
    assert isinstance(fake, FakeGce)
    use(person, bench, "golden")
    assert deploy(person, bench) == ["us-east1-b", "us-east1-c"]
    person.run("expose", "web")
    opened = [item for item in fake.firewalls.values() if item.get("allowed")[0].get("ports") == ["8080"]]
    assert len(opened) == 2
    end(person, bench)


def add_disks(person: Client, bench: CloudBench, storage: str) -> None:
    """Give a new machine a volume of the cloud; both go together."""
    person.run("add-machine", "--disks", f"{storage},1G", "--constraints", "mem=4G", limit=120)
    (volume,) = person.json("storage", "--volume")["volumes"].values()
    assert volume["status"]["current"] == "attached", volume
    device = volume["attachments"]["machines"]["2"]["device"]
    size = int(person.run("ssh", "2", f"sudo blockdev --getsize64 /dev/{device}"))
    assert size == volume["size"] << 20 >= 1 << 30
    person.run("remove-machine", "2", "--no-prompt")
    assert bench.instances() == 2
    assert "attached" not in person.run("storage", "--volume")


@pytest.mark.parametrize(
    ("cloud", "image", "zones"),
    [
        ("azure", "Canonical:ubuntu-24_04-lts:server:latest", 2),
        ("cloudstack", "t-2", 0),
        ("digitalocean", "debian-12-x64", 0),
        ("scaleway", "ubuntu_noble", 2),
        ("vsphere", "noble-server-cloudimg-amd64", 2),
    ],
)
def test_a_deploy(person: Client, tmp_path: Path, cloud: str, image: str, zones: int) -> None:
    bench = bench_of(cloud, tmp_path)
    use(person, bench, image)
    assert len(deploy(person, bench)) == zones  # spread, where there are any
    person.run("expose", "web")
    if isinstance(bench.fake, FakeCloudStack):
        rules = str([group["ingressrule"] for group in bench.fake.groups.values()])
    elif isinstance(bench.fake, FakeAzure):
        rules = str(bench.fake.of("networkSecurityGroups"))
    else:
        rules = person.run("ssh", "0", "sudo nft list table inet pushjuju")
    assert "8080" in rules
    if cloud in WITH_DISKS:
        add_disks(person, bench, cloud)
    end(person, bench)
