"""Charms on a real LXD, from the command line (`make lxd`)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import jubilant
import pytest

from tests.charms.client import PUSHJUJU, Client
from tests.charms.recorder import charm, check, recorded
from tests.charms.test_ops_relation import Juju, _upstream
from tests.charms_tools.packing import ops_charm
from tests.lxd.conftest import person
from tests.lxd.server import Lxd

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = [pytest.mark.lxd, pytest.mark.timeout(900)]


@pytest.fixture
def client(lxd: Lxd, tmp_path: Path) -> Iterator[Client]:
    """A controller on the cloud `localhost`; its models go with the test."""
    with person(lxd, tmp_path) as made:
        yield made


@pytest.mark.usefixtures("ubuntu")
def test_the_relation_test_of_ops(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As its authors wrote it: three units of the charm, three and two of counterparts, a container each."""
    for name, value in client.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PUSHJUJU_WAIT", "0")
    monkeypatch.setenv("PATH", f"{client.work}/bin:{PUSHJUJU.parent}:{os.environ['PATH']}")
    archive = str(ops_charm("test_relation"))
    with jubilant.temp_model() as juju:
        juju.wait_timeout = 600
        _upstream().test_relation_units(lambda: archive, Juju(juju, charm(tmp_path, "any-charm")))
        client.run("switch", str(juju.model))
        client.until(lambda: jubilant.all_agents_idle(juju.status()), limit=120)
        check(recorded(client))
        status = juju.status()
        assert len(status.machines) == 8
        assert {item.instance_id.split("-")[0] for item in status.machines.values()} == {"juju"}


PROFILE = "config: {{environment.FOO: bar}}\ndevices: {{x: {{path: {0}, source: {1}, type: unix-char}}}}\n"


def _profiled(folder: Path) -> Path:
    """A charm that looks at the device of its profile before anything else."""
    (folder / "hooks").mkdir(parents=True)
    (folder / "metadata.yaml").write_text("name: prof\nsummary: s\ndescription: d\n")
    bases = [{"name": "debian", "channel": "12", "architectures": ["amd64"]}]
    (folder / "manifest.yaml").write_text(json.dumps({"bases": bases}))
    for hook, device in {"install": "/dev/pjfull", "upgrade-charm": "/dev/pjzero"}.items():
        path = folder / "hooks" / hook
        path.write_text(f'#!/bin/sh\nset -e\nstatus-set active "$(ls {device}) at {hook}"\n')
        path.chmod(0o755)
    return folder


def test_the_profile_of_a_charm_is_there_before_its_hooks(lxd: Lxd, client: Client, tmp_path: Path) -> None:
    """At install and, as that of the new revision, at upgrade-charm; unused ones go."""
    folder = _profiled(tmp_path / "prof")
    (folder / "lxd-profile.yaml").write_text(PROFILE.format("/dev/pjfull", "/dev/full"))
    client.run("add-model", "m")
    client.run("deploy", folder, "prof", "--base", "debian@12", limit=300)
    unit = client.units("prof")["prof/0"]
    assert unit["workload-status"]["message"] == "/dev/pjfull at install"
    (shown,) = client.json("show-machine", "0")["machines"]["0"]["lxd-profiles"]
    assert shown == "juju-m-prof-0"
    (folder / "lxd-profile.yaml").write_text(PROFILE.format("/dev/pjzero", "/dev/zero"))
    client.run("refresh", "prof", "--path", folder)
    assert client.units("prof")["prof/0"]["workload-status"]["message"] == "/dev/pjzero at upgrade-charm"
    assert [name.rpartition("/")[2] for name in lxd.names() if "-prof-" in name] == ["juju-m-prof-1"]
    (folder / "lxd-profile.yaml").write_text("config: {limits.memory: 1GiB}\n")
    refused = client.fail("refresh", "prof", "--path", folder)
    assert 'invalid lxd-profile.yaml: contains config value "limits.memory"' in refused.error
    client.run("refresh", "prof", "--path", folder, "--force")
    client.run("remove-application", "prof", "--no-prompt")
    assert [name for name in lxd.names() if "-prof-" in name] == []
