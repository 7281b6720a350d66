"""How things go: units, applications, machines, models; orderly and by force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.errors import NotFound, NotValid, PushjujuError
from pushjuju.core.status import StatusKind
from pushjuju.core.storage import Directive
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.store.rows.records import Cleanup, RelationScope
from tests.world.controller import UBUNTU, World

TEARDOWN = ["stop", "remove"]


def _cleanups(shop: World) -> list[tuple[str, str, str]]:
    found = shop.read(lambda tx: tx.list(Cleanup, "cleanup_list", model=shop.model))
    return [(item.kind, item.entity, item.due) for item in found]


def _remove(shop: World, *names: str, force: Force | None = None) -> None:
    removal.remove_units(shop.ctx, shop.model, list(names), force)


def _scopes(shop: World, relation: int = 0) -> dict[str, int]:
    found: list[RelationScope] = shop.read(lambda tx: relations.scopes(tx, shop.model, relation))
    return {item.unit: item.departing for item in found}


# --- units ------------------------------------------------------------------------------------------------


def test_unit_that_never_ran_goes_at_once_with_its_machine(shop: World) -> None:
    shop.deploy(count=2)
    _remove(shop, "web/0")
    assert shop.units() == ["web/1"]
    assert [shop.machine(item).life for item in ("0", "1")] == ["dying", "alive"]
    assert shop.status(StatusKind.MACHINE, "0") == ("stopped", "")
    assert shop.workload() == ("", "")
    assert shop.agent() == ("", "")


def test_unit_that_ran_is_dying_and_departing(shop: World) -> None:
    shop.active(count=2)
    shop.forget_work()
    _remove(shop, "web/0")
    assert shop.unit("web/0").life == "dying"
    assert _scopes(shop) == {"web/0": 1, "web/1": 0}
    assert shop.touched() == ["machine/0", "machine/1"]
    assert shop.machine("0").life == "alive"


def test_dying_unit_runs_its_last_hooks(shop: World) -> None:
    shop.active(count=2)
    shop.clear()
    _remove(shop, "web/0")
    shop.settle()
    assert shop.of("web/0") == ["cluster-relation-departed", *TEARDOWN]
    assert shop.of("web/1") == ["leader-elected", "cluster-relation-departed"]
    assert shop.units() == ["web/1"]
    assert shop.machine_ids() == ["1"]
    assert _scopes(shop) == {"web/1": 0}


def test_everything_of_a_removed_unit_is_forgotten(shop: World) -> None:
    shop.active(count=2)
    box = shop.box("0")
    box.will("update-status", {"writes": {"state": {"k": "v"}, "ports": {"open": [
        {"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}]}}})  # fmt: skip
    shop.clock.advance(400)
    shop.settle()
    _remove(shop, "web/0")
    shop.settle()
    left = {
        table: rows
        for table, rows in shop.dump().items()
        if table
        in ("unit", "charm_state", "port", "status", "status_history", "operation", "lease", "machine")
        and any("web/0" in row for row in rows)
    }
    assert left == {}


def test_settings_of_a_departed_unit_stay_readable(shop: World) -> None:
    shop.active(count=2)
    _remove(shop, "web/0")
    shop.settle()
    assert "web/0" in shop.read(lambda tx: relations.bags(tx, shop.model, 0))


def test_removing_twice_is_no_error(shop: World) -> None:
    shop.active()
    _remove(shop, "web/0")
    _remove(shop, "web/0", "web/0")
    assert shop.unit("web/0").life == "dying"
    shop.settle()
    assert shop.units() == []


def test_the_leader_goes_and_another_is_elected(shop: World) -> None:
    shop.active(count=2)
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "web")) == "web/0"
    shop.clear()
    _remove(shop, "web/0")
    shop.settle()
    assert shop.read(lambda tx: leadership.holder(tx, shop.model, "web")) == "web/1"
    assert shop.of("web/1") == ["leader-elected", "cluster-relation-departed"]


def test_machine_with_another_unit_stays(shop: World) -> None:
    from pushjuju.core.placement import Placement

    shop.deploy("web", 1)
    shop.deploy("db", 1, placements=[Placement.parse("0")])
    shop.settle()
    _remove(shop, "web/0")
    shop.settle()
    assert shop.units() == ["db/0"]
    assert shop.machine("0").life == "alive"
    _remove(shop, "db/0")
    shop.settle()
    assert shop.machine_ids() == []


def test_unit_in_error_hangs_until_resolved(shop: World) -> None:
    shop.deploy()
    shop.box().fail("start")
    shop.settle()
    _remove(shop, "web/0")
    shop.settle()
    assert shop.unit("web/0").life == "dying"
    assert shop.agent()[0] == "error"
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=False)
    shop.clear()
    shop.settle()
    assert shop.of("web/0") == TEARDOWN
    assert shop.units() == []


def test_unit_dying_before_its_charm_was_installed(shop: World) -> None:
    shop.deploy()
    shop.box()
    prepared = shop.until("charm local:web-0")
    shop.commit(prepared, {"outcome": "error", "message": "no space left on device"})
    assert shop.agent() == ("failed", "no space left on device")
    _remove(shop, "web/0")
    shop.settle()
    assert shop.of("web/0") == []
    assert shop.units() == []


def test_unit_dying_while_its_install_is_in_error(shop: World) -> None:
    shop.deploy()
    shop.box().fail("install")
    shop.settle()
    _remove(shop, "web/0")
    units.resolve(shop.ctx, shop.model, ["web/0"], retry=False)
    shop.clear()
    shop.settle()
    assert shop.of("web/0") == ["remove"]  # installed by the skip, never started


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["web/0", "web/9"], NotFound, 'unit "web/9" does not exist'),
        (["web/0", "nope/0"], NotFound, 'unit "nope/0" does not exist'),
    ],
)
def test_refused_removal_of_units(
    shop: World, names: list[str], error: type[PushjujuError], text: str
) -> None:
    shop.active()
    before = shop.dump()
    with pytest.raises(error) as caught:
        _remove(shop, *names)
    assert caught.value.message == text
    assert shop.dump() == before


def _with_subordinate(shop: World) -> None:
    shop.active()
    sub = shop.charms.make(
        "sub", subordinate=True, requires={"h": {"interface": "juju-info", "scope": "container"}}
    )
    shop.deploy("sub", 0, packed=sub)

    def insert(tx: Any) -> None:
        from pushjuju.store.rows.records import Unit

        unit = Unit(
            model=shop.model, name="sub/0", application="sub", number=0, machine="0", principal="web/0",
            life="alive", created="2025-03-01T09:00:00.000000Z",
        )  # fmt: skip
        tx.insert("unit", unit)
        units.set_first_statuses(tx, unit, shop.clock.now())

    shop.write(insert)


def test_subordinates_are_not_removed_by_hand(shop: World) -> None:
    _with_subordinate(shop)
    before = shop.dump()
    with pytest.raises(NotValid) as caught:
        _remove(shop, "sub/0")
    assert caught.value.message == (
        'unit "sub/0" is a subordinate, to remove use remove-relation. '
        'Note: this will remove all units of "sub"'
    )
    assert shop.dump() == before


def test_forced_end_takes_subordinates_first(shop: World) -> None:
    _with_subordinate(shop)
    shop.write(lambda tx: removal.force_unit(tx, units.get(tx, shop.model, "web/0"), shop.clock.now()))
    assert shop.units() == []
    assert shop.machine("0").life == "dying"


# --- force ------------------------------------------------------------------------------------------------


def test_forced_removal_has_a_deadline(shop: World) -> None:
    shop.active()
    _remove(shop, "web/0", force=Force())
    unit = shop.unit("web/0")
    assert (unit.life, unit.forced) == ("dying", 1)
    assert _cleanups(shop) == [("force-unit", "web/0", "2025-03-01T09:01:00.000000Z")]
    shop.settle()
    assert shop.units() == []  # the orderly way was faster


def test_force_without_waiting(shop: World) -> None:
    shop.active()
    _remove(shop, "web/0", force=Force(wait_s=0))
    assert _cleanups(shop) == [("force-unit", "web/0", "2025-03-01T09:00:00.000000Z")]


def test_a_second_force_may_only_shorten_the_wait(shop: World) -> None:
    shop.active()
    _remove(shop, "web/0", force=Force())
    _remove(shop, "web/0", force=Force(wait_s=0))
    assert _cleanups(shop) == [("force-unit", "web/0", "2025-03-01T09:00:00.000000Z")]
    shop.clock.advance(5)
    _remove(shop, "web/0", force=Force())
    assert _cleanups(shop) == [("force-unit", "web/0", "2025-03-01T09:00:00.000000Z")]


@pytest.mark.parametrize("force", [None, Force()])
def test_a_unit_with_storage_goes_by_way_of_dying_though_it_never_ran(
    shop: World, force: Force | None
) -> None:
    store = {"data": {"type": "filesystem", "location": "/srv"}}
    packed = shop.charms.make("disk", config=None, storage=store)
    shop.deploy("disk", packed=packed, storage={"data": Directive(pool="local", size=1024, count=1)})
    _remove(shop, "disk/0", force=force)
    assert shop.unit("disk/0").life == "dying"
    shop.settle()
    assert shop.units() == []
    assert shop.of("disk/0") == []


def test_force_of_a_unit_that_never_ran(shop: World) -> None:
    shop.deploy()
    _remove(shop, "web/0", force=Force())
    assert shop.units() == []


# --- applications -----------------------------------------------------------------------------------------


def test_application_without_units_goes_at_once(shop: World) -> None:
    shop.deploy(count=1)
    removal.remove_application(shop.ctx, shop.model, ["web"])
    assert shop.applications() == []
    assert shop.machine("0").life == "dying"
    dump = shop.dump()
    gone = (
        "application",
        "application_setting",
        "relation",
        "relation_endpoint",
        "relation_bag",
        "charm",
        "unit",
    )
    assert {table: dump[table] for table in gone} == {table: [] for table in gone}


def test_application_goes_with_its_last_unit(shop: World) -> None:
    shop.active(count=3)
    shop.clear()
    removal.remove_application(shop.ctx, shop.model, ["web"])
    assert shop.application().life == "dying"
    shop.settle()
    assert shop.applications() == []
    assert shop.machine_ids() == []
    for unit in ("web/0", "web/1", "web/2"):
        departed = [hook for hook in shop.of(unit) if hook == "cluster-relation-departed"]
        assert shop.of(unit) == departed + TEARDOWN
    assert shop.dump()["relation"] == []


def test_charm_that_another_application_uses_stays(shop: World) -> None:
    shop.deploy("a")
    other = shop.charms.make("other")
    shop.deploy("b", packed=other)
    shop.deploy("c", packed=other)
    removal.remove_application(shop.ctx, shop.model, ["b"])
    urls = [row[1] for row in shop.dump()["charm"]]
    assert urls == ["local:other-1", "local:web-0"]


def test_old_charm_goes_when_the_last_unit_left_it(shop: World) -> None:
    shop.active(count=2)
    shop.refresh(shop.charms.make(files={"src/a": "2"}))
    shop.work("0")
    assert [row[1] for row in shop.dump()["charm"]] == ["local:web-0", "local:web-1"]  # web/1 is on web-0 yet
    shop.forget_work()
    shop.work("1")
    assert [row[1] for row in shop.dump()["charm"]] == ["local:web-1"]
    assert "loop/cleanup" in shop.touched()


def test_charm_of_an_operation_under_way_stays(shop: World) -> None:
    """The machine unpacks web-1 while a newer revision comes and a clean-up runs."""
    shop.active()
    shop.refresh(shop.charms.make(files={"src/a": "2"}))
    prepared = shop.until("charm local:web-1")
    shop.refresh(shop.charms.make(files={"src/a": "3"}))
    shop.deploy("other", packed=shop.charms.make("other"))
    removal.remove_application(shop.ctx, shop.model, ["other"])
    assert "local:web-1" in [row[1] for row in shop.dump()["charm"]]
    shop.commit(prepared, shop.box().run(prepared.frame))
    shop.settle()
    assert shop.unit("web/0").charm_url == "local:web-2"


def test_removing_a_missing_application(shop: World) -> None:
    shop.active()
    before = shop.dump()
    with pytest.raises(NotFound) as caught:
        removal.remove_application(shop.ctx, shop.model, ["web", "nope"])
    assert caught.value.message == 'application "nope" not found'
    assert shop.dump() == before


def test_removing_an_application_twice(shop: World) -> None:
    shop.active()
    removal.remove_application(shop.ctx, shop.model, ["web"])
    removal.remove_application(shop.ctx, shop.model, ["web", "web"])
    shop.settle()
    assert shop.applications() == []


# --- machines ---------------------------------------------------------------------------------------------


def _machine(shop: World) -> str:
    made = shop.write(
        lambda tx: machines.new_machine(tx, shop.model, base=UBUNTU, constraints={}, now=shop.clock.now())
    )
    return str(made.id)


def test_empty_machine_is_dying(shop: World) -> None:
    machine = _machine(shop)
    removal.remove_machines(shop.ctx, shop.model, [machine])
    assert shop.machine(machine).life == "dying"
    assert shop.status(StatusKind.MACHINE, machine) == ("stopped", "")


def test_instance_may_be_kept(shop: World) -> None:
    machine = _machine(shop)
    removal.remove_machines(shop.ctx, shop.model, [machine], keep_instance=True)
    assert shop.machine(machine).keep_instance == 1


def test_machine_of_dying_units_is_dying(shop: World) -> None:
    shop.active()
    _remove(shop, "web/0")
    removal.remove_machines(shop.ctx, shop.model, ["0"])
    assert shop.machine("0").life == "dying"
    shop.settle()
    assert shop.machine_ids() == []
    assert shop.of("web/0")[-2:] == TEARDOWN


def test_machine_with_units_is_refused(shop: World) -> None:
    from pushjuju.core.placement import Placement

    shop.deploy("web")
    shop.deploy("db", placements=[Placement.parse("0")])
    shop.settle()
    spare = _machine(shop)
    before = shop.dump()
    with pytest.raises(NotValid) as caught:
        removal.remove_machines(shop.ctx, shop.model, [spare, "0"])
    assert caught.value.message == 'machine 0 has units "db/0", "web/0" assigned'
    assert shop.dump() == before


def test_machine_with_one_unit_is_refused(shop: World) -> None:
    shop.active()
    with pytest.raises(NotValid) as caught:
        removal.remove_machines(shop.ctx, shop.model, ["0"])
    assert caught.value.message == 'machine 0 has unit "web/0" assigned'


def test_missing_machine(shop: World) -> None:
    before = shop.dump()
    with pytest.raises(NotFound, match="machine 7 not found"):
        removal.remove_machines(shop.ctx, shop.model, ["7"])
    assert shop.dump() == before


def test_forced_machine_takes_its_units(shop: World) -> None:
    shop.active()
    removal.remove_machines(shop.ctx, shop.model, ["0"], force=Force())
    machine = shop.machine("0")
    assert (machine.life, machine.forced) == ("dying", 1)
    assert shop.unit("web/0").life == "dying"
    due = "2025-03-01T09:01:00.000000Z"
    assert _cleanups(shop) == [("force-unit", "web/0", due), ("force-machine", "0", due)]


def test_forced_machine_with_a_unit_that_never_ran(shop: World) -> None:
    shop.deploy()
    removal.remove_machines(shop.ctx, shop.model, ["0"], force=Force())
    assert shop.units() == []
    assert (shop.machine("0").life, shop.machine("0").forced) == ("dying", 1)


def test_removed_machine_leaves_nothing(shop: World) -> None:
    machine = _machine(shop)
    removal.remove_machines(shop.ctx, shop.model, [machine])
    shop.write(lambda tx: removal.remove_machine(tx, machines.get(tx, shop.model, machine), shop.clock.now()))
    dump = shop.dump()
    assert (dump["machine"], dump["operation"]) == ([], [])
    assert shop.status(StatusKind.MACHINE, machine) == ("", "")
    assert shop.touched() == ["loop/cleanup"]


# --- models -----------------------------------------------------------------------------------------------


def _destroy(shop: World, force: Force | None = None) -> None:
    shop.write(lambda tx: removal.destroy_model(tx, models.get(tx, shop.model), shop.clock.now(), force))


def test_dying_model_waits_for_all_that_it_has(shop: World) -> None:
    shop.active(count=2)
    _machine(shop)
    _destroy(shop)
    assert shop.resolve_model().life == "dying"
    assert shop.status(StatusKind.MODEL, "shop") == ("destroying", "")
    assert shop.read(lambda tx: removal.blockers(tx, shop.model)) == [
        "machine 0 waits for web/0",
        "machine 1 waits for web/1",
        "machine 2 stops",
        "application web is dying",
    ]
    shop.settle()
    assert shop.read(lambda tx: removal.blockers(tx, shop.model)) == []
    assert shop.of("web/1")[-2:] == TEARDOWN


def test_empty_model_waits_for_nothing(shop: World) -> None:
    _destroy(shop)
    assert shop.read(lambda tx: removal.blockers(tx, shop.model)) == []


def test_forced_model_forces_its_parts(shop: World) -> None:
    shop.active()
    _destroy(shop, Force(wait_s=30))
    assert shop.resolve_model().forced == 1
    assert (shop.unit("web/0").forced, shop.machine("0").forced) == (1, 1)
    due = "2025-03-01T09:00:30.000000Z"
    assert _cleanups(shop) == [("force-unit", "web/0", due), ("force-machine", "0", due)]


def test_force_is_not_taken_back(shop: World) -> None:
    shop.active()
    _destroy(shop, Force())
    _destroy(shop)
    assert shop.resolve_model().forced == 1


def test_deleted_model_leaves_nothing(shop: World) -> None:
    other = models.add_model(shop.ctx, "other")
    before = shop.dump()
    model, shop.model = shop.model, other.uuid
    shop.active()
    removal.remove_application(shop.ctx, shop.model, ["web"])
    shop.settle()
    shop.model = model
    late = {"kind": "force-unit", "entity": "web/0", "args": "{}", "due": "2025", "reason": ""}
    shop.write(lambda tx: tx.run("cleanup_add", model=other.uuid, **late))
    shop.write(lambda tx: models.delete(tx, other.uuid))
    after = shop.dump()
    assert {table for table in after if any(other.uuid in str(row) for row in after[table])} == set()
    unchanged = [
        table for table in before if table not in ("model", "status", "status_history", "work", "blobs")
    ]
    assert [table for table in unchanged if before[table] != after[table]] == []


@pytest.mark.parametrize(
    "act",
    [
        lambda shop: removal.remove_units(shop.ctx, "nope", ["web/0"]),
        lambda shop: removal.remove_application(shop.ctx, "nope", ["web"]),
        lambda shop: removal.remove_machines(shop.ctx, "nope", ["0"]),
    ],
)
def test_removing_from_a_missing_model(shop: World, act: Callable[[World], Any]) -> None:
    shop.active()
    before = shop.dump()
    with pytest.raises(NotFound):
        act(shop)
    assert shop.dump() == before
