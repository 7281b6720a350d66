"""Commands that only read a model of another computer, and the controllers that run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushjuju.cli.commands.program import web_commands
from pushjuju.client import connection
from pushjuju.client.terminal import Terminal
from pushjuju.core.ids import new_uuid
from tests.unit.client.test_remote_work import ACTIONS
from tests.world.charms import Charms
from tests.world.commandline import Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse, serving

ARGUMENTS = {
    "actions": ["web"], "application-storage": ["web"], "config": ["web"], "constraints": ["web"],
    "resources": ["web"], "show-action": ["web", "greet"], "show-application": ["web"], "show-machine": ["0"],
    "show-operation": ["1"], "show-relation": ["1"], "show-secret": ["none"], "show-space": ["alpha"],
    "show-status-log": ["web/0"], "show-storage": ["data/0"], "show-task": ["2"], "show-unit": ["web/0"],
}  # fmt: skip


@pytest.fixture
def active(house: TestController, packs: Charms) -> None:
    """The application web with a unit, and an operation."""
    house.active("web", packed=packs.make(files=ACTIONS))


@pytest.mark.usefixtures("active")
def test_a_command_that_reads_prints_what_it_prints_on_the_host(served: ServedHouse, kim: Home) -> None:
    kim("run", "web/0", "greet", "--background")
    for word in sorted(web_commands.READING):
        arguments = (word, *ARGUMENTS.get(word, ()))
        near, far = served.host(*arguments), kim(*arguments)
        assert far.status == near.status, word
        if word not in ("status", "config", "show-model"):  # these have the time, or the user who asks
            assert (far.out, far.err) == (near.out, near.err), word


@pytest.mark.usefixtures("active")
def test_flags_reach_the_host_and_files_stay_here(kim: Home, tmp_path: Path) -> None:
    file = tmp_path / "unit.json"
    assert ok(kim("show-unit", "web/0", "--format", "json", "-o", str(file))) == ""
    assert json.loads(file.read_text())["web/0"]["leader"]
    assert ok(kim("show-status-log", "web/0", "--type", "juju-unit", "-n", "1")).count("\n") == 2
    assert json.loads(ok(kim("machines", "-m", "admin/shop", "--format=json")))["model"] == "shop"
    assert "--color" not in kim("machines", "--color").err
    assert ok(kim("show-model", "admin/shop")).startswith("shop:\n")


@pytest.mark.usefixtures("active")
def test_data_and_messages_of_the_host_come_apart(kim: Home) -> None:
    ended = kim("storage")
    assert (ended.status, ended.out, ended.err) == (0, "", "No storage to display.\n")
    ended = kim("show-application", "none", "--format", "json")
    assert (ended.status, ended.out) == (1, "{}\n")
    assert ended.err.count("ERROR") == 1


def test_a_host_that_runs_no_commands_says_how_to_change_that(
    house: TestController, tmp_path: Path, packs: Charms
) -> None:
    with serving(tmp_path, packs, reads=False) as served:
        kim = served.register("kim", tmp_path / "kim")
        ok(served.host("grant", "kim", "read", "shop"))
        ended = kim("machines", "-m", "admin/shop")
    assert ended.status == 1
    assert ended.err.endswith("without --web-cli\non the host of the controller: pushjuju api --web-cli\n")


def test_a_wrong_password_is_told_as_at_every_command(kim: Home) -> None:
    file = kim.folder / "data" / "remotes" / "team.toml"
    file.write_text(file.read_text().replace("the-password-of-kim", "another"))
    assert "asks for the password again" in kim("machines").err


def test_a_model_is_looked_up_once_and_again_when_it_was_made_anew(
    kim: Home, house: TestController, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    entered = connection.Connection._enter, Terminal._enter

    def enter(made: connection.Connection) -> None:
        opened.append(made.model)
        entered[isinstance(made, Terminal)](made)

    for kind in (connection.Connection, Terminal):
        monkeypatch.setattr(kind, "_enter", enter)
    ok(kim("status"))
    opened.clear()
    ok(kim("status"))
    ok(kim("machines"))
    assert opened == [house.model, house.model]
    file = kim.folder / "data" / "remotes" / "team.toml"
    file.write_text(file.read_text().replace(house.model, new_uuid()))  # as if the model was made anew
    for words in ("status", "machines"):
        ok(kim(words))
    assert house.model in file.read_text()
