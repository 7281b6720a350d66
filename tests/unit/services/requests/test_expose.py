"""Exposing applications, and the rules that machines get from it."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from pushjuju.core import limits
from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.core.firewall import EVERYWHERE, Exposure, IngressRule
from pushjuju.core.model.placement import Placement
from pushjuju.core.model.ports import PortRange
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import firewall, model_config
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import expose as service
from pushjuju.services.requests.application.expose import ExposeOptions
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.store.processes import TRACE
from pushjuju.store.rows.records import MachineFirewall, Port
from pushjuju.store.tx import ModelTx
from tests.world.controller import TestController
from tests.world.machine import ok

WEB = PortRange("tcp", 80, 80)
HERE = Placement.parse("0")


@pytest.fixture
def world(runtime: TestController) -> TestController:
    """A model without applications; some tests work in another one of its controller."""
    return runtime


def _open(world: TestController, unit: str, port: int, endpoint: str = "") -> None:
    port_row = Port(
        model=world.model, unit=unit, endpoint=endpoint, protocol="tcp", from_port=port, to_port=port
    )
    world.write(lambda tx: tx.insert("port", port_row))


def _expose(world: TestController, name: str = "web", **more: tuple[str, ...]) -> None:
    service.expose(world.ctx, world.model, ExposeOptions(application=name, **more))


def _exposures(world: TestController, name: str = "web") -> dict[str, Exposure]:
    found = world.read(lambda tx: service.exposures(tx, name))
    return {item.endpoint: item for item in found}


def _rules(world: TestController, machine: str = "0", **known: object) -> object:
    row = MachineFirewall(model=world.model, machine=machine, **known)
    return world.read(lambda tx: firewall.rules(tx, machine, row))


def _ingress(world: TestController, machine: str = "0") -> dict[str, tuple[str, ...]]:
    rules: tuple[IngressRule, ...] = _rules(world, machine).ingress
    return {str(rule.range): rule.sources for rule in rules}


def test_to_everybody(world: TestController) -> None:
    """Without a word of who: everybody; half of everybody is everybody, too."""
    world.deploy()
    for more in ({}, {"cidrs": ("0.0.0.0/0",)}, {"cidrs": ("::/0", "0.0.0.0/0")}):
        _expose(world, **more)
        assert world.application().exposed
        assert _exposures(world) == {"": Exposure(endpoint="", cidrs=EVERYWHERE)}


def test_each_call_replaces_what_was_said_of_the_same_endpoints(world: TestController) -> None:
    world.deploy()
    _expose(world, endpoints=("cluster", ""), cidrs=("10.0.0.0/24", "10.0.0.0/24"))
    _expose(world, endpoints=("cluster",), cidrs=("10.2.0.1/16", "10.1.0.0/16"))
    assert _exposures(world) == {
        "": Exposure(endpoint="", cidrs=("10.0.0.0/24",)),
        "cluster": Exposure(endpoint="cluster", cidrs=("10.1.0.0/16", "10.2.0.1/16")),
    }
    _expose(world, endpoints=("cluster",))
    assert _exposures(world)["cluster"].cidrs == EVERYWHERE


def test_the_last_exposure_that_goes_takes_the_flag_with_it(world: TestController) -> None:
    world.deploy()
    _expose(world, endpoints=("cluster",))
    _expose(world)
    service.unexpose(world.ctx, world.model, "web", ["cluster"])
    assert world.application().exposed
    service.unexpose(world.ctx, world.model, "web", [""])
    assert not world.application().exposed
    service.unexpose(world.ctx, world.model, "web")  # nothing is left to do
    _expose(world, endpoints=("cluster",))
    _expose(world)
    service.unexpose(world.ctx, world.model, "web")
    assert (_exposures(world), world.application().exposed) == ({}, 0)


@pytest.mark.parametrize(
    ("more", "kind", "text"),
    [
        ({"endpoints": ("nope",)}, NotFound, 'endpoint "nope" not found'),
        ({"endpoints": ("cluster", "nope")}, NotFound, 'endpoint "nope" not found'),
        ({"endpoints": ("juju-info",)}, NotFound, 'endpoint "juju-info" not found'),
        ({"spaces": ("dmz",)}, NotFound, 'space "dmz" not found'),
        (
            {"cidrs": ("10.0.0.0/24", "x")},
            NotValid,
            'unable to parse "x" as a CIDR: invalid CIDR address: x',
        ),
        (
            {"cidrs": ("1.2.3.4",)},
            NotValid,
            'unable to parse "1.2.3.4" as a CIDR: invalid CIDR address: 1.2.3.4',
        ),
    ],
)
def test_refusals_change_nothing(
    world: TestController, more: dict[str, tuple[str, ...]], kind: type[PushjujuError], text: str
) -> None:
    world.deploy()
    before = world.dump()
    with pytest.raises(kind) as refused:
        _expose(world, **more)
    assert refused.value.message == text
    assert world.dump() == before


def test_refusals_of_unexpose(world: TestController) -> None:
    world.deploy()
    for endpoint, text in (("nope", 'endpoint "nope" not found'), ("", 'endpoint "" is not exposed')):
        with pytest.raises(PushjujuError) as refused:
            service.unexpose(world.ctx, world.model, "web", [endpoint])
        assert refused.value.message == text
    with pytest.raises(NotFound, match='application "db" not found'):
        service.unexpose(world.ctx, world.model, "db")
    with pytest.raises(NotFound, match='application "db" not found'):
        _expose(world, "db")


def test_a_dying_application_is_not_exposed(world: TestController) -> None:
    world.deploy()
    world.work("0")
    removals.remove_applications(world.ctx, world.model, ["web"])
    with pytest.raises(NotValid) as refused:
        _expose(world)
    assert refused.value.message == (
        'cannot set exposed flag for application "web" to true: application is not found or not alive'
    )


def test_rules_are_those_of_the_units_of_a_machine(world: TestController) -> None:
    world.deploy("web")
    world.deploy("db", placements=[HERE])
    world.deploy("log")
    for unit, port in (("web/0", 80), ("db/0", 5432), ("log/0", 514)):
        _open(world, unit, port)
    assert _ingress(world) == {}
    _expose(world, "web")
    _expose(world, "db", cidrs=("10.5.0.0/16",))
    _expose(world, "log")
    assert _ingress(world) == {"80/tcp": EVERYWHERE, "5432/tcp": ("10.5.0.0/16",)}
    assert _ingress(world, "1") == {"514/tcp": EVERYWHERE}
    service.unexpose(world.ctx, world.model, "web")
    assert _ingress(world) == {"5432/tcp": ("10.5.0.0/16",)}


def test_in_a_global_model_all_machines_have_the_rules_of_all(world: TestController) -> None:
    model = add_model(world.ctx, AddModelOptions(name="global", config={"firewall-mode": "global"}))
    world.model = model.uuid
    world.deploy("web", count=2)
    _open(world, "web/1", 80)
    _expose(world)
    assert _ingress(world, "0") == _ingress(world, "1") == {"80/tcp": EVERYWHERE}


def test_machines_of_a_model_let_each_other_in(world: TestController) -> None:
    world.deploy(count=2)
    assert _rules(world).mates == ()
    world.played("0")
    world.played("1")
    assert _rules(world).mates == ("10.0.0.2/31",)


def test_addresses_that_cannot_be_a_machines_are_left_out(world: TestController) -> None:
    """A machine says what it likes; loopback, multicast and the like would let in more than machines."""
    world.deploy()
    odd = ["127.0.0.1", "169.254.1.1", "0.0.0.0", "::", "::1", "224.0.0.1", "ff02::1", "fe80::1"]
    nics = [
        {"name": "eth0", "mac": "", "up": True, "addresses": [{"value": item, "cidr": item} for item in odd]}
    ]
    nics[0]["addresses"] += [{"value": f"10.9.0.{number}", "cidr": ""} for number in range(100)]
    world.played()
    world.write(lambda tx: world.note_facts(tx, "0", {**world.played_machines["0"].hello(), "nics": nics}))
    mates: tuple[str, ...] = _rules(world).mates
    assert "10.0.0.2/32" in mates
    assert not {str(ip_network(item)) for item in odd} & set(mates)
    assert sum(ip_network(item).num_addresses for item in mates) <= limits.MATES + 1


def test_who_works_a_machine_keeps_the_way_in(world: TestController) -> None:
    world.deploy()
    assert _rules(world, peers=["192.0.2.1"]).ssh == EVERYWHERE
    world.write(lambda tx: model_config.change(tx, {"ssh-allow": "10.0.0.0/8"}))
    found = _rules(world, peers=["192.0.2.1", "fd00::7"], ssh_port=2222)
    assert found.ssh == ("10.0.0.0/8", "192.0.2.1/32", "fd00::7/128")
    assert found.ssh_port == 2222
    assert _rules(world).ssh == EVERYWHERE  # nobody knows yet from where it is worked
    world.write(lambda tx: model_config.change(tx, {"ssh-allow": ""}))
    assert _rules(world, peers=["192.0.2.1"]).ssh == ("192.0.2.1/32",)


def test_the_latest_ways_in_are_kept(world: TestController) -> None:
    world.deploy()
    world.write(lambda tx: tx.run("firewall_add", machine="0"))

    def reach(peer: str) -> MachineFirewall | None:
        def note(tx: ModelTx) -> MachineFirewall | None:
            known = firewall.state(tx, "0")
            assert known is not None
            return firewall.reached(tx, known, peer, 22)

        found: MachineFirewall | None = world.write(note)
        return found

    assert reach("10.0.0.1") is not None
    assert reach("10.0.0.1") is None
    for number in range(2, 12):
        reach(f"10.0.0.{number}")
    last = world.read(lambda tx: firewall.state(tx, "0"))
    assert last.peers == [f"10.0.0.{number}" for number in range(4, 12)]


# --- who looks again --------------------------------------------------------------------------------------


def _guard(world: TestController, *machines: str) -> None:
    for machine in machines:
        world.write(lambda tx, machine=machine: tx.run("firewall_add", machine=machine))
    world.forget_work()


def _changes(world: TestController) -> dict[str, int]:
    names = world.machine_ids()
    rows = world.read(lambda tx: [firewall.state(tx, name) for name in names])
    return {row.machine: row.changes for row in rows if row is not None}


def test_machines_of_the_application_look_again(world: TestController) -> None:
    world.deploy("web", count=2)
    world.deploy("db")
    _guard(world, "0", "1", "2")
    _expose(world)
    assert world.touched() == ["machine/0", "machine/1"]
    assert _changes(world) == {"0": 2, "1": 2, "2": 1}


def test_without_a_firewall_nobody_looks(world: TestController) -> None:
    world.deploy()
    world.forget_work()
    _expose(world)
    assert world.touched() == []


def test_in_a_global_model_all_look_again(world: TestController) -> None:
    world.model = add_model(
        world.ctx, AddModelOptions(name="global", config={"firewall-mode": "global"})
    ).uuid
    world.deploy("web")
    world.deploy("db")
    _guard(world, "0", "1")
    _expose(world)
    assert world.touched() == ["loop/firewall"]
    assert _changes(world) == {"0": 2, "1": 2}


def test_those_wake_that_have_not_looked_since(world: TestController) -> None:
    """They are woken together, so that a fleet that comes up does not look anew for each of its machines."""
    world.deploy("web", count=3)
    _guard(world, "0", "1")
    world.clock.now()
    world.write(lambda tx: firewall.changed_everywhere(tx, "machine 2 is there"))
    world.write(lambda tx: tx.run("firewall_seen", machine="1", seen=2))
    world.write(lambda tx: firewall.wake(tx, "", "machine 2 is there"))
    assert world.touched() == ["loop/firewall", "machine/0"]


@pytest.mark.parametrize("application", ["", "web"])
def test_machines_that_wake_together_are_traced_to_the_command_that_asked(
    world: TestController, application: str
) -> None:
    world.deploy("web")
    _guard(world, "0")
    world.forget_work()
    for trace in ("asks", "asks later"):
        token = TRACE.set(trace)
        world.write(lambda tx: firewall.changed_everywhere(tx, "machine 1 is there"))
        world.write(lambda tx: firewall.wake(tx, application, "machine 1 is there"))
        TRACE.reset(token)
    assert {row["key"].rpartition("/")[2]: row["trace"] for row in world.tables()["work"] if row["due"]} == {
        "firewall": "asks", "0": "asks",
    }  # fmt: skip


def test_the_address_of_a_machine_that_is_installed_anew_is_let_in_no_more(world: TestController) -> None:
    """Its cloud may give the address to somebody else."""
    world.deploy("web", count=2)
    _guard(world, "0", "1")
    _now, error = world.clock.now(), InstanceStatus.PROVISIONING_ERROR

    def fail(tx: ModelTx) -> None:
        tx.run(
            "machine_set_instance", model=world.model, id="1", provider="local", instance_id="i-1",
            display_name="", hardware="{}", ssh='{"host": "10.0.0.99"}', base="ubuntu@22.04", nonce="n",
        )  # fmt: skip
        statuses.set_status(tx, StatusKind.INSTANCE, "1", error)

    world.write(fail)
    known = world.read(lambda tx: firewall.state(tx, "0"))
    assert known is not None
    assert "10.0.0.99/32" in world.read(lambda tx: firewall.rules(tx, "0", known)).mates
    world.write(lambda tx: machines.retry_start(tx, "1"))
    assert "10.0.0.99/32" not in world.read(lambda tx: firewall.rules(tx, "0", known)).mates
    assert _changes(world)["0"] == 2


def test_where_nothing_is_guarded_nothing_wakes(world: TestController) -> None:
    world.deploy()
    world.forget_work()
    world.write(lambda tx: firewall.changed_everywhere(tx, "gone"))
    assert world.touched() == []


def test_a_machine_is_known_by_its_addresses_and_where_it_is_reached() -> None:
    there = [{"value": "10.0.0.7", "scope": "local-cloud"}, {"value": "127.0.0.1", "scope": "local-machine"}]
    assert firewall.known_by(there, {"host": "box"}) == {"10.0.0.7"}
    assert firewall.known_by(there, {"host": "10.0.0.8"}) == {"10.0.0.7", "10.0.0.8"}


@pytest.mark.parametrize("exposed", [False, True])
def test_ports_count_where_the_application_is_exposed(world: TestController, exposed: bool) -> None:
    world.deploy()
    if exposed:
        _expose(world)
    dispatch = world.until("config-changed")
    _guard(world, "0")
    ports = {"open": [{"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}]}
    world.commit(dispatch, ok(writes={"ports": ports}))
    assert _changes(world) == {"0": 1 + exposed}


def test_the_mode_is_chosen_when_the_model_is_made(world: TestController) -> None:
    def change(**values: str) -> None:
        world.write(
            lambda tx: model_config.change(tx, {key.replace("_", "-"): text for key, text in values.items()})
        )

    before = world.dump()
    for mode in ("global", "none"):
        with pytest.raises(NotValid) as refused:
            change(firewall_mode=mode)
        assert refused.value.message == f'cannot change firewall-mode from "instance" to "{mode}"'
    change(firewall_mode="instance")
    world.write(lambda tx: model_config.change(tx, {}, ["firewall-mode"]))
    assert world.dump() == before
    assert not world.read(firewall.is_asked_for)
    world.model = add_model(world.ctx, AddModelOptions(name="asked", config={"firewall-mode": "global"})).uuid
    assert world.read(firewall.is_asked_for)
    with pytest.raises(NotValid, match='cannot change firewall-mode from "global" to "instance"'):
        world.write(lambda tx: model_config.change(tx, {}, ["firewall-mode"]))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"ssh-allow": "10.0.0.0/8,x"}, 'cidr "x" not valid'),
        ({"saas-ingress-allow": ""}, "empty cidrs not valid"),
        ({"saas-ingress-allow": "1.2.3.4"}, 'cidr "1.2.3.4" not valid'),
    ],
)
def test_lists_of_networks_are_checked(world: TestController, values: dict[str, str], text: str) -> None:
    with pytest.raises(NotValid) as refused:
        world.write(lambda tx: model_config.change(tx, values))
    assert refused.value.message == text
