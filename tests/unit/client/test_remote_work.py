"""Units, relations, actions and ssh of a model on another computer."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from pushjuju.cli.commands.ssh import ssh_session
from pushjuju.cli.remote import ssh as remote_ssh
from pushjuju.client.connection import Connection
from pushjuju.core.status import Agent, StatusKind
from pushjuju.services.entities.basis import statuses
from tests.world.charms import Charms
from tests.world.commandline import Ended, Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse

ACTIONS = {"actions.yaml": "greet: {description: hi, params: {name: {type: string}}}\n"}


def waits(kim: Home, house: TestController, *words: str) -> Ended:
    """Run a command line that waits, while the machines work."""
    found: list[Ended] = []
    thread = threading.Thread(target=lambda: found.append(kim(*words)))
    thread.start()
    while thread.is_alive():
        house.settle()
        thread.join(0.05)
    return found[0]


def test_an_action_runs_and_its_results_are_printed(
    kim: Home, house: TestController, served: ServedHouse, packs: Charms
) -> None:
    house.active("web", packed=packs.make(files=ACTIONS))
    ended = waits(kim, house, "run", "web/leader", "greet", "name=Kim", "--format", "json")
    assert ended.status == 0, ended.err
    assert "Running operation 1 with 1 task\n  - task 2 on unit-web-0\n" in ended.err
    assert "Waiting for task 2..." in ended.err
    task = json.loads(ended.out)["web/0"]
    assert (task["id"], task["status"], task["unit"]) == ("2", "completed", "web/0")
    near = json.loads(ok(served.host("show-task", "2", "--format", "json")))
    assert {key: near[key] for key in ("id", "status")} == {key: task[key] for key in ("id", "status")}
    assert [line for line in ok(served.host("operations")).splitlines() if "greet" in line]


def test_commands_run_on_a_unit(kim: Home, house: TestController) -> None:
    house.active("web")
    ended = waits(kim, house, "exec", "--unit", "web/0", "--", "uptime", "-p")
    assert ended.status == 0, ended.err


def test_an_action_in_the_background_says_how_to_ask_for_it(
    kim: Home, house: TestController, packs: Charms
) -> None:
    house.active("web", packed=packs.make(files=ACTIONS))
    assert "Scheduled operation 1 with task 2\n" in kim("run", "web/0", "greet", "--background").err
    assert 'action "nothing" not defined on unit "web/0"' in kim("run", "web/0", "nothing").err


def test_units_are_added_and_removed(kim: Home, house: TestController) -> None:
    house.active("web")
    ok(kim("add-unit", "web", "-n", "2"))
    assert house.units() == ["web/0", "web/1", "web/2"]
    house.settle()
    assert kim("remove-unit", "web/2", stdin="n\n").status == 1
    assert ok(kim("remove-unit", "web/2", "--dry-run")) == "will remove unit web/2\n"
    ended = kim("remove-unit", "web/2", "web/9", "--no-prompt")
    assert ended.status == 1
    assert 'removing unit web/9 failed: unit "web/9" does not exist' in ended.err
    assert ok(kim("remove-unit", "web/2", stdin="y\n")) == "will remove unit web/2\n"
    house.settle()
    assert house.units() == ["web/0", "web/1"]
    out = ok(kim("remove-application", "web", "--no-prompt"))
    assert out == "will remove application web\n- will remove unit web/0\n- will remove unit web/1\n"
    house.settle()
    assert house.applications() == []


def test_applications_are_related_and_parted(kim: Home, house: TestController, packs: Charms) -> None:
    house.deploy("web", packed=packs.make("web", requires={"db": {"interface": "sql"}}))
    house.deploy("database", packed=packs.make("database", provides={"db": {"interface": "sql"}}))
    house.settle()
    ok(kim("integrate", "web", "database:db"))
    house.settle()
    assert "database:db" in ok(kim("status", "--relations"))
    assert kim("integrate", "web", "database").status == 1
    ok(kim("remove-relation", "web", "database"))
    house.settle()
    assert "web:db" not in ok(kim("status", "--relations"))


def test_an_application_is_exposed_and_a_hook_resolved(kim: Home, house: TestController) -> None:
    house.active("web")
    ok(kim("expose", "web", "--to-cidrs", "10.0.0.0/24"))
    assert house.application().exposed
    ok(kim("unexpose", "web"))
    assert not house.application().exposed
    assert kim("resolved", "web/0").status == 1
    house.write(lambda tx: statuses.set_status(tx, StatusKind.AGENT, "web/0", Agent.ERROR))


class Clients:
    """Stands for OpenSSH: keeps how it was called."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.config = self.keys = ""

    def wait(self, _program: str, argv: list[str], _meanwhile: object) -> int:
        self.words = [argv[0], *argv[3:]]
        self.config = Path(argv[2]).read_text()
        self.keys = Path(argv[2]).with_name("known_hosts").read_text()
        return 7


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Clients:
    found = Clients()
    monkeypatch.setattr(ssh_session, "_wait", found.wait)
    monkeypatch.setattr(remote_ssh, "_answers", lambda _: True)
    return found


@pytest.fixture
def keyed(house: TestController) -> TestController:
    """A unit on a machine with a known host key."""
    house.active("web")
    ssh = json.dumps({"host": "10.0.0.2", "host_keys": ["ssh-ed25519 AAAA"]})
    house.write(lambda tx: tx.run("machine_set_ssh", id="0", ssh=ssh))
    return house


def test_ssh_goes_to_the_address_with_the_host_keys_of_the_controller(
    kim: Home, keyed: TestController, clients: Clients
) -> None:
    ended = kim("ssh", "--pty=false", "web/leader", "uptime")
    assert (ended.status, ended.err) == (7, "")
    assert clients.words == ["ssh", "juju-web-leader", "uptime"]
    for line in ("HostName 10.0.0.2", "User ubuntu", "StrictHostKeyChecking yes"):
        assert f"  {line}\n" in clients.config
    assert clients.keys == "10.0.0.2 ssh-ed25519 AAAA\n"
    assert "IdentityFile" not in clients.config  # the user's own keys
    assert "ProxyJump" not in clients.config


def test_ssh_goes_through_the_controller_when_asked_or_when_the_machine_is_silent(
    kim: Home, keyed: TestController, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    kim("ssh", "--proxy", "0")
    assert "  ProxyJump 127.0.0.1\n" in clients.config
    monkeypatch.setattr(remote_ssh, "_answers", lambda _: False)
    ended = kim("ssh", "root@0")
    assert "10.0.0.2 does not answer; the connection goes through 127.0.0.1" in ended.err
    assert "  User root\n" in clients.config
    assert "\nHost 127.0.0.1\n" in clients.config
    kim("ssh", "--proxy=false", "0")
    assert "ProxyJump" not in clients.config


def test_ssh_needs_the_right_to_administer_the_model(
    kim: Home, keyed: TestController, served: ServedHouse, clients: Clients
) -> None:
    ok(served.host("revoke", "kim", "admin", "shop"))
    assert "ERROR permission denied" in kim("ssh", "0").err
    assert clients.words == []


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("PublicAddress", {"address": "10.0.0.2\n  ProxyCommand touch /tmp/x"}),
        ("PublicAddress", {"address": "-oProxyCommand=x"}),
        ("PublicKeys", {"public-keys": ["ssh-ed25519 AAAA\nother ssh-ed25519 BBBB"]}),
    ],
)
def test_what_a_server_says_adds_nothing_to_the_configuration_of_openssh(
    kim: Home,
    keyed: TestController,
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    answer: dict[str, object],
) -> None:
    before = remote_ssh._asked

    def asked(connection: Connection, name: str, tag: str) -> dict[str, object]:
        return answer if name == method else before(connection, name, tag)

    monkeypatch.setattr(remote_ssh, "_asked", asked)
    assert "the controller sent no address or no host key" in kim("ssh", "0").err
    assert clients.words == []
