"""What must not grow with the model: work of SQLite, frames, round trips, bytes. Counted, never timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from pushjuju.services import applications, integrate, removal, units, update_status
from pushjuju.state.work import SqliteWorkQueue
from pushjuju.workers.drive import Driver
from tests.bench.statements import effort
from tests.unit.services.world import UBUNTU, Charms, World

FEW, MANY = 10, 600  # units of other applications around
SAME = 1.1  # how much more a thing may take among many: a tree gets a level, a page splits
SQL = {"db": {"interface": "sql"}}
UNIT = "web/0"


def surrounded(root: Path, count: int) -> World:
    """Return a model with two applications that are at rest, among units that never run."""
    world = World.build(root, Charms(root / "charms"))
    world.active("web", 2, packed=world.charms.make("web", requires=SQL))
    world.active("db", 2, packed=world.charms.make("db", provides={"server": {"interface": "sql"}}))
    for number in range(10):
        world.deploy(f"other{number}", count // 10)
    return world


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, World]]:
    """A small and a large model with the same two applications."""
    few, many = (surrounded(tmp_path_factory.mktemp("world"), count) for count in (FEW, MANY))
    yield few, many
    few.ctx.close()
    many.ctx.close()


def set_config(world: World) -> None:
    applications.set_config(world.ctx, world.model, "web", values={"port": str(len(world.box().frames))})


def hook(world: World) -> None:
    prepared = world.prepared(UNIT)
    world.commit(prepared, world.box().run(prepared.frame))
    assert world.turn(UNIT).prepared is None


def look(world: World) -> None:
    assert world.turn(UNIT).prepared is None


def relate(world: World) -> None:
    integrate.integrate(world.ctx, world.model, "web", "db")


def add_unit(world: World) -> None:
    units.add_units(world.ctx, world.model, "db", 1, [])


def remove_units(world: World) -> None:
    removal.remove_units(world.ctx, world.model, ["db/2"])


def deploy(world: World) -> None:
    world.deploy("new", packed=world.charms.make("web", requires=SQL), base=UBUNTU)


def remove_application(world: World) -> None:
    removal.remove_application(world.ctx, world.model, ["new"])


def claim(world: World) -> None:
    queue = SqliteWorkQueue(world.ctx.store, "host:1:1", alive=lambda _: True)
    found = queue.claim(world.model, world.clock.now())
    assert found is not None
    queue.finish(found, world.clock.now(), None)


def find_nothing_due(world: World) -> None:
    queue = SqliteWorkQueue(world.ctx.store, "host:1:1")
    assert not queue.anything_due(world.model, world.clock.now() - timedelta(seconds=1))


def say_how_it_went(world: World) -> None:
    assert not Driver(world.ctx, world.model)._summary().problems


def sweep_one(world: World) -> None:
    update_status.make_due(world.ctx, world.model, [UNIT])


@pytest.mark.parametrize(
    "do",
    [
        look, set_config, hook, sweep_one, relate, add_unit, remove_units, deploy, remove_application, claim,
        find_nothing_due, say_how_it_went,
    ],
)  # fmt: skip
def test_sqlite_works_as_little_among_many_units_as_among_few(
    worlds: tuple[World, World], do: Callable[[World], None]
) -> None:
    found = []
    for world in worlds:
        with effort(world.ctx.store) as spent:
            do(world)
        found.append(spent.steps)
    assert found[1] <= found[0] * SAME + 2, found
