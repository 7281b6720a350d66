"""ssh, scp, debug-hooks, debug-code: what OpenSSH is called with, and what is refused."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.commands.ssh import debug_start, ssh_config, ssh_session
from pushjuju.cli.work import drive
from pushjuju.services.entities.basis.context import open_context
from pushjuju.store.datadir import DataDir
from tests.world import HELLO_PAGE
from tests.world.commandline import Run

CHARM = str(HELLO_PAGE)


class Clients:
    """Stands for OpenSSH: keeps how it was called."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.configs: list[str] = []
        self.status = 0
        self.meanwhile = 0

    def wait(self, _program: str, argv: list[str], meanwhile: Callable[[], None] | None) -> int:
        self.calls.append([argv[0], *argv[3:]])
        self.configs.append(Path(argv[2]).read_text())
        if meanwhile is not None:
            meanwhile()
        return self.status


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Clients:
    found = Clients()
    monkeypatch.setattr(ssh_session, "_wait", found.wait)
    return found


@pytest.fixture
def lab(run: Run, clients: Clients, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Two units of hello-page on two machines that have addresses; web/1 leads."""

    def background(*_: Any) -> None:
        clients.meanwhile += 1

    monkeypatch.setattr(drive, "settle", lambda *_, **__: None)
    monkeypatch.setattr(drive, "background", background)
    assert run("bootstrap", "local", "lab", "--add-model", "shop").status == 0
    assert run("deploy", CHARM, "web", "-n", "2").status == 0
    ctx = open_context(DataDir(tmp_path / "data"), "lab", environ={})
    with ctx.store.write() as tx:
        model = tx.scalar("model_by_name", owner="admin", name="shop")
        for machine in ("0", "1"):
            told = f'{{"host": "10.0.0.{machine}", "jump": "gate"}}'
            tx.run("machine_set_ssh", model=model, id=machine, ssh=told)
        tx.run("lease_take", model=model, application="web", holder="web/1", granted="2025-03-01")
    ctx.close()
    return run


def test_ssh_names_its_target_and_passes_the_rest_on(lab: Run, clients: Clients) -> None:
    clients.status = 7
    ended = lab("ssh", "--pty=false", "root@web/0", "-v", "ls", "-l")
    assert (ended.status, ended.out, ended.err) == (7, "", "")
    assert clients.calls == [["ssh", "juju-web-0-root", "-v", "ls", "-l"]]
    assert "  HostName 10.0.0.0\n" in clients.configs[0]
    assert "  User root\n" in clients.configs[0]
    assert "  ProxyJump gate\n" in clients.configs[0]
    assert lab("ssh", "--pty", "web/leader").status == 7
    assert clients.calls[1] == ["ssh", "-t", "-t", "juju-web-leader"]
    assert "  HostName 10.0.0.1\n" in clients.configs[1]
    lab("ssh", "--no-host-key-checks", "1")
    assert "StrictHostKeyChecking no" in clients.configs[2]


def test_past_the_jump_host_and_through_the_models(lab: Run, clients: Clients, tmp_path: Path) -> None:
    lab("ssh", "--proxy=false", "0")
    assert "  ProxyJump none\n" in clients.configs[0]
    lab("debug-hooks", "--pty", "--proxy", "web/0")
    assert "  ProxyJump gate\n" in clients.configs[1]
    ctx = open_context(DataDir(tmp_path / "data"), "lab", environ={})
    with ctx.store.write() as tx:
        model = tx.scalar("model_by_name", owner="admin", name="shop")
        tx.run("machine_set_ssh", model=model, id="0", ssh='{"host": "10.0.0.0"}')
    ctx.close()
    ended = lab("ssh", "--proxy", "0")
    assert (ended.status, ended.err.splitlines()[0]) == (1, "ERROR no jump host is known for machine 0")
    assert "model-config ssh-jump-host=[USER@]HOST[:PORT]" in ended.err
    assert lab("model-config", "proxy-ssh=true").status == 0
    assert lab("scp", "web/0:/etc/hosts", ".").status == 1
    assert lab("model-config", "ssh-jump-host=kim@gate:2222,inner").status == 0
    assert lab("scp", "web/0:/etc/hosts", ".").status == 0
    assert "  ProxyJump kim@gate:2222,inner\n" in clients.configs[2]
    for host in ("gate", "inner"):  # they are the person's: known to ~/.ssh/config, keys kept with the model
        assert f"\nHost {host}\n  UserKnownHostsFile " in clients.configs[2]
    assert clients.configs[2].endswith("\nHost gate inner\n  Include ~/.ssh/config\n")
    assert "ssh-jump-host" in lab("model-config").out
    assert lab("model-config", "--reset", "ssh-jump-host").status == 0
    assert "ssh-jump-host" not in lab("model-config").out


def test_what_a_person_says_of_a_host_that_was_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "id"
    key.touch()
    said = f"hostname 10.9.9.9\nproxyjump kim@gate\nidentityfile {key}\nidentityfile /nowhere/id\nport 22\n"
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{said}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    own = ssh_config.own_settings("box")
    assert ssh_config.goes_through(own)
    assert not ssh_config.goes_through({"proxyjump": ["none"]})
    item = ssh_config.target("juju-0", {"host": "box"}, user="", key=tmp_path / "ours", own=own)
    text = ssh_config.config_text(
        [item], known_hosts=[tmp_path / "k"], own_known_hosts=tmp_path / "k", check_host_keys=True
    )
    assert "  HostName 10.9.9.9\n" in text
    assert "  proxyjump kim@gate\n" in text
    assert text.count("IdentityFile") == 2
    assert text.endswith("\nMatch all\nInclude ~/.ssh/config\n")


def test_ssh_finds_files_below_a_home_with_odd_letters(tmp_path: Path) -> None:
    home = tmp_path / 'a 100%41 "home"'
    item = ssh_config.target("juju-0", {"host": "10.0.0.9"}, user="", key=home / "ours")
    text = ssh_config.config_text(
        [item], known_hosts=[home / "known"], own_known_hosts=home / "known", check_host_keys=True
    )
    (tmp_path / "config").write_text(text.replace("Include", "#"))
    shown = subprocess.run(
        ["ssh", "-G", "-F", tmp_path / "config", "juju-0"], capture_output=True, text=True, check=True
    ).stdout
    assert f"\nuserknownhostsfile {home}/known\n" in shown
    assert f"\nidentityfile {home}/ours\n" in shown.replace("%%", "%")


def test_scp_between_two_machines_goes_through_here(lab: Run, clients: Clients) -> None:
    lab("scp", "web/0:/etc/hosts", ".")
    lab("scp", "--", "-r", "web/0:/srv", "ubuntu@web/leader:/srv")
    assert clients.calls == [
        ["scp", "juju-web-0:/etc/hosts", "."],
        ["scp", "-3", "-r", "juju-web-0:/srv", "juju-web-leader-ubuntu:/srv"],
    ]


def test_debug_hooks_opens_a_session_and_has_the_work_done(lab: Run, clients: Clients) -> None:
    ended = lab("debug-hooks", "--pty", "web/leader", "install", "greet")
    assert ended.status == 0, ended.err
    assert clients.calls[0][:4] == ["ssh", "-t", "-t", "juju-web-1"]
    packed = re.search(r"echo ([A-Za-z0-9+/=]+) \|", clients.calls[0][4])
    assert packed is not None
    script = base64.b64decode(packed[1]).decode()
    assert "set -- hooks '' web/1 pushjuju-" in script
    assert script.splitlines()[5].endswith(" install greet")
    assert clients.meanwhile == 1
    assert lab("debug-code", "--pty", "--at", "a,b", "web/0").status == 0
    packed = re.search(r"echo ([A-Za-z0-9+/=]+) \|", clients.calls[1][4])
    assert packed is not None
    assert "set -- code a,b web/0 pushjuju-" in base64.b64decode(packed[1]).decode()


@pytest.mark.parametrize(
    ("argv", "status", "text"),
    [
        (("ssh",), 2, "no target name specified"),
        (("ssh", "web/9"), 1, 'unit "web/9" not found'),
        (("ssh", "9"), 1, "machine 9 not found"),
        (("ssh", "nope/leader"), 1, 'could not determine leader for "nope"'),
        (("ssh", "--nope", "0"), 2, "option provided but not defined: --nope"),
        (("scp", "x"), 2, "at least two arguments required"),
        (("scp", "-r", "x", "0:y"), 2, "option provided but not defined: -r"),
        (("debug-hooks",), 2, "no unit name specified"),
        (("debug-hooks", "web"), 2, '"web" is not a valid unit name'),
        (("debug-hooks", "web/9"), 1, 'unit "web/9" not found'),
        (("debug-hooks", "web/0"), 1, "debug-hooks needs a terminal"),
        (("debug-code", "--pty=false", "web/0"), 1, "debug-code needs a terminal"),
        (("debug-hook", "--at", "x", "web/0"), 2, "option provided but not defined: --at"),
        (
            ("debug-hooks", "--pty", "web/0", "instal"),
            1,
            'unit "web/0" contains neither hook nor action "instal", valid actions are [',
        ),
    ],
)
def test_bad_input(lab: Run, argv: tuple[str, ...], status: int, text: str) -> None:
    ended = lab(*argv)
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith(f"ERROR {text}")


def test_words_of_a_session_stay_words(tmp_path: Path) -> None:
    script = debug_start.debug_script(
        "web/0", [], kind="code", at="$(touch x) 'y'", machine="0", base=str(tmp_path)
    )
    head = "\n".join(script.splitlines()[:6])
    (tmp_path / "s").write_text(f'{head}\nprintf "%s|" "$@"\n')
    done = subprocess.run(["bash", "s"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = done.stdout
    assert found.startswith("code|$(touch x) 'y'|web/0|pushjuju-")
    assert not (tmp_path / "x").exists()
