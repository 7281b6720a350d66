"""A real ops charm on real machines, from `deploy` to `destroy-model`, through the program itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.charms.client import Client
from tests.charms_tools.packing import ops_charm

pytestmark = pytest.mark.machine

APP = "test-relation"
CHARM_DIR = "/var/lib/juju/agents/unit-test-relation-{}/charm"
JOINED, CHANGED, DEPARTED = (f"peer-relation-{word}" for word in ("joined", "changed", "departed"))
Hooks = dict[str, list[str]]


def test_the_life_of_an_ops_charm(client: Client) -> None:
    """Three units come, a fourth joins, all are refreshed, the leader leaves, then everything goes."""
    archive = ops_charm("test_relation")
    client.run("deploy", archive, "-n", "3")
    leader = _check_rest(client, 0, 1, 2)
    hooks = client.hooks()
    _check_first_hooks(hooks, leader)
    _check_files(client)

    _configure(client)
    hooks = client.hooks()
    client.run("add-unit", APP)
    _check_rest(client, 0, 1, 2, 3)
    met = _new(client, hooks)
    assert Counter(met.pop(f"{APP}/3"))[JOINED] == 3
    assert met == {f"{APP}/{number}": [JOINED, CHANGED] for number in range(3)}

    hooks = client.hooks()
    done = client.try_run("refresh", APP, "--path", archive)
    assert done.rc == 0, str(done)
    assert 'Added local charm "test-relation", revision 1, to the model' in done.stderr
    leader = _check_rest(client, 0, 1, 2, 3)
    assert client.status()["applications"][APP]["charm-rev"] == 1
    assert client.on(f"{APP}/2", f"cat {CHARM_DIR.format(2)}/revision") == "1"
    for ran in _new(client, hooks).values():
        assert [hook for hook in ran if hook != "leader-settings-changed"] == [
            "upgrade-charm",
            "config-changed",
        ]

    left = _remove_leader(client, leader)
    told = client.run("remove-application", APP, "--no-prompt")
    assert told.splitlines() == [
        f"will remove application {APP}",
        *(f"- will remove unit {APP}/{number}" for number in left),
    ]
    status = client.status()
    assert (status["applications"], status["machines"]) == ({}, {})
    assert _machine_folders(client) == []

    client.run("deploy", archive)
    _check_rest(client, 4)
    done = client.try_run("destroy-model", "default", "--no-prompt")
    assert done.rc == 0, str(done)
    assert done.stderr.startswith("Destroying model\nWaiting for model to be removed, 1 machine(s), 1 appl")
    assert done.stderr.endswith("Model destroyed.\n")
    assert client.models() == []
    assert client.fail("status").error.startswith("ERROR No model in focus.\n")
    assert _machine_folders(client) == []


def _check_rest(client: Client, *numbers: int) -> str:
    """Check that exactly these units are active and idle, each on its machine; return the leader."""
    status = client.status()
    application = status["applications"][APP]
    assert application["application-status"]["current"] == "active"
    found = {
        name: (unit["workload-status"]["current"], unit["juju-status"]["current"], unit["machine"])
        for name, unit in application["units"].items()
    }
    assert found == {f"{APP}/{number}": ("active", "idle", str(number)) for number in numbers}
    assert {name: machine["juju-status"]["current"] for name, machine in status["machines"].items()} == {
        str(number): "started" for number in numbers
    }
    (leader,) = (name for name, unit in application["units"].items() if unit.get("leader"))
    return str(leader)


def _check_first_hooks(hooks: Hooks, leader: str) -> None:
    """Check the order of hooks of three units that came together: peers meet after `start`."""
    assert set(hooks) == {f"{APP}/{number}" for number in range(3)}
    for unit, ran in hooks.items():
        third = "leader-elected" if unit == leader else "leader-settings-changed"
        before = ["install", "peer-relation-created", third, "config-changed", "start"]
        assert ran[:5] == before, ran
        met = [hook for hook in ran[5:] if hook != "leader-settings-changed"]
        assert met[:2] == [JOINED, CHANGED]
        assert Counter(met) == {JOINED: 2, CHANGED: 2}


def _check_files(client: Client) -> None:
    """Check what the unit has on its machine, and that nothing of ours works there between pushes."""
    listing = client.on(
        f"{APP}/1", f"cat {CHARM_DIR.format(1)}/revision; echo; ls /var/lib/juju/tools/unit-{APP}-1"
    )
    revision, *tools = listing.split()
    assert revision == "0"
    assert {"status-set", "relation-get", "config-get"} <= set(tools)
    client.until(lambda: "python" not in client.on(f"{APP}/1", "ps -e -o comm="))


def _configure(client: Client) -> None:
    """Set what a charm without options has: trust."""
    assert client.json("config", APP)["settings"] == {}
    done = client.fail("config", APP, "colour=blue")
    assert done.error == 'ERROR parsing settings for application: unknown option "colour"\n'
    hooks = client.hooks()
    client.run("config", APP, "trust=true")
    assert client.json("config", APP)["application-config"]["trust"]["value"] is True
    assert _new(client, hooks) == {f"{APP}/{number}": ["config-changed"] for number in range(3)}


def _remove_leader(client: Client, leader: str) -> list[int]:
    """Remove the leading unit; another one leads at once. Return the numbers of those that are left."""
    hooks = client.hooks()
    assert client.run("remove-unit", leader, "--no-prompt") == f"will remove unit {leader}\n"
    left = [number for number in range(4) if f"{APP}/{number}" != leader]
    next_leader = _check_rest(client, *left)
    ran = _new(client, hooks)
    assert ran.pop(leader) == [DEPARTED] * 3 + ["stop", "remove"]
    for unit, heard in ran.items():
        assert Counter(heard)[DEPARTED] == 1, unit
        assert ("leader-elected" in heard) is (unit == next_leader)
        assert "peer-relation-broken" not in heard
    number = leader.rpartition("/")[2]
    assert not [path for path in _machine_folders(client) if path.name.endswith(f"-{number}")]
    return left


def _new(client: Client, before: Hooks) -> Hooks:
    """Return the hooks that ran since, of each unit."""
    now = client.hooks()
    return {unit: ran[len(before.get(unit, ())) :] for unit, ran in now.items()}


def _machine_folders(client: Client) -> list[Path]:
    return [path for root in client.machine_folders() for path in root.glob("local/machines/*")]
