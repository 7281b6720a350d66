"""Whatever people do to a model, and at whatever moment: it comes to rest, and what Juju promises holds.

Real are the store, the services, the queue, the lanes, the cleaner and the resolver; played are the machines
with their charms, the clock, and the controller's death. `PUSHJUJU_MODEL_SECONDS` asks for more stories,
`PUSHJUJU_MODEL_LENGTH` for longer ones.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from pushjuju.services.entities.machine import upgrade_machine
from pushjuju.services.entities.model import models
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests.application import unit_requests
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.memory import MEMORY
from tests.world.stepped.checks import check_nothing_left, check_rest
from tests.world.stepped.people import People
from tests.world.stepped.random_model import RandomModel, charm

SECONDS = float(os.environ.get("PUSHJUJU_MODEL_SECONDS", "20"))
LENGTH = int(os.environ.get("PUSHJUJU_MODEL_LENGTH", "25"))
WORDS = (
    *("deploy", "relate", "relate", "work", "work", "work", "rest", "rest"),
    *("add_unit", "remove_unit", "remove_application", "remove_relation", "suspend", "config", "refresh"),
    "expose",
    *("fail", "resolved", "run", "ask", "ask", "cancel", "wait", "crash", "reboot", "lose", "remove_machine"),
    *("upgrade", "upgrade"),
)
commands = st.tuples(st.sampled_from(WORDS), st.integers(0, 11), st.integers(0, 11))
FIRST = (
    ("deploy", 0, 1),
    ("deploy", 1, 0),
    ("deploy", 2, 0),
    ("relate", 0, 0),
    ("relate", 2, 0),
    ("rest", 0, 0),
)
BEGINS = (FIRST, (*FIRST, ("upgrade", 0, 1)), (*FIRST, ("upgrade", 0, 1), ("rest", 0, 0)))


@pytest.fixture(scope="module")
def two_models(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """A controller with the model `shop`, and a model `other` that nobody touches."""
    root = tmp_path_factory.mktemp("two")
    world = TestController.build(root, packs)
    runtime, world.model = world.model, add_model(world.ctx, AddModelOptions(name="other")).uuid
    for name in ("web", "db"):
        world.deploy(name, packed=charm(packs, name, 0))
    world.settle()
    world.model = runtime
    world.ctx.close()
    return root


@contextmanager
def town_of(source: Path, packs: Charms) -> Iterator[RandomModel]:
    """Copy the controller to where writing is fast."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        town = RandomModel.copy(source, Path(folder), packs)
        assert isinstance(town, RandomModel)
        try:
            yield town
        finally:
            town.crash()
            town.ctx.close()


class Budget:
    """Time for new stories; a story that failed is told again and shortened whatever the time."""

    def __init__(self) -> None:
        self.end = time.monotonic() + SECONDS
        self.failed = False

    def is_spent(self) -> bool:
        """Tell whether no new story should begin."""
        return not self.failed and time.monotonic() > self.end


@pytest.fixture(scope="module")
def budget() -> Budget:
    """The time that all stories have together."""
    return Budget()


def end_in_order(town: RandomModel, people: People) -> None:
    """Everything is mended, and comes to rest; then the model is destroyed."""
    people.mend()
    check_rest(town)
    people.destroy()
    town.rest()


def end_at_once(town: RandomModel, people: People) -> None:
    """The model is destroyed in the middle of things; they are mended after that."""
    people.destroy()
    people.mend()


def end_by_force(town: RandomModel, people: People) -> None:
    """The model is destroyed by force, and nobody mends anything: machines stay silent, hooks fail."""
    people.destroy(Force(wait_s=60.0))
    for _ in range(4):
        town.rest()
        town.clock.advance(61)


END = (end_in_order, end_at_once, end_in_order, end_by_force)


@settings(
    max_examples=max(50, int(10 * SECONDS)),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(begin=st.sampled_from(BEGINS), story=st.lists(commands, max_size=LENGTH))
def test_any_story(
    two_models: Path,
    packs: Charms,
    budget: Budget,
    begin: tuple[tuple[str, int, int], ...],
    story: list[tuple[str, int, int]],
) -> None:
    if budget.is_spent():
        return
    with town_of(two_models, packs) as town:
        other = models.resolve(town.ctx, "other").uuid
        before = town.rows(other)
        people = People(town, packs)
        try:
            for word, which, how in (*begin, *story):
                people.do(word, which, how)
            END[len(story) % len(END)](town, people)
            check_nothing_left(town)
            assert town.rows(other) == before
        except BaseException:
            budget.failed = True
            note("\n".join(town.witness.story))
            raise


def test_nobody_knocks_at_a_machine_under_upgrade(two_models: Path, packs: Charms) -> None:
    """Settings change, timers would run out, commands work all that is due: the machine may be off."""
    with town_of(two_models, packs) as town:
        people = People(town, packs)
        for word, which, how in BEGINS[-1]:
            people.do(word, which, how)
        machine = town.machine(town.machine_ids()[0])
        played = town.box_of(machine)
        assert played is not None
        played.down = True
        for number in range(3):
            people.config(0, number)
            unit_requests.make_due(town.ctx, town.model)
            town.rest()
            town.clock.advance(3600)
        reached = town.read(lambda tx: upgrade_machine.status_of(tx, machine.id))
        assert (reached, town.machine(machine.id).unreachable_since) == ("prepare completed", None)
        played.down = False
        people.mend()
        check_rest(town)
        assert town.machine(machine.id).base == "ubuntu@24.04/stable"
