"""Addresses, spaces and bindings on a real machine with two networks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.charms import prober
from tests.charms.client import Client
from tests.charms.prober import runs

pytestmark = pytest.mark.machine
INNER, INNER_NET = "192.168.233.5", "192.168.233.0/24"
NIC = "eth0"
EXTRA = {"extra-bindings": {"admin": None}}


def network(client: Client, unit: str, *words: str) -> Any:
    """Call network-get in a unit's context; an error comes as text."""
    done = client.try_run(
        "exec", "--unit", unit, "--format", "json", "--", "network-get", "--format", "json", *words
    )
    results = json.loads(done.stdout)[unit]["results"]
    return json.loads(results["stdout"]) if results["return-code"] == 0 else results["stderr"]


def hooks(client: Client, unit: str) -> list[str]:
    """Return the hooks that ran since the last look."""
    return [run.name for run in runs(client, "0")[unit]]


def bag(client: Client, unit: str) -> dict[str, str]:
    """Return what a unit says in its relation with the others of its application."""
    (relation,) = client.json("show-unit", unit)[unit]["relation-info"]
    found: dict[str, str] = relation["local-unit"]["data"]
    return found


def test_two_networks(client: Client, tmp_path: Path) -> None:
    tree = prober.charm(tmp_path, **EXTRA)
    client.run("deploy", tree, "one")
    outer = network(client, "one/0", "up", "--ingress-address")
    client.on("0", f"ip addr add {INNER}/24 dev {NIC}")
    before = len(hooks(client, "one/0"))
    client.run("reload-spaces")
    assert hooks(client, "one/0")[before:] == ["config-changed"]
    (device,) = network(client, "one/0", "up")["bind-addresses"]
    assert {address["value"] for address in device["addresses"]} == {outer, INNER}
    found = client.json("subnets")["subnets"]
    assert found[INNER_NET] == {"type": "ipv4", "status": "in-use", "space": "alpha", "zones": []}
    outer_net = next(cidr for cidr in found if cidr != INNER_NET)

    # A space of the inner network; what is bound there hears of it, and its relation says so.
    client.run("add-space", "inner", INNER_NET)
    assert [space["name"] for space in client.json("spaces")["spaces"]] == ["alpha", "inner"]
    assert network(client, "one/0", "up", "--ingress-address") == outer
    before = len(hooks(client, "one/0"))
    assert bag(client, "one/0")["ingress-address"] == outer
    done = client.try_run("bind", "one", "ring=inner", "admin=inner")
    assert 'moving endpoint "ring" from space "alpha" to "inner"' in done.stderr
    assert hooks(client, "one/0")[before:] == ["config-changed"]
    told = network(client, "one/0", "ring")
    assert told["ingress-addresses"] == [INNER]
    assert told["egress-subnets"] == [f"{INNER}/32"]
    device = told["bind-addresses"][0]
    assert (device["interface-name"], len(device["mac-address"])) == (NIC, 17)
    assert device["addresses"] == [{"hostname": "", "value": INNER, "cidr": INNER_NET}]
    assert network(client, "one/0", "admin")["ingress-addresses"] == [INNER]
    assert network(client, "one/0", "up")["ingress-addresses"] == [outer]
    assert bag(client, "one/0")["ingress-address"] == INNER
    assert bag(client, "one/0")["egress-subnets"] == f"{INNER}/32"
    assert client.status()["applications"]["one"]["endpoint-bindings"]["ring"] == "inner"
    assert client.status()["machines"]["0"]["network-interfaces"][NIC]["space"] == "alpha inner"
    shown = client.json("show-space", "inner")
    assert (shown["applications"], shown["machine-count"]) == (["one"], 1)

    # An application that is bound when it is deployed; egress that the model names.
    client.run("model-config", "egress-subnets=192.0.2.0/24")
    client.run("deploy", tree, "two", "--to", "0", "--bind", "inner up=alpha")
    assert network(client, "two/0", "ring") == {**told, "egress-subnets": ["192.0.2.0/24"]}
    assert network(client, "two/0", "up", "--bind-address") == outer
    assert bag(client, "two/0")["egress-subnets"] == "192.0.2.0/24"
    client.run("model-config", "--reset", "egress-subnets")

    # The address is lost, and comes back.
    client.on("0", f"ip addr del {INNER}/24 dev {NIC}")
    client.run("reload-spaces")
    assert network(client, "one/0", "ring") == 'ERROR no network config found for binding "ring"\n'
    assert "relation-info" not in client.json("show-unit", "one/0")["one/0"]  # nothing is said any more
    assert network(client, "one/0", "up", "--ingress-address") == outer
    client.on("0", f"ip addr add {INNER}/24 dev {NIC}")
    client.run("reload-spaces")
    assert network(client, "one/0", "ring", "--ingress-address") == INNER
    assert bag(client, "one/0")["ingress-address"] == INNER

    # What is refused, and what force does.
    error = client.fail("bind", "one", "ring=none").error
    assert error == 'ERROR space "none" not found\n'
    client.run("add-space", "empty")
    error = client.fail("bind", "one", "ring=empty").error
    assert "lack an address in this space" in error
    error = client.fail("move-to-space", "alpha", INNER_NET).error
    assert "violates endpoint binding" in error
    error = client.fail("remove-space", "inner").error
    assert '- "inner" is used as a binding on: one, two' in error
    client.run("rename-space", "inner", "deep")
    assert client.status()["applications"]["one"]["endpoint-bindings"]["ring"] == "deep"
    client.run("remove-space", "deep", "--force", "-y")
    assert client.json("subnets")["subnets"].keys() == {INNER_NET, outer_net}
    assert "endpoint-bindings" not in client.status()["applications"]["one"]
    assert set(network(client, "one/0", "ring")["ingress-addresses"]) == {outer, INNER}
