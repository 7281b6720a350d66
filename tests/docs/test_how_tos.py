"""The commands of how-tos that need no cloud run on simulated machines, and print what the pages show."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.world import console
from tests.world.charm_trees import charm_tree
from tests.world.machine import status_event
from tests.world.played_home import PlayedHome

HOW_TOS = Path(__file__).parents[2] / "docs" / "how-to"
_CHARMS = {"db": "provides: {server: {interface: sql}}", "web": "requires: {db: {interface: sql}}"}


@pytest.fixture
def home(tmp_path: Path) -> PlayedHome:
    """A home with a controller and the charms `db` and `web`."""
    for name, endpoints in _CHARMS.items():
        text = f"name: {name}\nsummary: s\ndescription: d\nseries: [noble]\n{endpoints}\n"
        charm_tree(tmp_path / name, {"config.yaml": "options: {port: {type: int}}\n"}, text)
    made = PlayedHome(tmp_path, active)
    ran(made, "bootstrap local home")
    return made


def active(_frame: Mapping[str, Any]) -> Mapping[str, Any]:
    """A hook that sets the status active."""
    return {"events": [status_event(1, "active")], "writes": {"status_set": True}}


def ran(home: PlayedHome, command: str, *, codes: tuple[int, ...] = (0,)) -> str:
    """Run a command line, and return what it printed."""
    ended = home(*shlex.split(command))
    assert ended.status in codes, f"{command}\n{ended.out}{ended.err}"
    return ended.err + ended.out


def deploy(home: PlayedHome, model: str, *charms: str) -> None:
    ran(home, f"add-model {model}")
    for charm in charms:
        ran(home, f"deploy {home.folder / charm}")


def commands(page: str) -> list[str]:
    """Return the command lines in the text of a page, without those that go on until they are stopped."""
    found = re.findall(r"`pushjuju ([^`]+)`", (HOW_TOS / page).read_text())
    return [line for line in found if "--follow" not in line and "--file" not in line]


def test_relate_applications_of_two_models(home: PlayedHome) -> None:
    deploy(home, "prod", "db")
    deploy(home, "shop", "web")

    def run(command: str) -> tuple[int, str]:
        ended = home(*shlex.split(command)[1:])
        return ended.status, ended.err + ended.out

    console.play(HOW_TOS / "relate-models.md", run)


def test_find_out_why_a_hook_failed(home: PlayedHome) -> None:
    deploy(home, "shop", "db", "web")
    ran(home, "integrate web db")

    def broken(frame: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"outcome": "failed", "exit": 1} if frame["unit"] == "web/0" else active(frame)

    home.does = broken
    ran(home, "config web port=81", codes=(1,))
    home.does = active
    (failed,) = json.loads(ran(home, "hooks web/0 --failed --format json"))
    lines = commands("find-out-why.md")
    assert len(lines) > 7
    for line in lines:
        shown = ran(home, line.replace("3f2a", failed["operation"]).partition(">")[0])
        assert shown or line.startswith("resolved")
    assert "error" not in ran(home, "status web")


def test_plan_a_change(home: PlayedHome) -> None:
    deploy(home, "shop", "db", "web")
    (line,) = commands("plan-a-change.md")
    assert "-  application db" in ran(home, line, codes=(2,))
