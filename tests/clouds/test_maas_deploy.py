"""A deploy on MAAS: over HTTP to a server that is played, on machines that stand for its own, to active."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.charms.client import HELLO, Client
from tests.charms.conftest import client, local_cloud  # noqa: F401
from tests.charms.test_storage import make_charm
from tests.clouds.asgi import serve
from tests.clouds.backed_maas import DISKS, KIND
from tests.clouds.maas_fake import ALLOCATED, DEPLOYED, DEPLOYING, FAILED, KEY, READY, FakeMaas, Node

pytestmark = [pytest.mark.machine, pytest.mark.timeout(300)]

DEPLOY = "POST machines/*/ deploy"
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def maas() -> FakeMaas:
    """Four machines in two zones."""
    zones = ("default", "rack-b", "rack-b", "default")
    return FakeMaas([Node(f"n{number}", f"node{number}", zone=zone) for number, zone in enumerate(zones)])


@pytest.fixture
def person(client: Client, maas: FakeMaas) -> Iterator[Client]:  # noqa: F811
    """A person with that cloud and its credential."""
    site = client.work / "site"
    info = site / "backed_maas-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: backed-maas\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pushjuju]\nbacked-maas = tests.clouds.backed_maas\n")
    client.environ["PYTHONPATH"] = f"{site}:{REPOSITORY}"
    names = ("ubuntu@24.04", "ubuntu@22.04", "ubuntu@20.04", "debian@12")
    with serve(maas) as url:
        cloud = {"type": KIND, "auth-types": ["oauth1"], "endpoint": f"{url}/MAAS"}
        cloud["images"] = dict.fromkeys(names, "noble")
        (client.work / "cloud.yaml").write_text(json.dumps({"clouds": {"rack": cloud}}))
        me = {"rack": {"me": {"auth-type": "oauth1", "maas-oauth": KEY}}}
        (client.work / "me.yaml").write_text(json.dumps({"credentials": me}))
        client.run("add-cloud", "rack", "cloud.yaml", "--client")
        client.run("add-credential", "rack", "-f", "me.yaml")
        yield client
    _free_loops()


def _free_loops() -> None:
    """Let go of disks that a test which failed has left: loop devices are the host's."""
    listed = subprocess.run(["losetup", "-nO", "NAME,BACK-FILE"], capture_output=True, text=True, check=True)
    for name, file in (line.split(maxsplit=1) for line in listed.stdout.splitlines()):
        if file.startswith(DISKS):
            subprocess.run(["losetup", "-d", name], check=True)


def test_a_deploy_goes_through_maas_to_active(person: Client, maas: FakeMaas) -> None:
    told = person.try_run("bootstrap", "rack", "metal")
    assert told.rc == 0, str(told)
    assert 'user "admin", MAAS 3.5.1' in told.stderr
    assert "hunter2" not in str(told)
    person.run("add-model", "shop")
    person.run("deploy", HELLO, "web", "-n", "2", "--constraints", "mem=4G tags=virtual", limit=240)
    found = person.json("status")
    assert found["applications"]["web"]["application-status"]["current"] == "active"
    machines = found["machines"]
    assert {item["machine-status"]["current"] for item in machines.values()} == {"running"}
    zones = {word for item in machines.values() for word in item["hardware"].split() if "zone=" in word}
    assert zones == {"availability-zone=default", "availability-zone=rack-b"}
    used = {node.system_id: node for node in maas.in_state(DEPLOYED)}
    assert set(used) == {item["instance-id"] for item in machines.values()}
    assert {item["display-name"] for item in machines.values()} == {node.hostname for node in used.values()}
    assert {node.owner_data["juju-units-deployed"] for node in used.values()} == {"web/0", "web/1"}
    person.run("add-unit", "web", "--to", "system-id=n2", limit=240)
    assert "n2" in {item["instance-id"] for item in person.json("status")["machines"].values()}
    person.run("remove-unit", "web/1", "--no-prompt")
    assert len(maas.in_state(DEPLOYED)) == 2
    refused = person.fail("add-machine", "system-id=n9")
    assert 'machine "n9" not found in MAAS' in refused.error
    person.run("destroy-model", "shop", "--no-prompt")
    assert len(maas.in_state(READY)) == 4


def _until(what: Callable[[], object], within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < end
        time.sleep(0.2)


def _ends(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err, err
    return out + err


def _machine(person: Client, number: str) -> tuple[str, str]:
    found = person.json("status")["machines"][number]["machine-status"]
    return found["current"], found.get("message", "")


def test_a_long_deployment_is_shown_waited_for_mended_and_ended(person: Client, maas: FakeMaas) -> None:
    maas.deploy_s = None
    person.run("bootstrap", "rack", "metal")
    person.run("add-model", "shop")
    process = person.start("deploy", HELLO, "web")
    _until(lambda: maas.in_state(DEPLOYING))
    _until(lambda: _machine(person, "0") == ("allocating", "Deploying: Configuring OS"))
    (first,) = maas.in_state(DEPLOYING)
    maas.finish(first.system_id, FAILED, "Installation failed: no space left on device")
    assert "Failed deployment: Installation failed: no space left on device" in _ends(process)
    assert _machine(person, "0")[0] == "provisioning error"
    assert [node.system_id for node in maas.in_state(FAILED)] == [first.system_id]
    maas.release_s = 60
    maas.deploy_s = 2.0
    person.run("retry-provisioning", "0", limit=240)
    found = person.json("status")
    assert found["applications"]["web"]["application-status"]["current"] == "active"
    (second,) = maas.in_state(DEPLOYED)
    assert second.system_id != first.system_id
    maas.deploy_s = None
    process = person.start("add-machine")
    _until(lambda: maas.in_state(DEPLOYING))
    _until(lambda: _machine(person, "1")[1].startswith("Deploying"))
    person.run("remove-machine", "1", "--no-prompt", limit=240)
    _ends(process)
    assert maas.in_state(DEPLOYING, ALLOCATED) == []
    assert set(person.json("status")["machines"]) == {"0"}
    person.run("destroy-model", "shop", "--no-prompt")
    assert maas.in_state(DEPLOYED, DEPLOYING, ALLOCATED, FAILED) == []


@pytest.mark.parametrize("step", ["POST machines/*/ set_owner_data", DEPLOY, "GET machines/"])
def test_a_killed_controller_finds_its_machine(person: Client, maas: FakeMaas, step: str) -> None:
    """Killed after it allocated, after it noted whose it is, and before it wrote down that it has it."""
    person.run("bootstrap", "rack", "metal")
    person.run("add-model", "shop")
    maas.deploy_s = None
    hung = []

    def hang(what: str) -> None:
        if what == step and not hung and (step != "GET machines/" or DEPLOY in maas.asked):
            hung.append(what)
            maas.fail(step, how="hang")

    maas.before = hang
    process = person.start("add-machine")
    _until(lambda: hung)
    process.kill()
    process.communicate()
    (left,) = maas.in_state(ALLOCATED, DEPLOYING)
    maas.deploy_s = 0.5
    if left.status == DEPLOYING:
        maas.finish(left.system_id)
    person.run("update-status", limit=240)
    _until(lambda: _machine(person, "0")[0] == "running")
    assert person.json("status")["machines"]["0"]["instance-id"] == left.system_id
    assert len(maas.in_state(READY)) == 3
    person.run("destroy-model", "shop", "--no-prompt")
    assert len(maas.in_state(READY)) == 4


def test_a_unit_keeps_its_data_on_a_disk_of_its_machine(
    person: Client, maas: FakeMaas, tmp_path: Path
) -> None:
    maas.nodes["n2"].disks = (*maas.nodes["n2"].disks, (10 * 10**9, ("hdd",)), (2 * 10**9, ("ssd",)))
    person.run("bootstrap", "rack", "metal")
    person.run("add-model", "shop")
    person.run("create-storage-pool", "fast", "maas", "tags=ssd")
    wanted = ("--storage", "data=fast,32M", "--constraints", "zones=rack-b")
    person.run("deploy", make_charm(tmp_path), "keep", *wanted, limit=240)
    found = person.json("status")
    assert {item["instance-id"] for item in found["machines"].values()} == {"n2"}
    assert [value for name, value in maas.allocations[-1] if name == "storage"] == ["root:0,volume0x0:1(ssd)"]
    (volume,) = person.json("storage", "--volume")["volumes"].values()
    assert (volume["provider-id"], volume["status"]["current"]) == ("n2/32", "attached")
    seen = person.run("ssh", "keep/0", "findmnt -no SOURCE /srv/keep/data; cat /srv/keep/data/rows")
    assert "/dev/loop" in seen.split()[0]
    assert seen.split()[1:] == ["keep/0"]
    person.run("destroy-model", "shop", "--no-prompt", "--destroy-storage", limit=240)
    assert len(maas.in_state(READY)) == 4
