"""deploy and add-unit: what they record, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, NotFound, NotValid, PushjujuError
from pushjuju.core.model.placement import Placement
from pushjuju.core.status import StatusKind
from pushjuju.services.entities.application import units
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import new_application
from pushjuju.services.requests.application.new_application import NewApplication
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.store.rows.records import Bag
from tests.world.charms import UBUNTU
from tests.world.controller import TestController

NOBLE = Base.parse("ubuntu@24.04")


def test_first_deploy_makes_everything(runtime: TestController) -> None:
    made = runtime.deploy(count=2, settings={"port": 81}, constraints={"mem": 1024}, trust=True)
    assert (made.application, made.charm, made.revision) == ("web", "web", 0)
    assert made.units == ("web/0", "web/1")
    application = runtime.application()
    assert application.charm_url == "local:web-0"
    assert (application.life, application.subordinate, application.trust) == ("alive", 0, 1)
    assert application.base == "ubuntu@22.04/stable"
    assert runtime.machine_ids() == ["0", "1"]
    machine = runtime.machine("1")
    assert (machine.life, machine.constraints, machine.base) == (
        "alive",
        {"mem": 1024},
        "ubuntu@22.04/stable",
    )
    assert runtime.read(lambda tx: charms.stored_settings(tx, "web", "local:web-0")) == {"port": 81}


def test_statuses_of_what_is_new(runtime: TestController) -> None:
    runtime.deploy()
    assert runtime.agent() == ("allocating", "")
    assert runtime.workload() == ("waiting", "waiting for machine")
    assert runtime.status(StatusKind.APPLICATION, "web") == ("unset", "")
    assert runtime.status(StatusKind.MACHINE, "0") == ("pending", "")
    assert runtime.status(StatusKind.INSTANCE, "0") == ("pending", "")
    assert runtime.status(StatusKind.RELATION, "0") == ("joining", "")


def test_who_is_touched(runtime: TestController) -> None:
    runtime.forget_work()
    runtime.deploy(count=2)
    assert runtime.touched() == ["machine/0", "machine/1"]


def test_peer_relations_come_with_the_application(runtime: TestController) -> None:
    packed = runtime.charms.make(peers={"zoo": {"interface": "z"}, "cluster": {"interface": "c"}})
    runtime.deploy(packed=packed)
    found = runtime.read(lambda tx: relations.of_application(tx, "web"))
    assert [(item.id, item.key, item.life, item.scope) for item in found] == [
        (0, "web:cluster", "alive", "global"),
        (1, "web:zoo", "alive", "global"),
    ]
    bags: dict[str, Bag] = runtime.read(lambda tx: relations.bags(tx, 0))
    assert {name: (bag.version, bag.data) for name, bag in bags.items()} == {"web": (0, {})}


def test_each_upload_is_a_revision_of_its_own(runtime: TestController) -> None:
    assert runtime.deploy("a").revision == 0
    assert runtime.deploy("b").revision == 1
    assert runtime.application("b").charm_url == "local:web-1"
    assert len(runtime.blobs()) == 1  # equal archives are kept once


def test_a_revision_in_the_charm_is_the_least(runtime: TestController) -> None:
    packed = runtime.charms.make(files={"revision": "7\n"})
    assert runtime.deploy("a", packed=packed).revision == 7
    assert runtime.deploy("b", packed=packed).revision == 8
    assert runtime.deploy("c").revision == 9


def test_numbers_are_never_used_again(runtime: TestController) -> None:
    runtime.deploy("web", 2)
    removals.remove_units(runtime.ctx, runtime.model, ["web/0", "web/1"])
    runtime.settle()
    units.add_units(runtime.ctx, runtime.model, "web", 1, [])
    assert runtime.units() == ["web/2"]
    assert runtime.machine_ids() == ["2"]
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    runtime.settle()
    again = runtime.deploy()
    assert (again.units, again.revision) == (("web/3",), 1)
    assert [item.id for item in runtime.read(lambda tx: relations.of_application(tx, "web"))] == [1]
    assert runtime.machine_ids() == ["3"]


def test_placement_on_a_machine(runtime: TestController) -> None:
    runtime.deploy("a")
    runtime.deploy("b", 2, placements=[Placement.parse("0")])
    assert [runtime.unit(name).machine for name in ("a/0", "b/0", "b/1")] == ["0", "0", "1"]


def test_placement_for_the_provider(runtime: TestController) -> None:
    runtime.deploy(placements=[Placement.parse("zone=a")])
    assert runtime.machine("0").placement == "zone=a"


def test_subordinate_has_no_units_of_its_own(runtime: TestController) -> None:
    packed = runtime.charms.make(
        "sub", subordinate=True, requires={"host": {"interface": "juju-info", "scope": "container"}}
    )
    assert runtime.deploy("sub", 0, packed=packed).units == ()
    assert runtime.machine_ids() == []
    assert runtime.application("sub").subordinate is True


def test_add_units(runtime: TestController) -> None:
    runtime.deploy()
    added = units.add_units(runtime.ctx, runtime.model, "web", 2, [Placement.parse("0")])
    assert [(unit.name, unit.machine) for unit in added] == [("web/1", "0"), ("web/2", "1")]
    assert runtime.agent("web/2") == ("allocating", "")


def test_two_models_know_nothing_of_each_other(runtime: TestController) -> None:
    runtime.deploy()
    other = add_model(runtime.ctx, AddModelOptions(name="other"))
    request = NewApplication(application="web", packed=runtime.charms.make(), base=UBUNTU)
    made = new_application.add(runtime.ctx, other.uuid, request)
    assert (made.revision, made.units) == (0, ("web/0",))


# --- refusals ---------------------------------------------------------------------------------------------


def _sub(runtime: TestController) -> Any:
    return runtime.charms.make(
        "sub", subordinate=True, requires={"h": {"interface": "juju-info", "scope": "container"}}
    )


def _dying_model(runtime: TestController) -> None:
    runtime.write(lambda tx: removal.destroy_model(tx, models.get(tx)))


def _dying_machine(runtime: TestController) -> None:
    removals.remove_machines(runtime.ctx, runtime.model, ["1"])


REFUSED: list[Any] = [
    pytest.param(
        lambda runtime: runtime.deploy("web"),
        AlreadyExists,
        'cannot add application "web": application already exists',
        id="twice",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("Web"), NotValid, 'invalid application name "Web"', id="name"
    ),
    pytest.param(
        lambda runtime: runtime.deploy("w-1"), NotValid, 'invalid application name "w-1"', id="number"
    ),
    pytest.param(
        lambda runtime: runtime.deploy("s", 1, packed=_sub(runtime)),
        NotValid,
        "cannot use --num-units or --to with subordinate application",
        id="subordinate-units",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("s", 0, packed=_sub(runtime), placements=[Placement.parse("0")]),
        NotValid,
        "cannot use --num-units or --to with subordinate application",
        id="subordinate-placement",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("s", 0, packed=_sub(runtime), constraints={"mem": 1}),
        NotValid,
        "cannot use --constraints with subordinate application",
        id="subordinate-constraints",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("b", placements=[Placement.parse("7")]),
        NotFound,
        "machine 7 not found",
        id="no-machine",
    ),
    pytest.param(
        lambda runtime: runtime.deploy(
            "b",
            3,
            packed=runtime.charms.make("other"),
            placements=[Placement.parse("0"), Placement.parse("1")],
        ),
        NotValid,
        "cannot assign unit to machine 1: machine is not alive",
        id="dying-machine-in-the-middle",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("b", base=NOBLE, placements=[Placement.parse("0")]),
        NotValid,
        "cannot assign unit to machine 0: base does not match: "
        'unit has "ubuntu@24.04", machine has "ubuntu@22.04"',
        id="base",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("b", placements=[Placement.parse("kvm:0")]),
        NotValid,
        "kvm containers are not supported",
        id="kvm",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("b", placements=[Placement.parse("lxd:7")]),
        NotFound,
        "machine 7 not found",
        id="container",
    ),
    pytest.param(
        lambda runtime: runtime.deploy("b", placements=[Placement.parse("ssh:me@host")]),
        NotValid,
        'placement "ssh:me@host" is not supported: ssh: targets are machines to add first',
        id="ssh",
    ),
    pytest.param(
        lambda runtime: units.add_units(runtime.ctx, runtime.model, "nope", 1, []),
        NotFound,
        'application "nope" not found',
        id="add-unit-to-nothing",
    ),
    pytest.param(
        lambda runtime: units.add_units(runtime.ctx, runtime.model, "web", 2, [Placement.parse("9")]),
        NotFound,
        "machine 9 not found",
        id="add-unit-on-nothing",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("act", "error", "text"), REFUSED)
def test_a_refusal_leaves_the_store_as_it_was(
    runtime: TestController, act: Callable[[TestController], Any], error: type[PushjujuError], text: str
) -> None:
    runtime.active()
    runtime.write(lambda tx: machines.new_machine(tx, base=UBUNTU, constraints={}))
    _dying_machine(runtime)
    before = runtime.dump()
    with pytest.raises(error) as caught:
        act(runtime)
    assert caught.value.message == text
    assert runtime.dump() == before


def test_nothing_grows_in_a_dying_model(runtime: TestController) -> None:
    runtime.active()
    _dying_model(runtime)
    before = runtime.dump()
    for act in (
        lambda: runtime.deploy("b", packed=runtime.charms.make("b")),
        lambda: units.add_units(runtime.ctx, runtime.model, "web", 1, []),
        lambda: machines.add_machine(runtime.ctx, runtime.model, base=UBUNTU, constraints={}),
    ):
        with pytest.raises(NotValid, match='model "shop" is no longer alive'):
            act()
    assert runtime.dump() == before


def test_no_units_for_a_dying_application(runtime: TestController) -> None:
    runtime.active()
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    before = runtime.dump()
    with pytest.raises(NotValid) as caught:
        units.add_units(runtime.ctx, runtime.model, "web", 1, [])
    assert (
        caught.value.message == 'cannot add unit to application "web": application is not found or not alive'
    )
    assert runtime.dump() == before


def test_no_units_for_a_subordinate(runtime: TestController) -> None:
    runtime.deploy("sub", 0, packed=_sub(runtime))
    before = runtime.dump()
    with pytest.raises(NotValid) as caught:
        units.add_units(runtime.ctx, runtime.model, "sub", 1, [])
    assert caught.value.message == 'cannot add units to subordinate application "sub"'
    assert runtime.dump() == before


def test_model_that_is_gone(runtime: TestController) -> None:
    with pytest.raises(NotFound, match="model nope not found"):
        new_application.add(
            runtime.ctx, "nope", NewApplication(application="web", packed=runtime.charms.make(), base=UBUNTU)
        )
    assert runtime.blobs() == []


# --- add-machine ------------------------------------------------------------------------------------------


def test_add_machine(runtime: TestController) -> None:
    runtime.forget_work()
    machine = machines.add_machine(
        runtime.ctx, runtime.model, base=NOBLE, constraints={"cores": 2}, placement="zone=b"
    )
    assert (machine.id, machine.base, machine.constraints) == ("0", "ubuntu@24.04/stable", {"cores": 2})
    assert runtime.machine("0").placement == "zone=b"
    assert runtime.touched() == ["machine/0"]
