"""The contacts with machines that a timeline shows: recorded, and deleted with their machine or with time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.world.charm_trees import charm_tree
from tests.world.played_home import PlayedHome


@pytest.fixture
def home(tmp_path: Path) -> PlayedHome:
    """A home with a model and two units of the charm `web`."""
    charm_tree(tmp_path / "web", {}, "name: web\nsummary: s\ndescription: d\nseries: [noble]\n")
    made = PlayedHome(tmp_path)
    ran(made, "bootstrap", "local", "home", "--add-model", "shop")
    ran(made, "deploy", str(tmp_path / "web"), "-n", "2")
    return made


def ran(home: PlayedHome, *words: str) -> str:
    ended = home(*words)
    assert ended.status == 0, ended.err
    return ended.out


def seen(home: PlayedHome) -> set[tuple[str, str]]:
    """Return (machine, result) of the contacts in the picture of the timeline."""
    drawn = ran(home, "timeline", "--format", "svg")
    return set(re.findall(r"contact with machine (\d+): (\w+), 2025-03-01 09:", drawn))


def test_each_contact_is_recorded_with_its_result(home: PlayedHome) -> None:
    assert seen(home) == {("0", "ok"), ("1", "ok")}


def test_contacts_are_deleted_with_their_machine_and_after_a_day(home: PlayedHome) -> None:
    ran(home, "remove-unit", "web/1", "--no-prompt")
    assert seen(home) == {("0", "ok")}
    home.clock.advance(2 * 86400)
    ran(home, "update-status")
    assert seen(home) == set()
