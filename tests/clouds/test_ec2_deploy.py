"""A deploy on EC2: through libcloud and HTTP to moto, on machines that stand for its instances, to active."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.providers.libcloud.drivers.adapter import MODEL_TAG
from pushjuju.plugins.providers.libcloud.drivers.amazon import ebs, ec2_api, ec2_network
from tests.charms.client import HELLO, Client
from tests.charms.conftest import client, local_cloud  # noqa: F401
from tests.charms.test_storage import DATA, make_charm, rows, states
from tests.clouds.backed_clouds import SUFFIX
from tests.clouds.disks import release_disks
from tests.clouds.moto_server import Moto, server  # noqa: F401
from tests.clouds.test_ec2 import driver_of

pytestmark = [pytest.mark.machine, pytest.mark.timeout(300)]

REPOSITORY = Path(__file__).parents[2]
CREDENTIALS = """credentials:
  moto:
    me: {auth-type: access-key, access-key: AKIAEXAMPLE, secret-key: hunter2}
"""


@pytest.fixture
def driver(server: Moto) -> Any:  # noqa: F811
    """Our own look at the account."""
    server.reset()
    spec = CloudSpec(name="moto", type="ec2", region="us-east-1", endpoint=server.url)
    return driver_of(spec)


@pytest.fixture
def person(client: Client, server: Moto, driver: Any) -> Iterator[Client]:  # noqa: F811
    """A person with that cloud and its credential."""
    site = client.work / "site"
    info = site / "backed-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backed\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pushjuju]\nbacked = tests.clouds.backed_clouds\n")
    client.environ["PYTHONPATH"] = f"{site}:{REPOSITORY}"
    image = driver.list_images(ex_owner="099720109477")[0].id
    bases = dict.fromkeys(("ubuntu@24.04", "ubuntu@22.04", "ubuntu@20.04", "debian@12"), image)
    cloud = {"type": f"ec2{SUFFIX}", "auth-types": ["access-key"], "images": bases}
    cloud["regions"] = {"us-east-1": {"endpoint": server.url}}
    (client.work / "cloud.yaml").write_text(json.dumps({"clouds": {"moto": cloud}}))
    (client.work / "me.yaml").write_text(CREDENTIALS)
    client.run("add-cloud", "moto", "cloud.yaml", "--client")
    client.run("add-credential", "moto", "-f", "me.yaml")
    yield client
    release_disks(client.data)


def test_a_deploy_goes_through_libcloud_to_active(person: Client, driver: Any) -> None:
    told = person.try_run("bootstrap", "moto", "aws")
    assert told.rc == 0, str(told)
    assert "Cloud moto/us-east-1 answers and takes the credential" in told.stderr
    assert "USD an hour" in told.stderr
    person.run("add-model", "shop")
    person.run("deploy", HELLO, "web", "-n", "2", "--constraints", "mem=4G", limit=240)
    found = person.json("status")
    assert found["applications"]["web"]["application-status"]["current"] == "active"
    machines = found["machines"]
    assert {item["machine-status"]["current"] for item in machines.values()} == {"running"}
    places = [item["hardware"] for item in machines.values()]
    zones = {word for text in places for word in text.split() if word.startswith("availability-zone=")}
    assert len(zones) == 2, places
    nodes = {node.id: node for node in ec2_api.nodes(driver, {})}
    assert set(nodes) == {item["instance-id"] for item in machines.values()}
    tags = [node.extra["tags"] for node in nodes.values()]
    assert {item["juju-units-deployed"] for item in tags} == {"web/0", "web/1"}
    person.run("expose", "web")
    uuid = tags[0]["juju-model-uuid"]
    (group,) = ec2_network.groups(driver, {"group-name": f"juju-{uuid}-0"})
    opened = {(item.protocol, item.first) for item in ec2_network.permissions(driver, group)}
    assert opened == {("tcp", 8080)}
    person.run("remove-unit", "web/1", "--no-prompt")
    assert len(ec2_api.nodes(driver, {})) == 1
    person.run("destroy-model", "shop", "--no-prompt")
    assert ec2_api.nodes(driver, {}) == []
    assert ec2_network.groups(driver, {f"tag:{MODEL_TAG}": uuid}) == []


def test_storage_on_volumes_of_the_cloud(person: Client, driver: Any, tmp_path: Path) -> None:
    """A filesystem on a volume keeps its data from unit to unit, and from machine to machine."""
    charm = make_charm(tmp_path)
    person.run("bootstrap", "moto", "aws")
    person.run("add-model", "shop")
    assert set(person.json("storage-pools")) == {"ebs", "ebs-ssd", "loop", "rootfs", "tmpfs"}
    person.run("create-storage-pool", "fast", "ebs", "volume-type=gp3", "throughput=250")
    person.run("deploy", charm, "--storage", "data=fast,1G", "--storage", "cache=tmpfs,4M", limit=240)
    assert states(person) == {"cache/0": "attached", "data/1": "attached"}
    (volume,) = owned(driver)
    assert (volume.size, volume.state) == (1, "in-use")
    assert person.on("keep/0", f"stat -f -c %T {DATA}").split() == ["ext2/ext3"]
    assert f"vol{volume.id[4:]}" in person.on("keep/0", "ls /dev/disk/by-id")
    person.on("keep/0", f"echo precious >> {DATA}/rows; sync")
    person.run("remove-unit", "keep/0", "--no-prompt", "--force")
    person.run("remove-storage", "cache/0")
    assert states(person) == {"data/1": "detached"}
    (volume,) = owned(driver)
    assert (volume.state, volume.attachments) == ("available", ())
    person.run("add-unit", "keep", "--attach-storage", "data/1", limit=240)
    assert rows(person, "keep/1", DATA) == ["keep/0", "precious", "keep/1"]
    (node,) = ec2_api.nodes(driver, {})
    assert node.extra["availability"] == volume.zone
    told = person.json("show-storage", "data/1")["data/1"]
    assert told["status"]["current"] == "attached"

    person.run("remove-application", "keep", "--no-prompt")
    person.run("remove-storage", "data/1", "--no-destroy")
    assert owned(driver) == []
    assert volume.id in [item.id for item in ebs.disks(driver, {})]
    person.run("import-filesystem", "ebs", volume.id, "data")
    person.run(
        "deploy", charm, "again", "--attach-storage", "data/3", "--storage", "cache=tmpfs,4M", limit=240
    )
    assert rows(person, "again/0", DATA) == ["keep/0", "precious", "keep/1", "again/0"]
    person.run("destroy-model", "shop", "--no-prompt", "--destroy-storage")
    assert ebs.disks(driver, {}) == []


def owned(driver: Any) -> list[ebs.Disk]:
    """The volumes that are a model's."""
    return [volume for volume in ebs.disks(driver, {}) if MODEL_TAG in volume.tags]
