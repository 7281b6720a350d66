"""Containers inside machines: LXD comes to the machine first (`make lxd`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pushjuju.testing.machines import local_cloud  # noqa: F401
from tests.charms.client import Client
from tests.charms.conftest import client  # noqa: F401
from tests.lxd.charms import small_charm
from tests.lxd.cluster import Cluster
from tests.lxd.conftest import CACHE, person
from tests.lxd.server import ALIAS, metadata, root_file_system

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = [pytest.mark.lxd, pytest.mark.timeout(900)]

# LXD takes a network for used when something in it answers: where a proxy answers for all, it looks long.
_NOBODY = "ip rule add to 10.0.0.0/8 ipproto tcp dport 22 prohibit"


def _first_container(client: Client, tmp_path: Path) -> None:  # noqa: F811
    """From a machine without LXD to a unit in a container inside of it, and back."""
    client.run("add-model", "m")
    client.run("add-machine", "--base", "debian@12")
    client.on("0", _NOBODY)
    charm = small_charm(tmp_path / "inner", "on $(hostname)")
    refused = client.fail("deploy", charm, "inner", "--to", "lxd:0", "--base", "debian@12", limit=600)
    if "no package source has one" in refused.stderr:
        pytest.skip("the machine has no archive with a package of LXD")
    assert f'no image for base debian@12 on amd64: the LXD server has no alias "{ALIAS}"' in refused.error
    assert "pushjuju retry-provisioning 0/lxd/0" in refused.error
    client.run("scp", metadata(tmp_path), root_file_system(CACHE), "0:/tmp/")
    client.on("0", f"cd /tmp && lxc image import metadata.tar lxd-debian12.tar --alias {ALIAS}")
    client.run("retry-provisioning", "0/lxd/0", limit=600)
    unit = client.units("inner")["inner/0"]
    name = client.status()["machines"]["0"]["containers"]["0/lxd/0"]["instance-id"]
    assert unit["workload-status"]["message"] == f"on {name}"
    assert name in client.on("0", "lxc list --format csv -c n")
    client.run("remove-application", "inner", "--no-prompt", limit=300)
    left = client.on("0", "lxc list --format csv -c n; lxc profile list --format csv")
    assert left.strip() == "default,Default LXD profile,0"
    assert list(client.status()["machines"]) == ["0"]


def test_in_a_machine_of_this_computer(client: Client, tmp_path: Path) -> None:  # noqa: F811
    client.run("bootstrap", "local", "here")
    _first_container(client, tmp_path)
    client.run("destroy-model", "m", "--no-prompt", limit=300)


@pytest.fixture
def on_cluster(cluster: Cluster, tmp_path: Path) -> Iterator[Client]:
    with person(cluster.one, tmp_path) as made:
        yield made


def test_in_a_container(on_cluster: Client, tmp_path: Path) -> None:
    _first_container(on_cluster, tmp_path)
