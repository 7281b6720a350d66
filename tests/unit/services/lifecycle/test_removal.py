"""How things go: units, applications, machines, models; orderly and by force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.core.clock import to_iso
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
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import unit_requests
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.store.rows.records import Cleanup, RelationScope
from tests.world.charms import UBUNTU
from tests.world.controller import TestController

TEARDOWN = ["stop", "remove"]


def _cleanups(runtime: TestController) -> list[tuple[str, str, str]]:
    found = runtime.read(lambda tx: tx.list(Cleanup, "cleanup_list"))
    return [(item.kind, item.entity, to_iso(item.due)) for item in found]


def _remove(runtime: TestController, *names: str, force: Force | None = None) -> None:
    removals.remove_units(runtime.ctx, runtime.model, list(names), force)


def _scopes(runtime: TestController, relation: int = 0) -> dict[str, int]:
    found: list[RelationScope] = runtime.read(lambda tx: relations.scopes(tx, relation))
    return {item.unit: item.departing for item in found}


# --- units ------------------------------------------------------------------------------------------------


def test_unit_that_never_ran_goes_at_once_with_its_machine(runtime: TestController) -> None:
    runtime.deploy(count=2)
    _remove(runtime, "web/0")
    assert runtime.units() == ["web/1"]
    assert [runtime.machine(item).life for item in ("0", "1")] == ["dying", "alive"]
    assert runtime.status(StatusKind.MACHINE, "0") == ("stopped", "")
    assert runtime.workload() == ("", "")
    assert runtime.agent() == ("", "")


def test_unit_that_ran_is_dying_and_departing(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.forget_work()
    _remove(runtime, "web/0")
    assert runtime.unit("web/0").life == "dying"
    assert _scopes(runtime) == {"web/0": 1, "web/1": 0}
    assert runtime.touched() == ["machine/0", "machine/1"]
    assert runtime.machine("0").life == "alive"


def test_dying_unit_runs_its_last_hooks(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.clear()
    _remove(runtime, "web/0")
    runtime.settle()
    assert runtime.of("web/0") == ["cluster-relation-departed", *TEARDOWN]
    assert runtime.of("web/1") == ["leader-elected", "cluster-relation-departed"]
    assert runtime.units() == ["web/1"]
    assert runtime.machine_ids() == ["1"]
    assert _scopes(runtime) == {"web/1": 0}


def test_everything_of_a_removed_unit_is_forgotten(runtime: TestController) -> None:
    runtime.active(count=2)
    played = runtime.played("0")
    played.will("update-status", {"writes": {"state": {"k": "v"}, "ports": {"open": [
        {"endpoint": "", "protocol": "tcp", "from": 80, "to": 80}]}}})  # fmt: skip
    runtime.clock.advance(400)
    runtime.settle()
    _remove(runtime, "web/0")
    runtime.settle()
    left = {
        table: rows
        for table, rows in runtime.dump().items()
        if table
        in ("unit", "charm_state", "port", "status", "status_history", "operation", "lease", "machine")
        and any("web/0" in row for row in rows)
    }
    assert left == {}


def test_settings_of_a_departed_unit_stay_readable(runtime: TestController) -> None:
    runtime.active(count=2)
    _remove(runtime, "web/0")
    runtime.settle()
    assert "web/0" in runtime.read(lambda tx: relations.bags(tx, 0))


def test_removing_twice_is_no_error(runtime: TestController) -> None:
    runtime.active()
    _remove(runtime, "web/0")
    _remove(runtime, "web/0", "web/0")
    assert runtime.unit("web/0").life == "dying"
    runtime.settle()
    assert runtime.units() == []


def test_the_leader_goes_and_another_is_elected(runtime: TestController) -> None:
    runtime.active(count=2)
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) == "web/0"
    runtime.clear()
    _remove(runtime, "web/0")
    runtime.settle()
    assert runtime.read(lambda tx: leadership.holder(tx, "web")) == "web/1"
    assert runtime.of("web/1") == ["leader-elected", "cluster-relation-departed"]


def test_machine_with_another_unit_stays(runtime: TestController) -> None:
    from pushjuju.core.model.placement import Placement

    runtime.deploy("web", 1)
    runtime.deploy("db", 1, placements=[Placement.parse("0")])
    runtime.settle()
    _remove(runtime, "web/0")
    runtime.settle()
    assert runtime.units() == ["db/0"]
    assert runtime.machine("0").life == "alive"
    _remove(runtime, "db/0")
    runtime.settle()
    assert runtime.machine_ids() == []


def test_unit_in_error_hangs_until_resolved(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("start")
    runtime.settle()
    _remove(runtime, "web/0")
    runtime.settle()
    assert runtime.unit("web/0").life == "dying"
    assert runtime.agent()[0] == "error"
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=False)
    runtime.clear()
    runtime.settle()
    assert runtime.of("web/0") == TEARDOWN
    assert runtime.units() == []


def test_unit_dying_before_its_charm_was_installed(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played()
    dispatch = runtime.until("charm local:web-0")
    runtime.commit(dispatch, {"outcome": "error", "message": "no space left on device"})
    assert runtime.agent() == ("failed", "no space left on device")
    _remove(runtime, "web/0")
    runtime.settle()
    assert runtime.of("web/0") == []
    assert runtime.units() == []


def test_unit_dying_while_its_install_is_in_error(runtime: TestController) -> None:
    runtime.deploy()
    runtime.played().fail("install")
    runtime.settle()
    _remove(runtime, "web/0")
    unit_requests.resolve(runtime.ctx, runtime.model, ["web/0"], retry=False)
    runtime.clear()
    runtime.settle()
    assert runtime.of("web/0") == ["remove"]  # installed by the skip, never started


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["web/0", "web/9"], NotFound, 'unit "web/9" does not exist'),
        (["web/0", "nope/0"], NotFound, 'unit "nope/0" does not exist'),
    ],
)
def test_refused_removal_of_units(
    runtime: TestController, names: list[str], error: type[PushjujuError], text: str
) -> None:
    runtime.active()
    before = runtime.dump()
    with pytest.raises(error) as caught:
        _remove(runtime, *names)
    assert caught.value.message == text
    assert runtime.dump() == before


def _with_subordinate(runtime: TestController) -> None:
    runtime.active()
    sub = runtime.charms.make(
        "sub", subordinate=True, requires={"h": {"interface": "juju-info", "scope": "container"}}
    )
    runtime.deploy("sub", 0, packed=sub)

    def insert(tx: Any) -> None:
        from pushjuju.store.rows.records import Unit

        unit = Unit(
            model=runtime.model, name="sub/0", application="sub", number=0, machine="0", principal="web/0",
            life="alive", created=runtime.clock.now(),
        )  # fmt: skip
        tx.insert("unit", unit)
        units.set_first_statuses(tx, unit)

    runtime.write(insert)


def test_subordinates_are_not_removed_by_hand(runtime: TestController) -> None:
    _with_subordinate(runtime)
    before = runtime.dump()
    with pytest.raises(NotValid) as caught:
        _remove(runtime, "sub/0")
    assert caught.value.message == (
        'unit "sub/0" is a subordinate, to remove use remove-relation. '
        'Note: this will remove all units of "sub"'
    )
    assert runtime.dump() == before


def test_forced_end_takes_subordinates_first(runtime: TestController) -> None:
    _with_subordinate(runtime)
    runtime.write(lambda tx: removal.force_unit(tx, units.get(tx, "web/0")))
    assert runtime.units() == []
    assert runtime.machine("0").life == "dying"


# --- force ------------------------------------------------------------------------------------------------


def test_forced_removal_has_a_deadline(runtime: TestController) -> None:
    runtime.active()
    _remove(runtime, "web/0", force=Force())
    unit = runtime.unit("web/0")
    assert (unit.life, unit.forced) == ("dying", 1)
    assert _cleanups(runtime) == [("force-unit", "web/0", "2025-03-01T09:01:00.000000Z")]
    runtime.settle()
    assert runtime.units() == []  # the orderly way was faster


def test_force_without_waiting(runtime: TestController) -> None:
    runtime.active()
    _remove(runtime, "web/0", force=Force(wait_s=0))
    assert _cleanups(runtime) == [("force-unit", "web/0", "2025-03-01T09:00:00.000000Z")]


def test_a_second_force_may_only_shorten_the_wait(runtime: TestController) -> None:
    runtime.active()
    _remove(runtime, "web/0", force=Force())
    _remove(runtime, "web/0", force=Force(wait_s=0))
    assert _cleanups(runtime) == [("force-unit", "web/0", "2025-03-01T09:00:00.000000Z")]
    runtime.clock.advance(5)
    _remove(runtime, "web/0", force=Force())
    assert _cleanups(runtime) == [("force-unit", "web/0", "2025-03-01T09:00:00.000000Z")]


@pytest.mark.parametrize("force", [None, Force()])
def test_a_unit_with_storage_goes_by_way_of_dying_though_it_never_ran(
    runtime: TestController, force: Force | None
) -> None:
    store = {"data": {"type": "filesystem", "location": "/srv"}}
    packed = runtime.charms.make("disk", config=None, storage=store)
    runtime.deploy("disk", packed=packed, storage={"data": Directive(pool="local", size=1024, count=1)})
    _remove(runtime, "disk/0", force=force)
    assert runtime.unit("disk/0").life == "dying"
    runtime.settle()
    assert runtime.units() == []
    assert runtime.of("disk/0") == []


def test_force_of_a_unit_that_never_ran(runtime: TestController) -> None:
    runtime.deploy()
    _remove(runtime, "web/0", force=Force())
    assert runtime.units() == []


# --- applications -----------------------------------------------------------------------------------------


def test_application_without_units_goes_at_once(runtime: TestController) -> None:
    runtime.deploy(count=1)
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    assert runtime.applications() == []
    assert runtime.machine("0").life == "dying"
    dump = runtime.dump()
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


def test_application_goes_with_its_last_unit(runtime: TestController) -> None:
    runtime.active(count=3)
    runtime.clear()
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    assert runtime.application().life == "dying"
    runtime.settle()
    assert runtime.applications() == []
    assert runtime.machine_ids() == []
    for unit in ("web/0", "web/1", "web/2"):
        departed = [hook for hook in runtime.of(unit) if hook == "cluster-relation-departed"]
        assert runtime.of(unit) == departed + TEARDOWN
    assert runtime.dump()["relation"] == []


def test_charm_that_another_application_uses_stays(runtime: TestController) -> None:
    runtime.deploy("a")
    other = runtime.charms.make("other")
    runtime.deploy("b", packed=other)
    runtime.deploy("c", packed=other)
    removals.remove_applications(runtime.ctx, runtime.model, ["b"])
    urls = [row[1] for row in runtime.dump()["charm"]]
    assert urls == ["local:other-1", "local:web-0"]


def test_old_charm_goes_when_the_last_unit_left_it(runtime: TestController) -> None:
    runtime.active(count=2)
    runtime.refresh(runtime.charms.make(files={"src/a": "2"}))
    runtime.work("0")
    assert [row[1] for row in runtime.dump()["charm"]] == [
        "local:web-0",
        "local:web-1",
    ]  # web/1 is on web-0 yet
    runtime.forget_work()
    runtime.work("1")
    assert [row[1] for row in runtime.dump()["charm"]] == ["local:web-1"]
    assert "loop/cleanup" in runtime.touched()


def test_charm_of_an_operation_under_way_stays(runtime: TestController) -> None:
    """The machine unpacks web-1 while a newer revision comes and a clean-up runs."""
    runtime.active()
    runtime.refresh(runtime.charms.make(files={"src/a": "2"}))
    dispatch = runtime.until("charm local:web-1")
    runtime.refresh(runtime.charms.make(files={"src/a": "3"}))
    runtime.deploy("other", packed=runtime.charms.make("other"))
    removals.remove_applications(runtime.ctx, runtime.model, ["other"])
    assert "local:web-1" in [row[1] for row in runtime.dump()["charm"]]
    runtime.commit(dispatch, runtime.played().run(dispatch.frame))
    runtime.settle()
    assert runtime.unit("web/0").charm_url == "local:web-2"


def test_removing_a_missing_application(runtime: TestController) -> None:
    runtime.active()
    before = runtime.dump()
    with pytest.raises(NotFound) as caught:
        removals.remove_applications(runtime.ctx, runtime.model, ["web", "nope"])
    assert caught.value.message == 'application "nope" not found'
    assert runtime.dump() == before


def test_removing_an_application_twice(runtime: TestController) -> None:
    runtime.active()
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    removals.remove_applications(runtime.ctx, runtime.model, ["web", "web"])
    runtime.settle()
    assert runtime.applications() == []


# --- machines ---------------------------------------------------------------------------------------------


def _machine(runtime: TestController) -> str:
    made = runtime.write(lambda tx: machines.new_machine(tx, base=UBUNTU, constraints={}))
    return str(made.id)


def test_empty_machine_is_dying(runtime: TestController) -> None:
    machine = _machine(runtime)
    removals.remove_machines(runtime.ctx, runtime.model, [machine])
    assert runtime.machine(machine).life == "dying"
    assert runtime.status(StatusKind.MACHINE, machine) == ("stopped", "")


def test_instance_may_be_kept(runtime: TestController) -> None:
    machine = _machine(runtime)
    removals.remove_machines(runtime.ctx, runtime.model, [machine], keep_instance=True)
    assert runtime.machine(machine).keep_instance is True


def test_machine_of_dying_units_is_dying(runtime: TestController) -> None:
    runtime.active()
    _remove(runtime, "web/0")
    removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    assert runtime.machine("0").life == "dying"
    runtime.settle()
    assert runtime.machine_ids() == []
    assert runtime.of("web/0")[-2:] == TEARDOWN


def test_machine_with_units_is_refused(runtime: TestController) -> None:
    from pushjuju.core.model.placement import Placement

    runtime.deploy("web")
    runtime.deploy("db", placements=[Placement.parse("0")])
    runtime.settle()
    spare = _machine(runtime)
    before = runtime.dump()
    with pytest.raises(NotValid) as caught:
        removals.remove_machines(runtime.ctx, runtime.model, [spare, "0"])
    assert caught.value.message == 'machine 0 has units "db/0", "web/0" assigned'
    assert runtime.dump() == before


def test_machine_with_one_unit_is_refused(runtime: TestController) -> None:
    runtime.active()
    with pytest.raises(NotValid) as caught:
        removals.remove_machines(runtime.ctx, runtime.model, ["0"])
    assert caught.value.message == 'machine 0 has unit "web/0" assigned'


def test_missing_machine(runtime: TestController) -> None:
    before = runtime.dump()
    with pytest.raises(NotFound, match="machine 7 not found"):
        removals.remove_machines(runtime.ctx, runtime.model, ["7"])
    assert runtime.dump() == before


def test_forced_machine_takes_its_units(runtime: TestController) -> None:
    runtime.active()
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=Force())
    machine = runtime.machine("0")
    assert (machine.life, machine.forced) == ("dying", 1)
    assert runtime.unit("web/0").life == "dying"
    due = "2025-03-01T09:01:00.000000Z"
    assert _cleanups(runtime) == [("force-unit", "web/0", due), ("force-machine", "0", due)]


def test_forced_machine_with_a_unit_that_never_ran(runtime: TestController) -> None:
    runtime.deploy()
    removals.remove_machines(runtime.ctx, runtime.model, ["0"], force=Force())
    assert runtime.units() == []
    assert (runtime.machine("0").life, runtime.machine("0").forced) == ("dying", 1)


def test_removed_machine_leaves_nothing(runtime: TestController) -> None:
    machine = _machine(runtime)
    removals.remove_machines(runtime.ctx, runtime.model, [machine])
    runtime.write(lambda tx: removal.remove_machine(tx, machines.get(tx, machine)))
    dump = runtime.dump()
    assert (dump["machine"], dump["operation"]) == ([], [])
    assert runtime.status(StatusKind.MACHINE, machine) == ("", "")
    assert runtime.touched() == ["loop/cleanup"]


# --- models -----------------------------------------------------------------------------------------------


def test_dying_model_waits_for_all_that_it_has(runtime: TestController) -> None:
    runtime.active(count=2)
    _machine(runtime)
    runtime.destroy_model()
    assert runtime.resolve_model().life == "dying"
    assert runtime.status(StatusKind.MODEL, "shop") == ("destroying", "")
    assert runtime.read(removal.blockers) == [
        "machine 0 waits for web/0",
        "machine 1 waits for web/1",
        "machine 2 stops",
        "application web is dying",
    ]
    runtime.settle()
    assert runtime.read(removal.blockers) == []
    assert runtime.of("web/1")[-2:] == TEARDOWN


def test_empty_model_waits_for_nothing(runtime: TestController) -> None:
    runtime.destroy_model()
    assert runtime.read(removal.blockers) == []


def test_forced_model_forces_its_parts(runtime: TestController) -> None:
    runtime.active()
    runtime.destroy_model(Force(wait_s=30))
    assert runtime.resolve_model().forced is True
    assert (runtime.unit("web/0").forced, runtime.machine("0").forced) == (1, 1)
    due = "2025-03-01T09:00:30.000000Z"
    assert _cleanups(runtime) == [("force-unit", "web/0", due), ("force-machine", "0", due)]


def test_force_is_not_taken_back(runtime: TestController) -> None:
    runtime.active()
    runtime.destroy_model(Force())
    runtime.destroy_model()
    assert runtime.resolve_model().forced is True


def test_deleted_model_leaves_nothing(runtime: TestController) -> None:
    other = add_model(runtime.ctx, AddModelOptions(name="other"))
    before = runtime.dump()
    model, runtime.model = runtime.model, other.uuid
    runtime.active()
    removals.remove_applications(runtime.ctx, runtime.model, ["web"])
    runtime.settle()
    runtime.model = model
    late = {"kind": "force-unit", "entity": "web/0", "args": "{}", "due": "2025", "reason": ""}
    runtime.write(lambda tx: tx.run("cleanup_add", model=other.uuid, **late), whole=True)
    runtime.write(lambda tx: models.delete(tx.beside(other.uuid)), whole=True)
    after = runtime.dump()
    del after["audit"], before["audit"]  # stays when what it tells of is gone
    assert {table for table in after if any(other.uuid in str(row) for row in after[table])} == set()
    unchanged = [
        table for table in before if table not in ("model", "status", "status_history", "work", "blobs")
    ]
    assert [table for table in unchanged if before[table] != after[table]] == []


@pytest.mark.parametrize(
    "act",
    [
        lambda runtime: removals.remove_units(runtime.ctx, "nope", ["web/0"]),
        lambda runtime: removals.remove_applications(runtime.ctx, "nope", ["web"]),
        lambda runtime: removals.remove_machines(runtime.ctx, "nope", ["0"]),
    ],
)
def test_removing_from_a_missing_model(runtime: TestController, act: Callable[[TestController], Any]) -> None:
    runtime.active()
    before = runtime.dump()
    with pytest.raises(NotFound):
        act(runtime)
    assert runtime.dump() == before
