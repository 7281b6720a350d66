"""A remote server as a person meets it: trust, projects, and what goes wrong (`make lxd`)."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.charms.client import Client
from tests.lxd.charms import small_charm
from tests.lxd.server import ALIAS, BRIDGE, Lxd

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = [pytest.mark.lxd, pytest.mark.timeout(600)]
PLACE = "10.231.91.1:18445"  # the daemon's second address: the bridge's
BASE = ("--base", "debian@12")


@pytest.fixture
def far(lxd: Lxd, tmp_path: Path) -> Iterator[Client]:
    """Somebody who knows the server's address."""
    lxd.command("lxc", "config", "set", "core.https_address", PLACE)
    (tmp_path / "home").mkdir()
    client = Client(tmp_path / "data", tmp_path / "home")
    client.environ.pop("LXD_DIR", None)
    cloud = {"type": "lxd", "auth-types": ["interactive"], "endpoint": f"https://{PLACE}"}
    (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": {"far": cloud}}))
    client.run("add-cloud", "far", tmp_path / "clouds.yaml")
    try:
        yield client
    finally:
        words = ("destroy-controller", "far", "--no-prompt", "--destroy-all-models", "--force", "--no-wait")
        client.try_run(*words, limit=300)
        for certificate in json.loads(lxd.command("lxc", "config", "trust", "list", "--format", "json")):
            lxd.command("lxc", "config", "trust", "remove", certificate["fingerprint"])
        lxd.command("lxc", "config", "unset", "core.https_address")
        assert lxd.names() == []


def _token(lxd: Lxd) -> str:
    return lxd.command("lxc", "config", "trust", "add", "--name", "her").split()[-1]


def _file(tmp_path: Path, token: str) -> Path:
    path = tmp_path / "credential.yaml"
    kept = {"me": {"auth-type": "interactive", "trust-token": token}}
    path.write_text(json.dumps({"credentials": {"far": kept}}))
    return path


def _changed(token: str, **parts: str) -> str:
    return base64.b64encode(json.dumps({**json.loads(base64.b64decode(token)), **parts}).encode()).decode()


def test_trust_is_given_taken_and_given_again(lxd: Lxd, far: Client, tmp_path: Path) -> None:
    assert "cloud far needs a credential" in far.fail("bootstrap", "far", "far").error
    token = _token(lxd)
    for wrong, said in {
        "abc": "the text is not a trust token of LXD",
        _changed(token, secret="00"): "refuses the trust token",
        _changed(token, fingerprint="00"): "is not the server that issued the trust token",
    }.items():
        refused = far.fail("add-credential", "far", "-f", _file(tmp_path, wrong))
        assert said in refused.error
        assert "lxc config trust add" in refused.error
        assert wrong not in refused.error
    far.run("add-credential", "far", "-f", _file(tmp_path, token))
    far.run("bootstrap", "far", "far")
    far.run("add-model", "m")
    for certificate in json.loads(lxd.command("lxc", "config", "trust", "list", "--format", "json")):
        lxd.command("lxc", "config", "trust", "remove", certificate["fingerprint"])
    refused = far.fail("add-machine", *BASE)
    assert refused.error.startswith("ERROR cloud far refuses the credential")
    assert "pushjuju update-credential far" in refused.error
    far.run("update-credential", "far", "me", "-f", _file(tmp_path, _token(lxd)))
    far.run("add-machine", *BASE)
    assert far.status()["machines"]["0"]["juju-status"]["current"] == "started"
    lxd.command("lxc", "config", "unset", "core.https_address")
    down = far.fail("add-machine", *BASE)
    assert down.error == f"ERROR the LXD server of far does not answer\n{PLACE}: Connection refused\n"
    lxd.command("lxc", "config", "set", "core.https_address", PLACE)


@contextlib.contextmanager
def _project(lxd: Lxd, name: str) -> Iterator[None]:
    lxd.command("lxc", "project", "create", name)
    yield
    for image in json.loads(lxd.command("lxc", "image", "list", "--project", name, "--format", "json")):
        lxd.command("lxc", "image", "delete", image["fingerprint"], "--project", name)
    for device in ("eth0", "root"):
        lxd.command("lxc", "profile", "device", "remove", "default", device, "--project", name)
    lxd.command("lxc", "project", "delete", name)


def test_a_project_of_its_own(lxd: Lxd, far: Client, tmp_path: Path) -> None:
    """With images, profiles and volumes of its own; what is missing is said with the way out."""
    far.run("add-credential", "far", "-f", _file(tmp_path, _token(lxd)))
    far.run("bootstrap", "far", "far")
    asked = ("add-model", "m", "--config", "project=pjtest")
    assert far.fail(*asked).error == (
        'ERROR the LXD server of far has no project "pjtest"\nlxc project create pjtest\n'
    )
    in_it = ("--project", "pjtest")
    with _project(lxd, "pjtest"):
        far.run(*asked)
        hint = f"lxc image import FILES --alias {ALIAS} --project pjtest"
        assert hint in far.fail("add-machine", *BASE).error
        lxd.command("lxc", "image", "copy", ALIAS, "local:", "--target-project", "pjtest", "--copy-aliases")
        assert "No root device could be found" in far.fail("add-machine", *BASE).error
        device = ("lxc", "profile", "device", "add", "default")
        lxd.command(*device, "root", "disk", "path=/", "pool=default", *in_it)
        lxd.command(*device, "eth0", "nic", "name=eth0", f"network={BRIDGE}", *in_it)
        wrong = far.fail("add-machine", *BASE, "--constraints", "root-disk-source=nope")
        assert "valid values are: [default" in wrong.error
        storage = {"data": {"type": "filesystem", "location": "/srv/data"}}
        charm = small_charm(tmp_path / "st", "$(findmnt -n -o SOURCE /srv/data)", storage=storage)
        (charm / "lxd-profile.yaml").write_text("config: {environment.FOO: bar}\n")
        driver = json.loads(lxd.command("lxc", "query", "/1.0/storage-pools/default"))["driver"]
        far.run("create-storage-pool", "pjp", "lxd", "lxd-pool=default", f"driver={driver}")
        far.run("retry-provisioning", "0")
        far.run("deploy", charm, "st", "--to", "0", *BASE, "--storage", "data=pjp,64M", limit=300)
        assert far.units("st")["st/0"]["workload-status"]["current"] == "active"
        (shown,) = far.json("show-machine", "0")["machines"]["0"]["lxd-profiles"]
        assert shown == "juju-m-st-0"
        far.run("destroy-model", "m", "--no-prompt", "--destroy-storage", limit=300)
