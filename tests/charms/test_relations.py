"""Applications that know each other, on real machines: what their charms see, and in which order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.charms.client import Client
from tests.charms.recorder import Recording, Seen, charm

pytestmark = pytest.mark.machine
FULL = ["created", "joined", "changed"]


def of(seen: list[Seen], unit: str, endpoint: str = "") -> list[str]:
    """Return the hooks of a unit in their order, of an endpoint by their last words."""
    if not endpoint:
        return [item.hook for item in seen if item.unit == unit]
    start = f"{endpoint}-relation-"
    return [
        item.hook.removeprefix(start) for item in seen if item.unit == unit and item.hook.startswith(start)
    ]


def meetings(seen: list[Seen], hook: str) -> Counter[tuple[str, str]]:
    """Count who saw whom in a hook."""
    return Counter((item.unit, item.remote) for item in seen if item.hook == hook)


@pytest.fixture
def recording(client: Client) -> Recording:
    """A person with a model, who is not asked before removals."""
    client.run("bootstrap", "local", "here", "--add-model", "town", "--model-default", "mode=")
    return Recording(client)


def test_a_cluster_of_five(recording: Recording) -> None:
    """Everybody meets everybody; the leader leaves and another is elected; a sixth comes; all go."""
    client = recording.client
    client.run("add-machine", "-n", "2")
    recording.deploy("store", 0, 1, 0, 1, 0)
    client.check_at_rest()
    seen = recording.news()
    units = {f"store/{number}" for number in range(5)}
    pairs = {(one, two) for one in units for two in units if one != two}
    assert meetings(seen, "ring-relation-joined") == dict.fromkeys(pairs, 1)
    assert [item.hook for item in seen].count("leader-elected") == 1
    for unit in units:
        hooks = of(seen, unit)
        assert hooks[:2] == ["install", "ring-relation-created"]
        assert hooks[3:5] == ["config-changed", "start"]
    first = client.leader("store")
    elected = [item.unit for item in seen if item.hook == "leader-elected"]
    assert elected == [first]
    told = {
        item.remote: item.settings for item in seen if item.hook == "ring-relation-changed" and item.remote
    }
    assert {unit: (told[unit] or {}).get("name") for unit in units} == {unit: unit for unit in units}

    client.run("remove-unit", first)
    seen = recording.news()
    assert of(seen, first) == ["ring-relation-departed"] * 4 + ["stop", "remove"]
    assert {item.departing for item in seen if item.unit == first and item.departing} == {first}
    left = units - {first}
    assert {pair: n for pair, n in meetings(seen, "ring-relation-departed").items() if pair[0] != first} == {
        (unit, first): 1 for unit in left
    }
    second = client.leader("store")
    assert [item.unit for item in seen if item.hook == "leader-elected"] == [second]
    assert second in left

    client.run("add-unit", "store", "--to", "1")
    client.check_at_rest()
    seen = recording.news()
    assert meetings(seen, "ring-relation-joined") == {
        **{("store/5", unit): 1 for unit in left},
        **{(unit, "store/5"): 1 for unit in left},
    }

    client.run("remove-application", "store")
    seen = recording.news()
    for unit in (*left, "store/5"):
        assert of(seen, unit)[-2:] == ["stop", "remove"]
        assert "broken" not in of(seen, unit, "ring")
    assert all(not track.members for track in recording.witness.tracks.values())
    status = client.status()
    assert (status["applications"], status["machines"]) == ({}, {})


def test_three_require_of_three(recording: Recording) -> None:
    """A relation is made, scaled, ended, made again; its provider goes while related; then the model goes."""
    client = recording.client
    client.run("add-machine", "-n", "3")
    recording.deploy("store", 0, 1, 2)
    recording.deploy("front", 0, 1, 2)
    recording.news()
    stores, fronts = ({f"{name}/{n}" for n in range(3)} for name in ("store", "front"))

    client.run("integrate", "front", "store")
    client.check_at_rest()
    seen = recording.news()
    wanted = {(one, two): 1 for one in fronts for two in stores}
    assert meetings(seen, "db-relation-joined") == wanted
    assert meetings(seen, "server-relation-joined") == {(two, one): 1 for one, two in wanted}
    assert all(of(seen, unit, "db")[0] == "created" for unit in fronts)
    assert "store:server front:db sql regular" in client.relation_rows()
    heard = [
        item.settings for item in seen if item.hook == "db-relation-changed" and item.remote == "store/1"
    ]
    assert heard[-1] is not None
    assert heard[-1]["name"] == "store/1"
    assert {"private-address", "ingress-address", "egress-subnets", "met"} <= set(heard[-1])

    client.run("add-unit", "front", "--to", "1")
    seen = recording.news()
    assert meetings(seen, "server-relation-joined") == {(unit, "front/3"): 1 for unit in stores}
    assert of(seen, "front/3", "db")[0] == "created"
    assert sorted(of(seen, "front/3", "db")[1:7]) == ["changed"] * 3 + ["joined"] * 3

    leader = client.leader("store")
    client.run("remove-unit", leader)
    seen = recording.news()
    assert of(seen, leader, "server") == ["departed"] * 4 + ["broken"]
    assert meetings(seen, "db-relation-departed") == {(f"front/{n}", leader): 1 for n in range(4)}
    assert client.leader("store") != leader
    assert "leader-elected" in of(seen, client.leader("store"))

    client.run("remove-unit", "front/3")
    seen = recording.news()
    assert of(seen, "front/3", "db") == ["departed", "departed", "broken"]
    assert of(seen, "front/3")[-2:] == ["stop", "remove"]

    client.run("remove-relation", "front", "store")
    seen = recording.news()
    for unit in fronts:
        assert of(seen, unit, "db") == ["departed", "departed", "broken"]
    for unit in stores - {leader}:
        assert of(seen, unit, "server") == ["departed"] * 3 + ["broken"]
    assert {item.ids for item in seen if item.hook.endswith("-broken")} == {()}
    assert {item.departing for item in seen if item.unit == "front/0" and item.departing} == stores - {leader}
    assert not any("front:db" in row for row in client.relation_rows())

    client.run("integrate", "front:db", "store:server")
    client.check_at_rest()
    seen = recording.news()
    assert {item.relation for item in seen if item.hook.startswith("db-relation")} == {3}
    assert len(meetings(seen, "db-relation-joined")) == 6

    client.run("remove-application", "store")
    seen = recording.news()
    assert list(client.status()["applications"]) == ["front"]
    for unit in fronts:
        assert of(seen, unit, "db") == ["departed", "departed", "broken"]
    for unit in stores - {leader}:
        assert of(seen, unit)[-3:] == ["server-relation-broken", "stop", "remove"]
        assert {item.departing for item in seen if item.unit == unit and item.departing} == {unit}
    assert not [
        track for (unit, _), track in recording.witness.tracks.items() if unit in stores and track.members
    ]
    done = client.try_run("destroy-model", "town", "--no-prompt")
    assert done.stderr.endswith("Model destroyed.\n"), str(done)
    assert not [path for folder in client.machine_folders() for path in folder.glob("local/machines/*")]


def test_subordinates(recording: Recording) -> None:
    """They come with their principals, see only these, and go with them or with their last relation."""
    client = recording.client
    client.run("add-machine", "-n", "2")
    recording.deploy("front", 0, 1)
    recording.deploy("agent")
    assert recording.news()[0].hook == "install"
    client.run("integrate", "agent:access", "front")
    client.check_at_rest()
    seen = recording.news()
    homes = _principals(client)
    assert sorted(homes) == ["agent/0", "agent/1"]
    assert set(homes.values()) == {"front/0", "front/1"}
    for unit, principal in homes.items():
        assert meetings(seen, "access-relation-joined")[unit, principal] == 1
        assert meetings(seen, "site-relation-joined")[principal, unit] == 1
        assert of(seen, unit)[:3] == ["install", "mates-relation-created", "access-relation-created"]
        members = {item.members for item in seen if item.unit == unit and item.hook.startswith("access")}
        assert members == {(), (principal,)}
    assert len(meetings(seen, "access-relation-joined")) == 2
    assert "front:site agent:access http subordinate" in client.relation_rows()
    table = client.run("status")
    assert f"\n  {next(iter(homes))}" in table.replace("*", "")

    client.run("integrate", "agent:host", "front")
    seen = recording.news()
    for unit, principal in homes.items():
        assert of(seen, unit, "host") == FULL
        assert not [item for item in seen if item.unit == principal]
    client.run("remove-relation", "agent:access", "front")
    seen = recording.news()
    assert sorted(_principals(client)) == sorted(homes), "the other relation keeps them"
    for unit, principal in homes.items():
        assert of(seen, unit) == ["access-relation-departed", "access-relation-broken"]
        assert of(seen, principal) == ["site-relation-departed", "site-relation-broken"]
    assert client.fail("remove-unit", "agent/0").error.startswith(
        'ERROR removing unit agent/0 failed: unit "agent/0" is a subordinate, to remove use remove-relation.'
    )

    client.run("remove-unit", "front/0")
    seen = recording.news()
    gone = next(unit for unit, principal in homes.items() if principal == "front/0")
    assert of(seen, gone)[-2:] == of(seen, "front/0")[-2:] == ["stop", "remove"]
    assert of(seen, gone, "host") == ["departed", "broken"]
    assert list(_principals(client).values()) == ["front/1"]
    assert list(client.status()["machines"]) == ["1"]

    client.run("remove-relation", "agent", "front")
    assert _principals(client) == {}
    assert set(client.status()["applications"]) == {"agent", "front"}
    client.run("integrate", "agent:access", "front")
    seen = recording.news()
    assert _principals(client) == {"agent/2": "front/1"}
    assert of(seen, "agent/2", "access")[:3] == FULL
    assert not _files_of(client, "1", gone)
    client.run("destroy-model", "town", "--no-prompt")
    assert client.models() == []


def _principals(client: Client) -> dict[str, str]:
    """Return subordinate unit -> its principal."""
    units = client.status()["applications"]["front"]["units"]
    return {name: principal for principal, unit in units.items() for name in unit.get("subordinates", {})}


def _files_of(client: Client, machine: str, unit: str) -> str:
    """Return what a machine still has of a unit that left."""
    name = unit.replace("/", "-")
    return client.on(machine, f"ls -d /var/lib/juju/*/unit-{name} 2>/dev/null || true")


def test_what_a_person_is_told(recording: Recording, tmp_path: Path) -> None:
    """Refusals, suspension, a forced end of a relation whose hooks fail."""
    client = recording.client
    client.run("add-machine", "-n", "1")
    recording.deploy("store", 0)
    recording.deploy("front", 0)
    client.run("integrate", "front", "store")
    done = client.fail("integrate", "front", "store")
    assert done.error == (
        'ERROR cannot add relation "front:db store:server"\n'
        "relation front:db store:server (already exists):\n\n"
        "Use 'pushjuju status --relations' to view the current relations.\n"
    )
    client.fail("integrate", "front", "store", "nothing", rc=2)
    recording.news()
    client.run("suspend-relation", "2", "--message", "maintenance window")
    assert "store:server front:db sql regular suspended maintenance window" in client.relation_rows()
    seen = recording.news()
    assert of(seen, "front/0") == ["db-relation-departed", "db-relation-broken"]
    client.run("resume-relation", "2")
    assert of(recording.news(), "front/0", "db")[:3] == FULL
    client.run("remove-relation", "2", "--force", "--no-wait")
    assert not any("front:db" in row for row in client.relation_rows())
    recording.news()


_HARD_DATA = r"""#!/bin/bash
set -eu
name=${JUJU_DISPATCH_PATH#hooks/}
case $name in
  start) status-set active ;;
  server-relation-created)
    relation-set --app shared=whole
    { printf 'big: '; head -c 300000 /dev/zero | tr '\0' x; } > /tmp/data
    printf '\na.b c: dotted\n"\xc3\xa4": "\xc3\xbc"\n' >> /tmp/data
    relation-set --file /tmp/data
    relation-set 'spaced key= v w ' "latin=$(printf 'caf\xe9')" "empty=" ;;
  server-relation-joined)
    relation-set --app shared=half
    relation-set mine=half
    [ ! -e /etc/fails ] || exit 3
    relation-set --app shared=done ;;
  db-relation-changed)
    [ -n "$JUJU_REMOTE_UNIT" ] || exit 0
    get() { relation-get "$1" "$JUJU_REMOTE_UNIT"; }
    juju-log "read $(get big | wc -c)|$(get 'a.b c')|$(get 'spaced key')|$(get ä)|$(get empty)|$(get mine)|\
$(relation-get --app shared "$JUJU_REMOTE_UNIT")|$(get latin | od -An -tx1 | tr -d ' ')" ;;
esac
"""


def test_hard_data(recording: Recording) -> None:
    """Much data, keys with dots and spaces, bytes that are no text; a hook that fails changes nothing."""
    client = recording.client
    client.run("add-machine", "-n", "2")
    for machine, name in enumerate(("store", "front")):
        tree = charm(client.work, name)
        (tree / "dispatch").write_text(_HARD_DATA)
        client.run("deploy", tree, "--to", str(machine))
    client.run("model-config", "automatically-retry-hooks=false")
    client.on("0", "touch /etc/fails")
    done = client.fail("integrate", "front", "store")
    assert 'hook failed: "server-relation-joined"' in done.error
    assert _read(client)[-1] == "300001|dotted|v w|ü|||whole|636166efbfbd0a"
    client.on("0", "rm /etc/fails")
    client.run("resolved", "store/0")
    assert _read(client)[-1] == "300001|dotted|v w|ü||half|done|636166efbfbd0a"
    shown = client.json("show-unit", "front/0")["front/0"]["relation-info"]
    data = next(item for item in shown if item["endpoint"] == "db")
    assert data["application-data"] == {"shared": "done"}
    assert data["related-units"]["store/0"]["data"]["a.b c"] == "dotted"


def _read(client: Client) -> list[str]:
    return [
        line.partition("read ")[2] for line in client.log("front/0") if " read " in line or ": read " in line
    ]
