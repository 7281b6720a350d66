"""What must not grow with the model: work of SQLite, frames, round trips, bytes. Counted, never timed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from pushjuju.core.clock import to_iso
from pushjuju.core.model.placement import Placement
from pushjuju.core.model.secrets import OwnerKind
from pushjuju.core.storage import Directive
from pushjuju.services.entities.application import units
from pushjuju.services.entities.basis import wake
from pushjuju.services.entities.machine import machine_work, machines
from pushjuju.services.entities.model import firewall
from pushjuju.services.entities.secret import secrets
from pushjuju.services.lifecycle import forced_ends, removal
from pushjuju.services.requests import removals
from pushjuju.services.requests.application import new_application, settings, unit_requests
from pushjuju.services.requests.application.new_application import NewApplication
from pushjuju.services.requests.application.settings import ConfigOptions
from pushjuju.services.requests.relation import integrate
from pushjuju.services.views.relation_rows import relation_rows
from pushjuju.services.views.status import document, storage_document
from pushjuju.services.views.status.status_filter import filter_status
from pushjuju.store.queue import WorkQueue, machine_key
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx
from pushjuju.workers.driver import Driver
from pushjuju.workers.loops import cleaner
from pushjuju.workers.machine.machine_worker import MachineWorker
from tests.bench.simulated import STACK, Simulation
from tests.bench.statements import counted, effort
from tests.world.charms import UBUNTU, Charms
from tests.world.controller import TestController

FEW, MANY = 10, 5000  # units of other applications around
FEW_RELATIONS, MANY_RELATIONS = 2, 120
SAME = 1.1  # how much more a thing may take among many: a tree gets a level, a page splits
MOST_STEPS = 200  # to look at a hundred keys, in tens
MOST_BYTES = 4096  # of a hook of a unit with some relations
SQL = {"db": {"interface": "sql"}}
UNIT = "web/0"


def surrounded(root: Path, count: int, apps: int = 10) -> TestController:
    """Return a model with two applications that are at rest, among units that never run."""
    world = TestController.build(root, Charms(root / "charms"))
    world.active("web", 2, packed=world.charms.make("web", requires=SQL))
    world.active("db", 2, packed=world.charms.make("db", provides={"server": {"interface": "sql"}}))
    for number in range(apps):
        world.deploy(f"other{number}", count // apps)
    return world


def set_config(world: TestController) -> None:
    settings.set_config(
        world.ctx,
        world.model,
        ConfigOptions(application="web", values={"port": str(len(world.played().frames))}),
    )


def hook(world: TestController) -> None:
    dispatch = world.prepared(UNIT)
    world.commit(dispatch, world.played().run(dispatch.frame))
    assert world.turn(UNIT).dispatch is None


def look(world: TestController) -> None:
    assert world.turn(UNIT).dispatch is None


def relate(world: TestController) -> None:
    integrate.integrate(world.ctx, world.model, "web", "db")


def unrelate(world: TestController) -> None:
    integrate.remove_relation(world.ctx, world.model, ["web", "db"])


def finish_applications(world: TestController) -> None:
    world.write(removal.finish_applications)


def add_unit(world: TestController) -> None:
    units.add_units(world.ctx, world.model, "db", 1, [])


def remove_units(world: TestController) -> None:
    removals.remove_units(world.ctx, world.model, ["db/2"])


def deploy(world: TestController) -> None:
    world.deploy("new", packed=world.charms.make("web", requires=SQL), base=UBUNTU)


def remove_application(world: TestController) -> None:
    removals.remove_applications(world.ctx, world.model, ["new"])


def claim(world: TestController) -> None:
    queue = WorkQueue(world.ctx.store, "host:1:1", lives=lambda _: True)
    found = queue.claim(world.model, world.clock.now())
    assert found is not None
    queue.finish(found, world.clock.now(), None)


def find_nothing_due(world: TestController) -> None:
    queue = WorkQueue(world.ctx.store, "host:1:1")
    assert not queue.anything_due(world.model, world.clock.now() - timedelta(seconds=1))


def say_how_it_went(world: TestController) -> None:
    assert not Driver(world.ctx, world.model)._summary().problems


def sweep_one(world: TestController) -> None:
    unit_requests.make_due(world.ctx, world.model, [UNIT])


def forget_what_is_old(world: TestController) -> None:
    asyncio.run(cleaner._prune(world.ctx, world.model))


def look_for_forced_ends(world: TestController) -> None:
    def force_the_end(tx: ModelTx) -> None:
        removal.destroy_unit(tx, units.get(tx, "web/1"), removal.Force())

    world.write(force_the_end)
    assert forced_ends.any_ahead(world.ctx)


def show_one_application(world: TestController) -> None:
    patterns = ["web/0", "db/*"]
    found = document.document(world.ctx, world.resolve_model(), str, patterns)
    assert set(filter_status(found, patterns)[0]["applications"]) == {"web", "db"}


def list_work_of_another_model(world: TestController) -> None:
    queue = WorkQueue(world.ctx.store, "host:1:1")
    assert not queue.items("no-such-model")


# In this order: some undo what the one before did.
STEPS: tuple[Callable[[TestController], None], ...] = (
    look, set_config, hook, sweep_one, relate, unrelate, add_unit, remove_units, deploy, remove_application,
    finish_applications, claim,
    find_nothing_due, say_how_it_went, forget_what_is_old, look_for_forced_ends,
    show_one_application, list_work_of_another_model,
)  # fmt: skip


def test_sqlite_works_as_little_among_many_units_as_among_few(tmp_path: Path) -> None:
    worlds = [surrounded(tmp_path / str(count), count) for count in (FEW, MANY)]
    found = {do.__name__: [steps_of(world, do) for world in worlds] for do in STEPS}
    for world in worlds:
        world.ctx.close()
    assert {name: each for name, each in found.items() if each[1] > each[0] * SAME + 2} == {}


def test_a_new_address_costs_as_little_among_5000_firewalls_as_among_ten(tmp_path: Path) -> None:
    spent = []
    for count in (FEW, 5000):
        world = TestController.build(tmp_path / str(count), Charms(tmp_path / "charms"))
        insert = "INSERT INTO machine (model, id, life, base, created) VALUES (?, ?, 'alive', '', '')"
        rows = [(world.model, str(number)) for number in range(count)]
        world.ctx.store._connection.executemany(insert, rows)
        world.ctx.store._connection.executemany(
            "INSERT INTO machine_firewall (model, machine) VALUES (?, ?)", rows
        )
        spent.append([steps_of(world, let_in) for _ in range(2)])
        known = world.read(lambda tx: firewall.state(tx, "0"))
        assert known is not None
        assert known.changes == 3  # the first, and two of all machines
        world.ctx.close()
    assert spent[0] == spent[1]


def test_a_secret_is_found_by_its_label_among_5000_as_among_ten(tmp_path: Path) -> None:
    owner = secrets.Owner(kind=OwnerKind.MODEL)
    spent = []
    for count in (FEW, 5000):
        world = TestController.build(tmp_path / str(count), Charms(tmp_path / "charms"))
        world.ctx.store._connection.executemany(
            "INSERT INTO secret (model, id, owner_kind, owner, application, label, latest, created, updated) "
            "VALUES (?, ?, 'model', '', '', ?, 1, '2025-03-01T09:00Z', '2025-03-01T09:00Z')",
            [(world.model, f"s{number}", f"label{number}") for number in range(count)],
        )
        with effort(world.ctx.store) as one:
            assert world.read(lambda tx: secrets.by_label(tx, owner, "label7")) is not None
        spent.append(one.steps)
        world.ctx.close()
    assert spent[0] == spent[1]


def test_work_that_nobody_does_is_found_among_50000_keys_as_among_ten(tmp_path: Path) -> None:
    for_later, for_long = [], []
    for count in (FEW, 50_000):
        world = TestController.build(tmp_path / str(count), Charms(tmp_path / "charms"))
        later = to_iso(world.clock.now() + timedelta(hours=1))
        keys = [(machine_key(world.model, str(number)), later) for number in range(count)]
        world.ctx.store._connection.executemany("INSERT INTO work (key, due) VALUES (?, ?)", keys)
        world.write(lambda tx: wake.machine(tx, "0", "a test"))
        world.clock.advance(10)
        for_later.append(steps_of(world, find_work_left))
        world.clock.advance(3600)
        for_long.append(steps_of(world, find_work_left))
        world.ctx.close()
    assert for_later[0] == for_later[1]
    assert for_long[1] <= for_long[0] + MOST_STEPS


def find_work_left(world: TestController) -> None:
    assert machine_work.is_any_left(world.ctx)


def let_in(world: TestController) -> None:
    world.write(firewall.let_in)


def steps_of(world: TestController, do: Callable[[TestController], None]) -> int:
    """Return how many steps SQLite takes for something."""
    with effort(world.ctx.store) as spent:
        do(world)
    return spent.steps


def test_a_new_machine_makes_sqlite_work_as_little_among_thousands_as_among_ten(tmp_path: Path) -> None:
    found = {do.__name__: [] for do in (add_machine, let_in, join)}
    for count in (10, 1000, 5000):
        world = guarded(tmp_path / str(count), count)
        for name, steps in found.items():
            steps.append(steps_of(world, globals()[name]))
        world.ctx.close()
    assert {name: each for name, each in found.items() if max(each) > each[0] * SAME + 2} == {}


def guarded(root: Path, count: int) -> TestController:
    """Return a model of machines whose firewalls are in force."""
    world = TestController.build(root, Charms(root / "charms"))

    def add(tx: ModelTx) -> None:
        for _ in range(count):
            machine = machines.new_machine(tx, base=UBUNTU, constraints={}).id
            tx.run("firewall_add", machine=machine)
            known = firewall.state(tx, machine)
            assert known is not None
            tx.run("firewall_seen", machine=machine, seen=known.changes)

    world.write(add)
    return world


def add_machine(world: TestController) -> None:
    world.write(lambda tx: machines.new_machine(tx, base=UBUNTU, constraints={}))


def join(world: TestController) -> None:
    world.write(lambda tx: firewall.joined(tx, "web", "0", "web/0 joins"))


def test_a_hook_is_one_round_trip_of_a_few_kilobytes_however_many_machines(tmp_path: Path) -> None:
    found = []
    for size in (4, 24):
        made = Simulation(tmp_path / str(size), size)
        made.deploy()
        made.measure("deploy")
        sweep = made.measure("sweep", made.sweep)
        made.world.ctx.close()
        assert sweep.hooks == sweep.turns == sweep.frames_in == size * len(STACK)
        assert (
            sweep.frames_out <= 2 * sweep.turns + size
        )  # a request, an acknowledgement; a sign of life each
        found.append(sweep.bytes_out / sweep.hooks)
    assert found[1] <= found[0] * SAME
    assert found[1] <= MOST_BYTES


def test_a_pass_over_units_at_rest_sends_nothing(tmp_path: Path) -> None:
    made = Simulation(tmp_path, 4)
    made.deploy()
    made.measure("deploy")
    idle = made.measure("pass", made.touch_all)
    made.world.ctx.close()
    assert (idle.turns, idle.frames_out) == (0, 0)


def test_a_machine_at_rest_is_left_alone_also_while_its_session_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, use = list[bool](), MachineWorker._use

    async def noted(self: MachineWorker, machine: Machine) -> None:
        used.append(self.runtime.is_attached(machine))
        await use(self, machine)

    monkeypatch.setattr(MachineWorker, "_use", noted)
    made = Simulation(tmp_path, 4)
    made.deploy()
    made.serve({"deploy": lambda: None, "pass": made.touch_all, "sweep": made.sweep})
    units = made.units()
    made.world.ctx.close()
    assert made.phases[-1].hooks == units
    assert used == [False] * 4 + [True] * 4  # deployed, and then swept


def test_lanes_are_claimed_and_given_back_together(tmp_path: Path) -> None:
    made = Simulation(tmp_path, 24)
    made.deploy()
    made.measure("deploy")
    heard: list[str] = []
    made.world.ctx.store._connection.set_trace_callback(heard.append)
    made.measure("pass", made.touch_all)
    made.world.ctx.close()
    transactions = "\n".join(heard).split("BEGIN IMMEDIATE")
    assert sum("UPDATE work" in one for one in transactions) <= 24 / 4


def test_turns_and_results_of_several_machines_share_their_commits(tmp_path: Path) -> None:
    made = Simulation(tmp_path, 8)
    made.deploy()
    made.measure("deploy")
    heard: list[str] = []
    made.world.ctx.store._connection.set_trace_callback(heard.append)
    sweep = made.measure("sweep", made.sweep)
    made.world.ctx.close()
    # A hook has a turn and a result; the machines write them at the same moments.
    assert heard.count("BEGIN IMMEDIATE") < sweep.hooks


def test_a_hook_takes_as_many_statements_however_many_units_share_its_machine(tmp_path: Path) -> None:
    found = []
    for size in (2, 16):
        made = crowded(tmp_path / str(size), size)
        with counted(made.world.ctx.store) as statements:
            sweep = made.measure("sweep", made.sweep)
        found.append(len([text for text in statements if not text.startswith("PRAGMA")]) / sweep.hooks)
        assert sweep.hooks == size
        made.world.ctx.close()
    assert found[1] <= found[0]


def crowded(root: Path, size: int) -> Simulation:
    """Return a model at rest with one machine, which has all units of one application."""
    made = Simulation(root, 0)
    request = NewApplication(
        application="log", packed=made.packed("log"), base=UBUNTU, count=size,
        placements=[Placement.parse("0")] * size,
    )  # fmt: skip
    made.world.write(lambda tx: machines.new_machine(tx, base=UBUNTU, constraints={}))
    new_application.add(made.world.ctx, made.world.model, request)
    made.measure("deploy")
    return made


def test_relations_are_shown_in_as_many_statements_however_many_there_are(tmp_path: Path) -> None:
    found = []
    for count in (FEW_RELATIONS, MANY_RELATIONS):
        world = surrounded(tmp_path / str(count), 5 * count, apps=count)
        with counted(world.ctx.store) as statements:
            relation_rows(world.ctx, world.model)
        found.append(len(statements))
        world.ctx.close()
    assert found[0] == found[1]


def test_storage_is_shown_in_as_many_statements_however_much_there_is(tmp_path: Path) -> None:
    found = []
    for count in (2, 60):
        world = TestController.build(tmp_path / str(count), Charms(tmp_path / "charms"))
        disks = [Directive(pool="loop", size=64, count=count)]
        machines.add_machine(world.ctx, world.model, base=UBUNTU, constraints={}, disks=disks)
        with counted(world.ctx.store) as statements:
            assert len(storage_document.document(world.ctx, world.model)["volumes"]) == count
        found.append(len(statements))
        world.ctx.close()
    assert found[0] == found[1]
