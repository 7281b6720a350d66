"""Spaces, subnets, bindings and the choice of addresses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, PushjujuError
from pushjuju.services.entities.application import bindings
from pushjuju.services.entities.basis import network
from pushjuju.services.entities.machine import spaces
from pushjuju.services.entities.model import firewall, model_config
from pushjuju.services.requests.application import expose, settings
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.machine import spaces as spaces_requests
from pushjuju.services.views import space_documents
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx
from tests.world.controller import TestController

OUTER, INNER = "10.0.0.0/24", "192.168.7.0/24"


def nic(name: str, *cidrs: str, **more: Any) -> dict[str, Any]:
    addresses = [{"value": cidr.partition("/")[0], "cidr": cidr} for cidr in cidrs]
    return {"name": name, "mac": "00:16:3e:00:00:01", "up": True, "addresses": addresses, **more}


def noted(runtime: TestController, *nics: dict[str, Any], machine: str = "0") -> Machine:
    """Let a machine tell of its network."""

    def note(tx: ModelTx) -> None:
        row = tx.get(Machine, "machine_get", "-", model=runtime.model, id=machine)
        found = spaces.note_addresses(tx, row, network.addresses_from_nics(nics))
        tx.run("machine_set_addresses", model=runtime.model, id=machine, addresses=json.dumps(found))

    runtime.write(note)
    return runtime.machine(machine)


@pytest.fixture
def town(runtime: TestController) -> TestController:
    """An application on a machine with two networks, and a space that the inner one is in."""
    runtime.deploy(packed=runtime.charms.make(**{"extra-bindings": {"admin": None}}))
    noted(runtime, nic("eth0", "10.0.0.2/24"), nic("eth1", "192.168.7.2/24", mtu=9000))
    spaces_requests.add(runtime.ctx, runtime.model, "inner", [INNER])
    return runtime


def bound(runtime: TestController) -> dict[str, str]:
    application = runtime.application()
    found: dict[str, str] = runtime.read(lambda tx: bindings.document(tx, application))
    return found


def where(runtime: TestController) -> dict[str, str]:
    return {
        cidr: found["space"] for cidr, found in space_documents.subnets(runtime.ctx, runtime.model).items()
    }


# --- addresses --------------------------------------------------------------------------------------------


def test_an_address_of_a_bridge_and_its_port_is_the_bridges() -> None:
    port = nic("eth0", "10.0.0.2/24", parent="br0")
    found = network.addresses_from_nics([port, nic("br0", "10.0.0.2/24", mtu=1500)], "10.0.0.1")
    assert [(entry["nic"], entry["mtu"], entry["gateway"]) for entry in found] == [("br0", 1500, "10.0.0.1")]


def test_the_preferred_address_stays_while_it_is_there(runtime: TestController) -> None:
    runtime.deploy()
    assert network.private_address(noted(runtime, nic("eth0", "10.0.0.9/24"))) == "10.0.0.9"
    both = noted(runtime, nic("eth0", "10.0.0.2/24", "10.0.0.9/24"))
    assert network.private_address(both) == network.public_address(both) == "10.0.0.9"
    public = noted(runtime, nic("eth0", "10.0.0.9/24", "8.8.8.8/24"))
    assert (network.public_address(public), network.private_address(public)) == ("8.8.8.8", "10.0.0.9")
    assert network.private_address(noted(runtime, nic("eth0", "8.8.8.8/24"))) == "8.8.8.8"
    back = noted(runtime, nic("eth0", "8.8.8.8/24", "10.0.0.2/24"))
    assert (network.public_address(back), network.private_address(back)) == ("8.8.8.8", "10.0.0.2")


def test_only_what_a_machine_says_makes_news(town: TestController) -> None:
    machine = town.machine("0")
    nics = [nic("eth0", "10.0.0.2/24"), nic("eth1", "192.168.7.2/24", mtu=9000)]
    assert network.is_known(machine, network.addresses_from_nics(nics))
    assert not network.is_known(machine, network.addresses_from_nics(nics[:1]))


def test_single_addresses_are_no_subnets(runtime: TestController) -> None:
    runtime.deploy()
    noted(runtime, nic("eth0", "10.0.0.2/32", "fd00::2/128", "fd00:1::2/64"))
    assert where(runtime) == {"fd00:1::/64": "alpha"}


# --- spaces -----------------------------------------------------------------------------------------------


def test_alpha_holds_what_was_not_moved(town: TestController) -> None:
    noted(town, nic("eth0", "10.0.0.2/24"), nic("eth1", "192.168.7.2/24"), nic("eth2", "172.16.0.2/16"))
    assert where(town) == {OUTER: "alpha", INNER: "inner", "172.16.0.0/16": "alpha"}
    assert [dict(space) for space in space_documents.listing(town.ctx, town.model)][1]["id"] == "1"
    shown = space_documents.show(town.ctx, town.model, "inner")
    assert (shown["machine-count"], shown["applications"]) == (1, [])
    assert space_documents.show(town.ctx, town.model, "alpha")["applications"] == ["web"]


@pytest.mark.parametrize(
    ("name", "cidrs", "error", "text"),
    [
        ("inner", [], AlreadyExists, 'space "inner" already exists'),
        ("alpha", [], AlreadyExists, 'space "alpha" already exists'),
        ("new", ["10.9.0.0/24"], NotFound, 'subnet "10.9.0.0/24" not found'),
    ],
)
def test_what_add_space_refuses(
    town: TestController, name: str, cidrs: list[str], error: type[PushjujuError], text: str
) -> None:
    before = where(town)
    with pytest.raises(error) as caught:
        spaces_requests.add(town.ctx, town.model, name, cidrs)
    assert caught.value.message == text
    assert where(town) == before


def test_a_move_may_not_take_a_space_away_from_those_bound_to_it(town: TestController) -> None:
    settings.bind(town.ctx, town.model, "web", {"admin": "inner"}, force=False)
    with pytest.raises(NotValid) as caught:
        spaces_requests.move(town.ctx, town.model, "alpha", [INNER], force=False)
    assert caught.value.message == (
        'moving subnet(s) to space "alpha" violates endpoint binding admin:inner for application "web"\n'
        "\tunits not connected to the space: web/0"
    )
    assert where(town)[INNER] == "inner"
    (moved,) = spaces_requests.move(town.ctx, town.model, "alpha", [INNER], force=True)
    assert (moved.old, moved.new, where(town)[INNER]) == ("inner", "alpha", "alpha")


def test_constraints_follow_a_rename_and_end_with_the_space(town: TestController) -> None:
    town.deploy("db", constraints={"spaces": ["inner", "^alpha"]})
    spaces_requests.rename(town.ctx, town.model, "inner", "deep")
    assert town.application("db").constraints == {"spaces": ["deep", "^alpha"]}
    uses = spaces_requests.remove(town.ctx, town.model, "deep", force=False)
    assert uses.lines("deep") == ['- "deep" is used as a constraint on: db']
    assert where(town)[INNER] == "deep"
    assert spaces_requests.remove(town.ctx, town.model, "deep", force=True).lines("deep") == []
    assert town.application("db").constraints == {"spaces": ["^alpha"]}
    assert where(town)[INNER] == "alpha"


def test_alpha_stays(town: TestController) -> None:
    with pytest.raises(NotValid, match='the "alpha" space cannot be renamed'):
        spaces_requests.rename(town.ctx, town.model, "alpha", "x")
    with pytest.raises(NotValid, match='the "alpha" space cannot be removed'):
        spaces_requests.remove(town.ctx, town.model, "alpha", force=True)


# --- bindings ---------------------------------------------------------------------------------------------


def test_nobody_bound_means_no_rows(town: TestController) -> None:
    assert town.read(lambda tx: bindings.stored(tx, "web")) == {}
    assert bound(town) == {"": "alpha", "admin": "alpha", "cluster": "alpha"}


def test_endpoints_follow_the_default_that_they_are_in(town: TestController) -> None:
    settings.bind(town.ctx, town.model, "web", {"": "inner", "admin": "alpha"}, force=False)
    assert bound(town) == {"": "inner", "admin": "alpha", "cluster": "inner"}
    changes = settings.bind(town.ctx, town.model, "web", {"": "alpha"}, force=False)
    assert changes == [
        'moving endpoint "cluster" from space "inner" to "alpha"',
        'no change to endpoint in space "alpha": admin',
    ]


def test_a_refresh_binds_new_endpoints_to_the_default(town: TestController) -> None:
    settings.bind(town.ctx, town.model, "web", {"": "inner"}, force=False)
    town.refresh(town.charms.make(requires={"db": {"interface": "sql"}}), bind={"cluster": "alpha"})
    assert bound(town) == {"": "inner", "cluster": "alpha", "db": "inner"}


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({}, "no bindings specified"),
        ({"": "none"}, 'space "none" not found'),
        ({"none": "inner"}, 'endpoint "none" not found'),
        ({"": "empty"}, 'changing default space to "empty" is not feasible: '),
        ({"admin": "empty"}, 'binding endpoint "admin" to space "empty" is not feasible: '),
    ],
)
def test_what_bind_refuses(town: TestController, asked: dict[str, str], text: str) -> None:
    spaces_requests.add(town.ctx, town.model, "empty", [])
    with pytest.raises(PushjujuError) as caught:
        settings.bind(town.ctx, town.model, "web", asked, force=False)
    assert caught.value.message.startswith(text)
    assert town.read(lambda tx: bindings.stored(tx, "web")) == {}


def test_deploy_takes_bindings_and_the_models_default(town: TestController) -> None:
    town.deploy("one", bind={"": "inner", "cluster": "alpha"})
    stored = town.read(lambda tx: bindings.stored(tx, "one"))
    assert stored == {"": "1", "cluster": "0"}
    town.write(lambda tx: model_config.change(tx, {"default-space": "inner"}))
    town.deploy("two")
    assert town.read(lambda tx: bindings.stored(tx, "two")) == {"": "1", "cluster": "1"}
    with pytest.raises(NotValid, match='space "inner" is required but it\'s forbidden by constraint'):
        town.deploy("three", constraints={"spaces": ["^inner"]})


# --- what units see ---------------------------------------------------------------------------------------


def test_a_unit_hears_of_its_binding(town: TestController) -> None:
    town.settle()
    before = town.played("0").hooks.copy()
    noted(town, nic("eth0", "10.0.0.2/24"), nic("eth1", "192.168.7.2/24"))
    settings.bind(town.ctx, town.model, "web", {"cluster": "inner"}, force=False)
    town.settle()
    assert town.played("0").hooks[len(before) :] == [("web/0", "config-changed")]
    frame = town.played("0").frames[-1]
    told = frame["context"]["network"]["bindings"]
    assert told["cluster"]["ingress-addresses"] == ["192.168.7.2"]
    assert told["admin"]["ingress-addresses"] == ["10.0.0.2"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("10.0.0.1", "invalid egress subnet: 10.0.0.1"), ("0.0.0.0/0", 'CIDR "0.0.0.0/0" not allowed')],
)
def test_odd_egress_is_refused(runtime: TestController, text: str, problem: str) -> None:
    with pytest.raises(NotValid, match=problem):
        runtime.write(lambda tx: model_config.change(tx, {"egress-subnets": f"192.0.2.0/24,{text}"}))


def test_who_is_let_in_follows_the_space(town: TestController) -> None:
    expose.expose(town.ctx, town.model, ExposeOptions(application="web", spaces=["inner"]))
    assert town.read(firewall.space_subnets) == {
        "alpha": [OUTER],
        "inner": [INNER],
    }
    spaces_requests.rename(town.ctx, town.model, "inner", "deep")
    rows = town.read(lambda tx: tx.rows("exposure_of_model"))
    assert [json.loads(row["spaces"]) for row in rows] == [["deep"]]
