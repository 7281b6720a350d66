"""The exit code of a command is about what was asked for; what is wrong elsewhere is a warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli import drive
from pushjuju.services import integrate
from pushjuju.workers import drive as workers
from pushjuju.workers.drive import Settled
from tests.unit.services.world import Charms, World

Run = Callable[..., Any]
DOWN = "machine 1: no route to host"


@pytest.fixture
def shop(tmp_path: Path, packs: Charms, monkeypatch: pytest.MonkeyPatch) -> World:
    """A model with web/0 on machine 0, and db/0 on machine 1, which does not answer."""
    world = World.build(tmp_path, packs)
    world.active("web", packed=packs.make("web", requires={"db": {"interface": "sql"}}))
    world.active("db", packed=packs.make("db", provides={"server": {"interface": "sql"}}))
    world.ctx.controller.set("current-model", "admin/shop")
    world.ctx.datadir.set_current_controller("home")

    async def settle(_: Any) -> Settled:
        return Settled(problems=(DOWN,))

    monkeypatch.setattr(workers.Driver, "settle", settle)
    monkeypatch.setattr(drive, "background", lambda *_: None)
    return world


@pytest.mark.parametrize(
    "words",
    [
        ("config", "web", "title=x"),
        ("add-unit", "web"),
        ("add-unit", "db"),  # the new unit has a machine of its own
        ("add-machine",),
        ("expose", "web"),
        ("trust", "web"),
        ("remove-unit", "web/0", "--no-prompt"),
        ("remove-application", "web", "--no-prompt"),
        ("remove-machine", "0", "--force", "--no-prompt"),
        ("resolved", "--all"),
        ("update-status", "web/0"),
    ],
    ids=" ".join,
)
def test_a_machine_that_is_down_elsewhere_is_a_warning(shop: World, run: Run, words: tuple[str, ...]) -> None:
    ended = run(*words)
    assert (ended.status, "ERROR" in ended.err) == (0, False), ended.err
    assert f"WARNING elsewhere in the model: {DOWN}\n" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("config", "db", "title=x"),
        ("add-unit", "db", "--to", "1"),
        ("add-machine", "lxd:1"),
        ("integrate", "web", "db"),
        ("expose", "db"),
        ("remove-unit", "db/0", "--no-prompt"),
        ("remove-application", "db", "--no-prompt", "--force", "--no-wait"),
        ("remove-machine", "1", "--force", "--no-prompt"),
        ("model-config", "ssh-allow=10.0.0.0/8"),
        ("update-status", "db/0"),
        ("update-status",),
    ],
    ids=" ".join,
)
def test_a_machine_that_is_down_where_something_was_asked_for_is_an_error(
    shop: World, run: Run, words: tuple[str, ...]
) -> None:
    ended = run(*words)
    assert (ended.status, f"ERROR {DOWN}\n" in ended.err) == (1, True), ended.err


def test_the_end_of_a_relation_is_about_both_sides(shop: World, run: Run) -> None:
    integrate.integrate(shop.ctx, shop.model, "web", "db")
    shop.settle()
    assert run("remove-relation", "web", "db").status == 1
