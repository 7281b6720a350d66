"""A real cluster of two members: zones, placement, storage, and a member that is down (`make lxd`)."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.charms.client import Client
from tests.lxd.charms import small_charm
from tests.lxd.cluster import Cluster
from tests.lxd.conftest import person

pytest.importorskip("pylxd", reason="the provider of LXD needs pylxd")
pytestmark = [pytest.mark.lxd, pytest.mark.timeout(600)]


@pytest.fixture
def client(cluster: Cluster, tmp_path: Path) -> Iterator[Client]:
    with person(cluster.one, tmp_path) as made:
        yield made


def _zones(client: Client) -> dict[str, str]:
    machines = client.status()["machines"]
    words = {name: item["hardware"].split() for name, item in machines.items()}
    return {
        name: word.partition("=")[2]
        for name, found in words.items()
        for word in found
        if word.startswith("availability-zone=")
    }


def test_members_are_zones_and_storage_is_on_each(cluster: Cluster, client: Client, tmp_path: Path) -> None:
    storage = {"data": {"type": "filesystem", "location": "/srv/data"}}
    charm = small_charm(tmp_path / "st", "$(findmnt -n -o FSTYPE /srv/data)", storage=storage)
    client.run("add-model", "m")
    pool = ("pjb", "lxd", "driver=btrfs", "lxd-pool=pjb", "size=1GiB")
    client.run("create-storage-pool", *pool)
    client.run("deploy", charm, "st", "-n", "2", "--storage", "data=pjb,100M", limit=300)
    for unit in client.units("st").values():
        assert unit["workload-status"] | {"since": ""} == {
            "current": "active",
            "message": "btrfs",
            "since": "",
        }
    assert sorted(_zones(client).values()) == ["one", "two"]
    seen = json.loads(cluster.one.command("lxc", "query", "/1.0/storage-pools/pjb"))
    assert sorted(seen["locations"]) == ["one", "two"]
    client.run("add-machine", "zone=two", "--base", "debian@12")
    assert _zones(client)["2"] == "two"
    refused = client.fail("add-machine", "zone=three", "--base", "debian@12")
    assert refused.error.startswith('ERROR availability zone "three" not valid\nzones: one, two')
    client.run("destroy-model", "m", "--no-prompt", "--destroy-storage", limit=300)
    cluster.one.command("lxc", "storage", "delete", "pjb")


def test_machines_on_a_member_that_is_down_are_not_taken_for_gone(cluster: Cluster, client: Client) -> None:
    """LXD then tells their names only."""
    cluster.one.command("lxc", "config", "set", "cluster.offline_threshold", "11")
    client.run("add-model", "m")
    client.run("add-machine", "zone=two", "--base", "debian@12")
    client.run("add-machine", "zone=one", "--base", "debian@12")
    os.kill(cluster.two.pid, signal.SIGSTOP)
    try:
        client.until(lambda: "OFFLINE" in cluster.one.command("lxc", "cluster", "list"), limit=90)
        failed = client.fail("remove-machine", "0", "--no-prompt")
        assert "is not reached: cluster member two does not answer" in failed.error
        assert "0" in client.status()["machines"]
        client.run("remove-machine", "1", "--no-prompt")  # the rest of the cluster works
        nowhere = client.fail("add-machine", "zone=two", "--base", "debian@12")
        assert "suitable availability zone for machine 2 not found" in nowhere.error
    finally:
        os.kill(cluster.two.pid, signal.SIGCONT)
    client.until(lambda: "OFFLINE" not in cluster.one.command("lxc", "cluster", "list"), limit=90)

    def gone() -> bool:
        client.run("update-status")  # as cron does
        return "0" not in client.status()["machines"]

    client.until(gone, limit=120)
