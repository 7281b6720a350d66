"""Refresh, the log, machines, scp and tasks on several units, on a model of another computer."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from pushjuju.cli.app.root import Root
from pushjuju.cli.commands import registry
from pushjuju.cli.commands.ssh import ssh_session
from pushjuju.cli.remote import forms
from pushjuju.cli.remote import ssh as remote_ssh
from tests.unit.client.test_remote_work import ACTIONS, Clients, waits
from tests.world.charms import Charms
from tests.world.commandline import Home, ok
from tests.world.controller import TestController
from tests.world.remote import ServedHouse

METADATA = "name: web\nsummary: s\ndescription: d\nresources: {page: {type: file, filename: page.html}}\n"
MANIFEST = "bases: [{name: ubuntu, channel: '24.04', architectures: [amd64]}]\n"
HERE = {
    "agree", "agreements", "api", "apply", "autoload-credentials", "bootstrap", "charm-resources", "clouds",
    "completion", "controllers", "doctor", "documentation", "download", "find", "help", "info", "login",
    "help-action-commands", "help-hook-commands", "help-tool", "logout", "man", "mirror", "pack", "plan",
    "plugins", "regions", "register", "schema", "switch", "unregister", "update-public-clouds", "version",
    "whoami",
}  # fmt: skip
"""Commands that need no controller, or know controllers of other computers themselves."""
OF_CLIENT = {
    "add-cloud", "add-credential", "default-credential", "default-region", "remove-cloud",
    "remove-credential",
    "restore-backup", "update-cloud", "update-credential",
}  # fmt: skip
"""Commands that read files or records of this computer first, as their examples do."""
INSTEAD = {
    "add-secret": "token token=some-text",
    "destroy-controller": "team --no-prompt",
    "update-secret": "token token=some-text",
}
"""Command -> arguments that need no file, and name a controller that there is."""


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Clients:
    found = Clients()
    monkeypatch.setattr(ssh_session, "_wait", found.wait)
    monkeypatch.setattr(remote_ssh, "_answers", lambda _: True)
    return found


def test_an_action_on_several_units_is_one_operation(kim: Home, house: TestController, packs: Charms) -> None:
    house.active("web", packed=packs.make(files=ACTIONS))
    ok(kim("add-unit", "web"))
    house.settle()
    ended = waits(kim, house, "run", "web/0", "web/1", "web/7", "greet", "--format", "json")
    assert "Running operation 1 with 2 tasks" in ended.err
    assert 'unit "web/7" not found' in ended.err
    assert set(json.loads(ended.out)) == {"web/0", "web/1"}
    assert json.loads(ok(kim("operations", "--format", "json")))["1"]["summary"].startswith("greet run on ")


def test_a_local_charm_is_sent_and_refreshed(kim: Home, house: TestController, tmp_path: Path) -> None:
    folder = tmp_path / "web"
    (folder / "hooks").mkdir(parents=True)
    (folder / "hooks" / "install").write_text("#!/bin/sh\n")
    (folder / "hooks" / "install").chmod(0o755)
    (folder / "metadata.yaml").write_text(METADATA)
    (folder / "manifest.yaml").write_text(MANIFEST)
    page = tmp_path / "my.html"
    page.write_text("a page")
    ok(kim("deploy", str(folder)))
    house.settle()
    ended = kim("refresh", "web", "--path", str(folder), "--resource", f"page={page}", "--trust")
    assert ended.err.endswith('Added local charm "web", revision 1, to the model\n')
    assert ok(kim("config", "web", "trust")) == "true\n"
    assert "page" in ok(kim("resources", "web"))
    assert "requires either --path or --switch" in kim("refresh", "web").err
    assert kim("refresh", "none", "--path", str(folder)).err.endswith('application "none" not found\n')


def test_the_log_is_read(kim: Home, served: ServedHouse, house: TestController) -> None:
    house.active("web")
    for flags in (
        ["--replay"],
        ["-n", "2"],
        ["--include", "web/0", "--limit", "3"],
        ["--level", "ERROR"],
        ["--format", "json"],
    ):
        words = ("debug-log", "--no-tail", "--utc", "--date", *flags)
        assert ok(kim(*words)) == ok(served.host(*words)), flags
    assert "loud" in kim("debug-log", "--level", "loud").err


def test_machines_are_added_and_removed(kim: Home, house: TestController) -> None:
    house.active("web")
    assert (
        kim("add-machine", "-n", "2", "--constraints", "mem=1G").err
        == "created machine 1\ncreated machine 2\n"
    )
    assert "works only on the host" not in kim("add-machine", "lxd:0").err
    assert "pushjuju add-machine ssh:root@x" in kim("add-machine", "ssh:root@x").err
    assert ok(kim("remove-machine", "2", "--no-prompt")) == "will remove machine 2\n"
    assert "machine 9 not found" in kim("remove-machine", "9", "--no-prompt").err
    plan = ok(kim("remove-machine", "0", "--force", "--dry-run"))
    assert plan == "will remove machine 0\n- will remove unit web/0\n"
    assert "machine 0" in kim("remove-machine", "0", "--no-prompt").err


def test_ssh_and_scp_use_the_port_and_the_login_of_the_machine(
    kim: Home, house: TestController, clients: Clients
) -> None:
    house.active("web")
    ssh = json.dumps({"host": "10.0.0.2", "port": 2222, "user": "ops", "host_keys": ["ssh-ed25519 AAAA"]})
    house.write(lambda tx: tx.run("machine_set_ssh", id="0", ssh=ssh))
    kim("ssh", "0")
    assert "  Port 2222\n" in clients.config
    assert "  User ubuntu\n" in clients.config  # every machine that a cloud made has this login
    assert clients.keys == "[10.0.0.2]:2222 ssh-ed25519 AAAA\n"
    kim("scp", "web/0:/etc/hosts", "root@0:/tmp", "here")
    assert clients.words == ["scp", "-3", "juju-web-0:/etc/hosts", "juju-root-at-0:/tmp", "here"]
    assert clients.config.count("  Port 2222\n") == 2


@pytest.mark.parametrize("told", [{"port": "22\nProxyCommand x"}, {"port": 0}, {"user": "x\nProxyCommand x"}])
def test_a_port_or_login_that_openssh_could_misread_is_refused(
    kim: Home,
    house: TestController,
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    told: dict[str, object],
) -> None:
    house.active("web")
    monkeypatch.setattr(remote_ssh, "_asked", lambda *_: {"address": "10.0.0.2", "public-keys": [], **told})
    assert "the controller sent no" in kim("ssh", "0").err
    assert clients.words == []


def test_every_command_works_from_afar_or_says_that_it_does_not(
    kim: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The example of each command reaches its remote form, or the error that names the host."""
    reached: list[str] = []
    before = forms.form_of
    monkeypatch.setattr(
        forms, "form_of", lambda word: (lambda _call: reached.append(word)) if before(word) else None
    )
    monkeypatch.chdir(tmp_path)
    root, unknown = Root(), {}
    for word in sorted(registry.known() - HERE - OF_CLIENT - set(registry.REFUSED.split())):
        command = root.get_command(click.Context(root), word)
        assert command is not None
        lines = [
            line for line in command.examples.splitlines() if line.strip().startswith(f"pushjuju {word}")
        ]
        if not lines:
            continue
        reached.clear()
        line = INSTEAD.get(word) or lines[0].partition(word)[2]
        ended = kim(word, *shlex.split(line, comments=True))
        if before(word):
            fine = reached == [word]
        else:
            fine = "works only there: " in ended.err and "\nrun the command on the host of the" in ended.err
        if not fine:
            unknown[word] = ended.err or ended.out
    assert "\n".join(f"{word}: {text}" for word, text in unknown.items()) == ""


def test_an_offer_is_made_consumed_and_removed(
    kim: Home, house: TestController, served: ServedHouse, packs: Charms
) -> None:
    house.active("database", packed=packs.make("database", provides={"db": {"interface": "sql"}}))
    ended = kim("offer", "database:db", "sql")
    assert ended.err == 'Application "database" endpoints [db] available at "admin/shop.sql"\n'
    assert "sql" in ok(kim("offers"))
    assert (
        'has no "none" endpoint' in kim("offer", "database:none").err
        or kim("offer", "database:none").status == 1
    )
    ok(kim("remove-offer", "sql"))
    assert "sql" not in ok(served.host("offers"))
    assert kim("remove-offer", "admin/shop.sql").status == 1


def test_only_administrators_of_a_model_see_its_users_and_offers(kim: Home, served: ServedHouse) -> None:
    ok(served.host("revoke", "kim", "write", "shop"))
    ok(kim("machines"))
    for word in ("show-model", "offers"):
        assert kim(word).err.startswith("ERROR permission denied\n")


def test_the_how_to_has_a_row_for_every_command_that_works_from_afar() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "share-a-controller.md").read_text()
    rows = re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`([a-z-]+)`", row)]
    ours = {"controllers", "switch", "whoami", "login", "logout", "unregister"}
    forms_of = {word for word in registry.known() if forms.form_of(word)}
    assert sorted(name for name in listed if name in registry.known()) == sorted(ours | forms_of)
