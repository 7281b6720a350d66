"""Whatever people do and however far units got: both models hold the same of a relation between them."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushjuju.core.errors import PushjujuError
from pushjuju.core.model.offerurl import parse
from pushjuju.services.entities.application import units
from pushjuju.services.entities.relation import relations
from pushjuju.services.lifecycle import removal
from pushjuju.services.lifecycle.removal import Force
from pushjuju.services.requests import removals
from pushjuju.services.requests.relation import cross_model, integrate
from pushjuju.store.rows.records import Relation
from tests.world.charms import Charms
from tests.world.controller import TestController
from tests.world.two_models import TwoModels

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["work", "work", "work", "write", "add", "remove", "force", "suspend", "resume", "relate", "part",
             "saas", "unoffer", "clean"]
        ),
        st.booleans(),
        st.integers(0, 9),
    ),
    max_size=14,
)  # fmt: skip


def mirrored(twins: TwoModels) -> None:
    """Check that each relation between the models is the same in both."""
    seen = 0
    for world in (twins.shop, twins.prod):
        for relation in twins.relations(world):
            seen += 1
            far = world.read(lambda tx, relation=relation: relations.other_row(tx, relation))
            assert far is not None
            assert (far.far_model, far.far_relation) == (world.model, relation.id)
            assert (far.life, far.suspended) == (relation.life, relation.suspended)
            assert names(world, relation) == names(world, far)
            assert bags(world, relation) == bags(world, far)
    assert seen == len(twins.shop.dump()["relation"])


def _known(world: TestController, relation: Relation, entity: str) -> str:
    """Return an entity of a row by the name that its own model gives it."""
    found = world.read(lambda tx: relations.remote(tx.beside(relation.model), entity.partition("/")[0]))
    home = relation.far_model if found else relation.model
    return f"{home} {relations.renamed(entity, found.application) if found else entity}"


def names(world: TestController, relation: Relation) -> set[tuple[str, int]]:
    found = world.read(lambda tx: relations.scopes(tx.beside(relation.model), relation.id))
    return {(_known(world, relation, item.unit), item.departing) for item in found}


def bags(world: TestController, relation: Relation) -> dict[str, Any]:
    found = world.read(lambda tx: relations.bags(tx.beside(relation.model), relation.id))
    return {_known(world, relation, name): dict(bag.data) for name, bag in found.items()}


def step(world: TestController, number: int) -> None:
    """Let one unit decide once, and run what it decides for."""
    listed = world.units()
    if not listed:
        return
    unit = listed[number % len(listed)]
    machine = world.unit(unit).machine or ""
    turn = world.turn(unit)
    if turn.dispatch is not None:
        world.commit(turn.dispatch, world.played(machine).run(turn.dispatch.frame))
    elif str(turn.answer) == "dead":
        record = world.unit(unit)
        world.write(lambda tx: removal.remove_unit(tx, record))


def write(twins: TwoModels, world: TestController, entity: str, data: dict[str, str]) -> None:
    """Write into the bag of an application."""
    found = twins.relations(world)[:1]
    world.clock.now()
    world.write(lambda tx: [relations.update_bag(tx, item, entity, dict(data)) for item in found])


def part(twins: TwoModels, world: TestController, force: Force | None) -> None:
    """End a relation; by force it ends at once."""
    found, _now = twins.relations(world)[:1], world.clock.now()
    for number in [item.id for item in found]:
        integrate.remove_relation(twins.ctx, world.model, [str(number)], force)
    if force:
        world.write(lambda tx: [removal.force_relation(tx, item.id) for item in found])


def act(twins: TwoModels, what: str, world: TestController, number: int) -> None:
    """Do one thing; what is refused changes nothing."""
    application = "web" if world is twins.shop else "db"
    ours = world.units()
    match what:
        case "work":
            step(world, number)
        case "write":
            write(twins, world, application, {"k": str(number)})
        case "add":
            units.add_units(twins.ctx, world.model, application, 1, ())
        case "remove":
            removals.remove_units(twins.ctx, world.model, ours[number % len(ours) :][:1] if ours else [])
        case "force" if ours:
            record = world.unit(ours[number % len(ours)])
            world.write(lambda tx: removal.force_unit(tx, record))
        case "suspend" | "resume":
            for relation in twins.relations(twins.prod)[:1]:
                integrate.set_suspended(
                    twins.ctx, twins.prod.model, [str(relation.id)], suspended=what == "suspend"
                )
        case "relate":
            if not twins.prod.dump()["offer"]:
                twins.offer()
            twins.relate()
        case "part":
            part(twins, world, Force(wait_s=0) if number > 6 else None)
        case "saas":
            cross_model.remove_saas(twins.ctx, twins.shop.model, "db")
        case "unoffer":
            cross_model.remove_offers(twins.ctx, [parse("prod.db")], Force(wait_s=0) if number > 4 else None)
        case _:
            world.write(removal.finish_applications)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    """Two models with two units each, related and at rest, to be copied."""
    root = tmp_path_factory.mktemp("begun")
    made = TwoModels(root, packs)
    made.ready(count=2)
    made.ctx.close()
    return root


@settings(max_examples=60)
@given(steps=STEPS)
def test_any_story(
    begun: Path, tmp_path_factory: pytest.TempPathFactory, packs: Charms, steps: list[tuple[str, bool, int]]
) -> None:
    root = tmp_path_factory.mktemp("story")
    twins = TwoModels.copy(begun, root, packs)
    try:
        for what, side, number in steps:
            with suppress(PushjujuError):
                act(twins, what, twins.shop if side else twins.prod, number)
            mirrored(twins)
        twins.settle()
        mirrored(twins)
    finally:
        twins.ctx.close()
        shutil.rmtree(root)
