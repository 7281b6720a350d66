"""Deploys on clouds with an adapter: over HTTP to a fake, machines stand for its instances, to active."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.charms.client import HELLO, Client
from tests.charms.conftest import client, local_cloud  # noqa: F401
from tests.clouds import (
    test_cloudstack,
    test_digitalocean,
    test_gce,
    test_openstack,
    test_scaleway,
    test_vsphere,
)
from tests.clouds.backed_clouds import SUFFIX
from tests.clouds.cases import CloudBench
from tests.clouds.fake_cloudstack import FakeCloudStack
from tests.clouds.fake_digitalocean import FakeDigitalOcean
from tests.clouds.fake_gce import FakeGce
from tests.clouds.fake_openstack import FakeOpenStack
from tests.clouds.fake_scaleway import FakeScaleway
from tests.clouds.httpfake import HttpFake

pytest.importorskip("libcloud", reason="the providers need apache-libcloud")
pytestmark = [pytest.mark.machine, pytest.mark.timeout(400)]

REPOSITORY = Path(__file__).parents[2]
BASES = ("ubuntu@24.04", "ubuntu@22.04", "ubuntu@20.04", "debian@12")


@pytest.fixture
def person(client: Client) -> Client:  # noqa: F811
    """A person with the plugin that has machines behind the instances."""
    site = client.work / "site"
    info = site / "backed_clouds-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backed-clouds\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pushjuju]\nbacked-clouds = tests.clouds.backed_clouds\n")
    client.environ["PYTHONPATH"] = f"{site}:{REPOSITORY}"
    return client


def use(person: Client, bench: CloudBench, image: str) -> None:
    """Let a person have a cloud and its credential."""
    spec, known = bench.cloud, bench.credential
    cloud = {
        "type": f"{spec.type}{SUFFIX}",
        "auth-types": [known.auth_type],
        "endpoint": spec.endpoint,
        "regions": {spec.region: {}},
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
    fake = FakeOpenStack()
    bench = test_openstack.make(fake, tmp_path)
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
    fake = FakeGce()
    bench = test_gce.make(fake, tmp_path)
    use(person, bench, "golden")
    assert deploy(person, bench) == ["us-east1-b", "us-east1-c"]
    person.run("expose", "web")
    opened = [item for item in fake.firewalls.values() if item.get("allowed")[0].get("ports") == ["8080"]]
    assert len(opened) == 2
    end(person, bench)


def test_a_deploy_on_digitalocean(person: Client, tmp_path: Path) -> None:
    fake = FakeDigitalOcean()
    bench = test_digitalocean.make(fake, tmp_path)
    use(person, bench, "debian-12-x64")
    assert deploy(person, bench) == []
    person.run("expose", "web")
    table = person.run("ssh", "0", "sudo nft list table inet pushjuju")
    assert "8080" in table
    end(person, bench)


@pytest.mark.parametrize(
    ("cloud", "fake", "image", "zones"),
    [
        (test_cloudstack, FakeCloudStack, "t-2", 0),
        (test_scaleway, FakeScaleway, "ubuntu_noble", 2),
        (test_vsphere, test_vsphere.VsphereFaults, "noble-server-cloudimg-amd64", 2),
    ],
    ids=["cloudstack", "scaleway", "vsphere"],
)
def test_a_deploy(
    person: Client, tmp_path: Path, cloud: Any, fake: type[HttpFake], image: str, zones: int
) -> None:
    bench: CloudBench = cloud.make(fake(), tmp_path)
    use(person, bench, image)
    assert len(deploy(person, bench)) == zones  # spread, where there are any
    person.run("expose", "web")
    if isinstance(bench.fake, FakeCloudStack):
        rules = [rule for group in bench.fake.groups.values() for rule in group["ingressrule"]]
        assert 8080 in {rule.get("startport") for rule in rules}
    else:
        assert "8080" in person.run("ssh", "0", "sudo nft list table inet pushjuju")
    end(person, bench)
