"""Which request a hook followed: the audit log and the history of hooks name the same request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushjuju.workers import background
from tests.world.charm_trees import charm_tree
from tests.world.played_home import PlayedHome


@pytest.fixture
def home(tmp_path: Path) -> PlayedHome:
    """A home with a model and the charm `web`."""
    text = "name: web\nsummary: s\ndescription: d\nseries: [noble]\npeers: {ring: {interface: ring}}\n"
    files = {"config.yaml": "options: {title: {type: string}}\n", "actions.yaml": "greet: {}\n"}
    charm_tree(tmp_path / "web", files, text)
    made = PlayedHome(tmp_path)
    ran(made, "bootstrap", "local", "home", "--add-model", "shop")
    return made


def ran(home: PlayedHome, *words: str) -> str:
    ended = home(*words)
    assert ended.status == 0, ended.err
    return ended.out


def listed(home: PlayedHome, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ran(home, *words, "--format", "json"))
    return found


def followed(home: PlayedHome, command: str) -> list[str]:
    """Return `unit hook` for what followed the newest command with a name."""
    cause = [line["cause"] for line in listed(home, "audit") if line["command"] == command][-1]
    assert {line["command"] for line in listed(home, "audit", "--cause", cause)} == {command}
    return [f"{run['unit']} {run['hook']}" for run in listed(home, "timeline", "--cause", cause)]


def test_each_command_is_followed_by_its_hooks_and_actions(home: PlayedHome) -> None:
    ran(home, "deploy", str(home.folder / "web"))
    ran(home, "config", "web", "title=other")
    ran(home, "run", "web/0", "greet")
    assert {"web/0 install", "web/0 start"} <= {*followed(home, "deploy")}
    assert followed(home, "config") == ["web/0 config-changed"]
    assert followed(home, "run") == ["web/0 greet"]


def test_hooks_on_other_machines_follow_the_command_that_began_it_all(home: PlayedHome) -> None:
    ran(home, "deploy", str(home.folder / "web"))
    ran(home, "add-unit", "web")
    found = followed(home, "add-unit")
    assert "web/1 start" in found
    assert "web/0 ring-relation-joined" in found


def test_work_of_another_process_follows_the_command_that_asked_for_it(
    home: PlayedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "ensure", lambda *_: None)
    ran(home, "deploy", str(home.folder / "web"), "--no-wait")
    ran(home, "update-status")
    ran(home, "config", "web", "title=first", "--no-wait")
    ran(home, "config", "web", "title=second", "--no-wait")
    ran(home, "update-status")
    assert "web/0 start" in followed(home, "deploy")
    assert followed(home, "config") == ["web/0 config-changed"]  # of the newest request


def test_what_runs_by_itself_followed_no_command(home: PlayedHome) -> None:
    ran(home, "deploy", str(home.folder / "web"))
    home.clock.advance(3600)
    ran(home, "update-status")
    (routine,) = listed(home, "hooks", "--hook", "update-status")
    assert "cause" not in routine
    assert "cause" in listed(home, "hooks", "--hook", "install")[0]


def test_a_command_during_the_work_is_followed_by_what_begins_later(
    home: PlayedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "ensure", lambda *_: None)

    def does(frame: Any) -> dict[str, Any]:
        if frame.get("hook") == "install":
            home("config", "web", "title=other", "--no-wait")
        return {}

    home.does = does
    ran(home, "deploy", str(home.folder / "web"))
    assert "web/0 install" in followed(home, "deploy")
    assert followed(home, "config")


def test_of_the_hooks_that_followed_a_command_a_time_chooses_some(home: PlayedHome) -> None:
    ran(home, "deploy", str(home.folder / "web"))
    home.clock.advance(3600)
    cause = listed(home, "hooks", "--hook", "install")[0]["cause"]
    chosen = ("timeline", "--cause", cause)
    assert listed(home, *chosen, "--since", "2h") == listed(home, *chosen) != []
    assert listed(home, *chosen, "--since", "10m") == []
    assert listed(home, *chosen, "--until", "2h") == []


def test_an_unknown_cause_has_no_runs_and_no_lines(home: PlayedHome) -> None:
    for odd in ("nonsense", "0' OR ''='", "-1", "%"):
        assert listed(home, "timeline", f"--cause={odd}") == listed(home, "audit", f"--cause={odd}") == []
