"""One model with machines of three kinds: made on this computer, taken in, and containers (`make lxd`)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.testing.machines import local_cloud  # noqa: F401
from tests.charms import recorder
from tests.charms.client import Client
from tests.charms.conftest import client  # noqa: F401
from tests.lxd.conftest import LxdBench
from tests.lxd.server import Lxd

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = [pytest.mark.lxd, pytest.mark.timeout(900)]
BUNDLE = {
    "machines": {"0": {}, "1": {}},
    "applications": {
        "store": {"charm": "./store", "base": "debian@12", "num_units": 1, "to": ["1"]},
        "front": {"charm": "./front", "base": "ubuntu@24.04", "num_units": 2, "to": ["0", "lxd:1"]},
    },
    "relations": [["front:db", "store:server"]],
}


@pytest.fixture
def given(lxd: Lxd, tmp_path: Path) -> Iterator[SSHTarget]:
    """A machine that somebody has, whose LXD is the test's: nested ones do not start everywhere."""
    bench = LxdBench(lxd, tmp_path)
    provider = bench.open()
    started = asyncio.run(provider.start(bench.request("0")))
    target = asyncio.run(provider.ssh_target(started.instance))
    asyncio.run(bench.run(target, "true"))
    socket = ("connect=unix:" + str(lxd.socket), "listen=unix:/var/lib/lxd/unix.socket", "bind=instance")
    lxd.command("lxc", "exec", started.instance.id, "--", "mkdir", "-p", "/var/lib/lxd")
    device = ("lxc", "config", "device", "add", started.instance.id, "lxd", "proxy")
    lxd.command(*device, *socket, "uid=0", "gid=0", "mode=0600")
    yield target
    asyncio.run(bench.open().destroy_model())
    assert lxd.names() == []


@pytest.mark.usefixtures("ubuntu")
def test_a_bundle_on_local_given_and_lxd_machines(
    given: SSHTarget,
    client: Client,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two related applications to active; all of it goes again."""
    bases = {"debian": "12", "ubuntu": "24.04"}
    listed = [{"name": name, "channel": track, "architectures": ["all"]} for name, track in bases.items()]
    monkeypatch.setattr(recorder, "_BASES", listed)
    for name in ("store", "front"):
        recorder.charm(tmp_path, name)
    (tmp_path / "bundle.yaml").write_text(json.dumps(BUNDLE))
    client.run("bootstrap", "local", "here")
    client.run("add-model", "mixed")
    client.run("add-machine", "--base", "ubuntu@24.04")
    client.run("add-machine", f"ssh:ubuntu@{given.host}", "--private-key", tmp_path / "id")
    client.run("deploy", tmp_path / "bundle.yaml", "--map-machines=existing", limit=600)
    machines = client.status()["machines"]
    assert [machines["0"]["instance-id"][:5], machines["1"]["instance-id"][:7]] == ["juju-", "manual:"]
    (inner,) = machines["1"]["containers"].values()
    assert (inner["juju-status"]["current"], inner["instance-id"][-8:]) == ("started", "-1-lxd-0")
    front, store = client.units("front"), client.units("store")
    assert [front[name]["machine"] for name in sorted(front)] == ["0", "1/lxd/0"]
    for unit in (*front.values(), *store.values()):
        assert unit["juju-status"]["current"] == "idle"
    recorder.check(recorder.recorded(client))
    assert inner["hostname"] in client.run("ssh", "1/lxd/0", "hostname")
    client.run("destroy-model", "mixed", "--no-prompt", limit=300)
