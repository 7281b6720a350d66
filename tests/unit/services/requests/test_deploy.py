"""deploy and add-unit: what they record, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, PushjujuError
from pushjuju.core.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import deploy
from pushjuju.services.requests.deploy import DeployRequest
from pushjuju.store.rows.records import Bag
from tests.world.controller import UBUNTU, World

NOBLE = Base.parse("ubuntu@24.04")


def test_first_deploy_makes_everything(shop: World) -> None:
    made = shop.deploy(count=2, settings={"port": 81}, constraints={"mem": 1024}, trust=True)
    assert (made.application, made.charm, made.revision) == ("web", "web", 0)
    assert made.units == ("web/0", "web/1")
    application = shop.application()
    assert application.charm_url == "local:web-0"
    assert (application.life, application.subordinate, application.trust) == ("alive", 0, 1)
    assert application.base == "ubuntu@22.04/stable"
    assert shop.machine_ids() == ["0", "1"]
    machine = shop.machine("1")
    assert (machine.life, machine.constraints, machine.base) == (
        "alive",
        {"mem": 1024},
        "ubuntu@22.04/stable",
    )
    assert shop.read(lambda tx: charms.stored_settings(tx, shop.model, "web", "local:web-0")) == {"port": 81}


def test_statuses_of_what_is_new(shop: World) -> None:
    shop.deploy()
    assert shop.agent() == ("allocating", "")
    assert shop.workload() == ("waiting", "waiting for machine")
    assert shop.status(StatusKind.APPLICATION, "web") == ("unset", "")
    assert shop.status(StatusKind.MACHINE, "0") == ("pending", "")
    assert shop.status(StatusKind.INSTANCE, "0") == ("pending", "")
    assert shop.status(StatusKind.RELATION, "0") == ("joining", "")


def test_who_is_touched(shop: World) -> None:
    shop.forget_work()
    shop.deploy(count=2)
    assert shop.touched() == ["machine/0", "machine/1"]


def test_peer_relations_come_with_the_application(shop: World) -> None:
    packed = shop.charms.make(peers={"zoo": {"interface": "z"}, "cluster": {"interface": "c"}})
    shop.deploy(packed=packed)
    found = shop.read(lambda tx: relations.of_application(tx, shop.model, "web"))
    assert [(item.id, item.key, item.life, item.scope) for item in found] == [
        (0, "web:cluster", "alive", "global"),
        (1, "web:zoo", "alive", "global"),
    ]
    bags: dict[str, Bag] = shop.read(lambda tx: relations.bags(tx, shop.model, 0))
    assert {name: (bag.version, bag.data) for name, bag in bags.items()} == {"web": (0, {})}


def test_each_upload_is_a_revision_of_its_own(shop: World) -> None:
    assert shop.deploy("a").revision == 0
    assert shop.deploy("b").revision == 1
    assert shop.application("b").charm_url == "local:web-1"
    assert len(shop.blobs()) == 1  # equal archives are kept once


def test_a_revision_in_the_charm_is_the_least(shop: World) -> None:
    packed = shop.charms.make(files={"revision": "7\n"})
    assert shop.deploy("a", packed=packed).revision == 7
    assert shop.deploy("b", packed=packed).revision == 8
    assert shop.deploy("c").revision == 9


def test_numbers_are_never_used_again(shop: World) -> None:
    shop.deploy("web", 2)
    removal.remove_units(shop.ctx, shop.model, ["web/0", "web/1"])
    shop.settle()
    units.add_units(shop.ctx, shop.model, "web", 1, [])
    assert shop.units() == ["web/2"]
    assert shop.machine_ids() == ["2"]
    removal.remove_application(shop.ctx, shop.model, ["web"])
    shop.settle()
    again = shop.deploy()
    assert (again.units, again.revision) == (("web/3",), 1)
    assert [item.id for item in shop.read(lambda tx: relations.of_application(tx, shop.model, "web"))] == [1]
    assert shop.machine_ids() == ["3"]


def test_placement_on_a_machine(shop: World) -> None:
    shop.deploy("a")
    shop.deploy("b", 2, placements=[Placement.parse("0")])
    assert [shop.unit(name).machine for name in ("a/0", "b/0", "b/1")] == ["0", "0", "1"]


def test_placement_for_the_provider(shop: World) -> None:
    shop.deploy(placements=[Placement.parse("zone=a")])
    assert shop.machine("0").placement == "zone=a"


def test_subordinate_has_no_units_of_its_own(shop: World) -> None:
    packed = shop.charms.make(
        "sub", subordinate=True, requires={"host": {"interface": "juju-info", "scope": "container"}}
    )
    assert shop.deploy("sub", 0, packed=packed).units == ()
    assert shop.machine_ids() == []
    assert shop.application("sub").subordinate == 1


def test_add_units(shop: World) -> None:
    shop.deploy()
    added = units.add_units(shop.ctx, shop.model, "web", 2, [Placement.parse("0")])
    assert [(unit.name, unit.machine) for unit in added] == [("web/1", "0"), ("web/2", "1")]
    assert shop.agent("web/2") == ("allocating", "")


def test_two_models_know_nothing_of_each_other(shop: World) -> None:
    shop.deploy()
    other = models.add_model(shop.ctx, "other")
    request = DeployRequest(application="web", packed=shop.charms.make(), base=UBUNTU)
    made = deploy.deploy(shop.ctx, other.uuid, request)
    assert (made.revision, made.units) == (0, ("web/0",))


# --- refusals ---------------------------------------------------------------------------------------------


def _sub(shop: World) -> Any:
    return shop.charms.make(
        "sub", subordinate=True, requires={"h": {"interface": "juju-info", "scope": "container"}}
    )


def _dying_model(shop: World) -> None:
    shop.write(lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now()))


def _dying_machine(shop: World) -> None:
    removal.remove_machines(shop.ctx, shop.model, ["1"])


REFUSED: list[Any] = [
    pytest.param(
        lambda shop: shop.deploy("web"),
        AlreadyExists,
        'cannot add application "web": application already exists',
        id="twice",
    ),
    pytest.param(lambda shop: shop.deploy("Web"), NotValid, 'invalid application name "Web"', id="name"),
    pytest.param(lambda shop: shop.deploy("w-1"), NotValid, 'invalid application name "w-1"', id="number"),
    pytest.param(
        lambda shop: shop.deploy("s", 1, packed=_sub(shop)),
        NotValid,
        "cannot use --num-units or --to with subordinate application",
        id="subordinate-units",
    ),
    pytest.param(
        lambda shop: shop.deploy("s", 0, packed=_sub(shop), placements=[Placement.parse("0")]),
        NotValid,
        "cannot use --num-units or --to with subordinate application",
        id="subordinate-placement",
    ),
    pytest.param(
        lambda shop: shop.deploy("s", 0, packed=_sub(shop), constraints={"mem": 1}),
        NotValid,
        "cannot use --constraints with subordinate application",
        id="subordinate-constraints",
    ),
    pytest.param(
        lambda shop: shop.deploy("b", placements=[Placement.parse("7")]),
        NotFound,
        "machine 7 not found",
        id="no-machine",
    ),
    pytest.param(
        lambda shop: shop.deploy(
            "b", 3, packed=shop.charms.make("other"), placements=[Placement.parse("0"), Placement.parse("1")]
        ),
        NotValid,
        "cannot assign unit to machine 1: machine is not alive",
        id="dying-machine-in-the-middle",
    ),
    pytest.param(
        lambda shop: shop.deploy("b", base=NOBLE, placements=[Placement.parse("0")]),
        NotValid,
        "cannot assign unit to machine 0: base does not match: "
        'unit has "ubuntu@24.04", machine has "ubuntu@22.04"',
        id="base",
    ),
    pytest.param(
        lambda shop: shop.deploy("b", placements=[Placement.parse("kvm:0")]),
        NotValid,
        "kvm containers are not supported",
        id="kvm",
    ),
    pytest.param(
        lambda shop: shop.deploy("b", placements=[Placement.parse("lxd:7")]),
        NotFound,
        "machine 7 not found",
        id="container",
    ),
    pytest.param(
        lambda shop: shop.deploy("b", placements=[Placement.parse("ssh:me@host")]),
        NotValid,
        'placement "ssh:me@host" is not supported: ssh: targets are machines to add first',
        id="ssh",
    ),
    pytest.param(
        lambda shop: units.add_units(shop.ctx, shop.model, "nope", 1, []),
        NotFound,
        'application "nope" not found',
        id="add-unit-to-nothing",
    ),
    pytest.param(
        lambda shop: units.add_units(shop.ctx, shop.model, "web", 2, [Placement.parse("9")]),
        NotFound,
        "machine 9 not found",
        id="add-unit-on-nothing",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("act", "error", "text"), REFUSED)
def test_a_refusal_leaves_the_store_as_it_was(
    shop: World, act: Callable[[World], Any], error: type[PushjujuError], text: str
) -> None:
    shop.active()
    shop.write(
        lambda tx: machines.new_machine(tx, shop.model, base=UBUNTU, constraints={}, now=shop.clock.now())
    )
    _dying_machine(shop)
    before = shop.dump()
    with pytest.raises(error) as caught:
        act(shop)
    assert caught.value.message == text
    assert shop.dump() == before


def test_nothing_grows_in_a_dying_model(shop: World) -> None:
    shop.active()
    _dying_model(shop)
    before = shop.dump()
    for act in (
        lambda: shop.deploy("b", packed=shop.charms.make("b")),
        lambda: units.add_units(shop.ctx, shop.model, "web", 1, []),
        lambda: machines.add_machine(shop.ctx, shop.model, base=UBUNTU, constraints={}),
    ):
        with pytest.raises(NotValid, match='model "shop" is no longer alive'):
            act()
    assert shop.dump() == before


def test_no_units_for_a_dying_application(shop: World) -> None:
    shop.active()
    removal.remove_application(shop.ctx, shop.model, ["web"])
    before = shop.dump()
    with pytest.raises(NotValid) as caught:
        units.add_units(shop.ctx, shop.model, "web", 1, [])
    assert (
        caught.value.message == 'cannot add unit to application "web": application is not found or not alive'
    )
    assert shop.dump() == before


def test_no_units_for_a_subordinate(shop: World) -> None:
    shop.deploy("sub", 0, packed=_sub(shop))
    before = shop.dump()
    with pytest.raises(NotValid) as caught:
        units.add_units(shop.ctx, shop.model, "sub", 1, [])
    assert caught.value.message == 'cannot add units to subordinate application "sub"'
    assert shop.dump() == before


def test_model_that_is_gone(shop: World) -> None:
    with pytest.raises(NotFound, match="model nope not found"):
        deploy.deploy(
            shop.ctx, "nope", DeployRequest(application="web", packed=shop.charms.make(), base=UBUNTU)
        )
    assert shop.blobs() == []


# --- add-machine ------------------------------------------------------------------------------------------


def test_add_machine(shop: World) -> None:
    shop.forget_work()
    machine = machines.add_machine(
        shop.ctx, shop.model, base=NOBLE, constraints={"cores": 2}, placement="zone=b"
    )
    assert (machine.id, machine.base, machine.constraints) == ("0", "ubuntu@24.04/stable", {"cores": 2})
    assert shop.machine("0").placement == "zone=b"
    assert shop.touched() == ["machine/0"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", None), ("lxd", "lxd"), ("lxd:0", "lxd:0"), ("ssh:u@h", "ssh:u@h"), ("zone=a", "zone=a")],
)
def test_placement_of_add_machine(text: str, shown: str | None) -> None:
    found = machines.check_placement(text)
    assert (str(found) if found else None) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "machine-id cannot be specified when adding machines"),
        ("lxd:", 'invalid --to parameter "lxd:"'),
    ],
)
def test_bad_placement_of_add_machine(text: str, message: str) -> None:
    with pytest.raises(PushjujuError) as caught:
        machines.check_placement(text)
    assert caught.value.message == message


def test_machine_ids_that_people_type() -> None:
    assert machines.require_id("0/lxd/1") == "0/lxd/1"
    with pytest.raises(PushjujuError) as caught:
        machines.require_id("x")
    assert (caught.value.message, caught.value.exit_code) == ('invalid machine id "x"', 2)
