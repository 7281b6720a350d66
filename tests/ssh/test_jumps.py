"""Machines behind jump hosts: two real sshds, one of which leads to the other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.work import drive
from pushjuju.core.errors import HostKeyChanged, Unreachable
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.services.entities.basis.context import Context, open_context
from pushjuju.store.datadir import DataDir
from pushjuju.store.tx import Tx
from pushjuju.workers.reach import reach
from tests.ssh.conftest import Machine, Sshd, new_sshd, until
from tests.world import how_to
from tests.world.commandline import call

ACCEPTED = "Accepted publickey"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Sshd]:
    """An sshd that others are reached through."""
    yield from _running(tmp_path / "gate", "AllowTcpForwarding yes")


@pytest.fixture
def inner(tmp_path: Path) -> Iterator[Sshd]:
    """A second one, behind it."""
    yield from _running(tmp_path / "inner", "AllowTcpForwarding yes")


def _running(home: Path, extra: str) -> Iterator[Sshd]:
    home.mkdir()
    daemon = new_sshd(home, extra=extra)
    yield daemon
    daemon.stop()


def logins(daemon: Sshd) -> int:
    """Return how often somebody logged in."""
    return (daemon.home / "log").read_text().count(ACCEPTED)


def some_key(daemon: Sshd) -> str:
    """Return a public key that is not that of the daemon."""
    return Path(f"{daemon.key}.pub").read_text()


def way(daemon: Sshd, machine: Machine, **more: Any) -> MachineTarget:
    return MachineTarget(
        host="127.0.0.1",
        port=daemon.port,
        user="root",
        identity_files=(daemon.key,),
        known_hosts=machine.target.known_hosts,
        use_ssh_config=False,
        **more,
    )


# --- the connections --------------------------------------------------------------------------------------


async def test_all_who_go_through_a_jump_host_share_one_login(machine: Machine, gate: Sshd) -> None:
    target = replace(machine.target, jump=way(gate, machine))
    connector = machine.connector
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(connector.connect(target)) for _ in range(5)]
        for connection in found:
            assert (await connection.ssh.run("echo hi")).stdout == "hi\n"
        assert logins(gate) == 1
    assert not connector._jumps
    assert await until(lambda: not gate.sessions())
    async with connector.connect(target) as connection:  # a new one, as nobody was left
        assert (await connection.ssh.run("echo hi")).stdout == "hi\n"
    assert logins(gate) == 2


async def test_two_hops(machine: Machine, gate: Sshd, inner: Sshd) -> None:
    machine.target = replace(machine.target, jump=way(inner, machine, jump=way(gate, machine)))
    machine.write_charm(start="exit 0")
    async with machine.session() as session:
        assert session.connected
    assert logins(gate) == logins(inner) == 1


async def test_a_jump_host_that_died_is_logged_in_to_anew(machine: Machine, gate: Sshd) -> None:
    target = replace(machine.target, jump=way(gate, machine))
    connector = machine.connector
    async with connector.connect(target) as first:
        gate.stop()
        assert await until(first.ssh.is_closed)
        gate.start()
        async with connector.connect(target) as second:
            assert (await second.ssh.run("echo hi")).stdout == "hi\n"


async def test_what_a_jump_host_does_wrong_is_named(machine: Machine, gate: Sshd) -> None:
    target = replace(machine.target, jump=way(gate, machine))
    gate.stop()
    with pytest.raises(Unreachable, match=f"jump host on the way to root@127.0.0.1:{machine.target.port}: "):
        async with machine.connector.connect(target):
            pass
    gate.extra = "AllowTcpForwarding no"
    gate.start()
    with pytest.raises(Unreachable, match="the jump host in front of it does not get there") as caught:
        async with machine.connector.connect(target):
            pass
    assert "AllowTcpForwarding" in caught.value.hint
    other = replace(target.jump or target, host_keys=(some_key(gate),))
    with pytest.raises(HostKeyChanged, match="jump host on the way"):
        async with machine.connector.connect(replace(target, jump=other)):
            pass
    assert not machine.connector._jumps


# --- what a person says -----------------------------------------------------------------------------------

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a command line, and its status with what it said."""

    def typed(*argv: str) -> tuple[int, str]:
        status, out, err = call(tmp_path, *argv, env={"PUSHJUJU_WAIT": "0"})
        return status, out + err

    return typed


@pytest.fixture
def lab(
    run: Run, sshd: Sshd, gate: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Context]:
    """A model with a machine that is the first sshd; both let the controller in."""
    monkeypatch.setattr(drive, "background", lambda *_: None)
    assert run("bootstrap", "local", "lab", "--add-model", "shop")[0] == 0
    assert run("add-machine")[0] == 0
    ctx = open_context(DataDir(tmp_path / "data"), "lab", environ={})
    line = ctx.controller.public_key.read_text()
    files = [daemon.home / "authorized_keys" for daemon in (sshd, gate)]
    saved = [path.read_text() for path in files]
    for path, text in zip(files, saved, strict=True):
        path.write_text(f"{text}\n{line}")
    key = " ".join((sshd.home / "host_key.pub").read_text().split()[:2])
    ssh = json.dumps({"host": "127.0.0.1", "port": sshd.port, "user": "root", "host_keys": [key]})
    with ctx.store.write() as tx:
        tx.run("machine_set_ssh", model=shop(tx), id="0", ssh=ssh)
    yield ctx
    ctx.close()
    for path, text in zip(files, saved, strict=True):
        path.write_text(text)


def shop(tx: Tx) -> str:
    """Return the UUID of the model; its controller has one of its own too."""
    return next(str(row["uuid"]) for row in tx.rows("model_list") if row["name"] == "shop")


def through(run: Run, gate: Sshd) -> None:
    status, said = run("model-config", f"ssh-jump-host=root@127.0.0.1:{gate.port}")
    assert status == 0, said


@pytest.mark.skipif(not shutil.which("ssh"), reason="OpenSSH's client is not installed")
def test_ssh_and_scp_go_through_the_models_jump_host(
    run: Run, lab: Context, gate: Sshd, tmp_path: Path
) -> None:
    assert run("ssh", "root@0", "touch", str(tmp_path / "direct"))[0] == 0
    assert (tmp_path / "direct").exists()
    assert logins(gate) == 0
    status, said = run("ssh", "--proxy", "root@0", "true")
    assert (status, said.splitlines()[0]) == (1, "ERROR no jump host is known for machine 0")
    through(run, gate)
    assert run("ssh", "root@0", "touch", str(tmp_path / "through"))[0] == 0
    assert (tmp_path / "through").exists()
    assert logins(gate) == 1
    assert run("ssh", "--proxy=false", "root@0", "true")[0] == 0
    assert logins(gate) == 1
    (tmp_path / "a").write_text("text")
    assert run("scp", "--proxy", "--", "-O", str(tmp_path / "a"), f"root@0:{tmp_path / 'b'}")[0] == 0
    assert (tmp_path / "b").read_text() == "text"
    assert logins(gate) == 2
    with lab.store.read() as tx:
        known = lab.controller.known_hosts(shop(tx))
    assert f"[127.0.0.1]:{gate.port}" in known.read_text()  # whom we met there is remembered, by us alone


@pytest.mark.skipif(not shutil.which("ssh"), reason="OpenSSH's client is not installed")
def test_the_page_about_jump_hosts(run: Run, lab: Context, gate: Sshd, inner: Sshd) -> None:
    """After each command of the page, the machine is reached through the jump hosts of the command."""
    line = lab.controller.public_key.read_text()
    (inner.home / "authorized_keys").write_text(f"{(inner.home / 'authorized_keys').read_text()}\n{line}")
    used: list[tuple[int, int]] = []

    def typed(line: str) -> tuple[int, str]:
        before = logins(gate), logins(inner)
        code, said = run(*line.split()[1:])
        if not code:
            code, said = run("ssh", "root@0", "true")
        used.append((logins(gate) - before[0], logins(inner) - before[1]))
        return code, said

    first, second = (f"root@127.0.0.1:{daemon.port}" for daemon in (gate, inner))
    put = {"kim@bastion.example.com": first, "kim@bastion:2222,inner": f"{first},{second}"}
    how_to.play("go-through-a-jump-host.md", typed, put=put)
    assert used == [(1, 0), (1, 1)]


async def test_the_controller_goes_through_it_too(
    run: Run, lab: Context, gate: Sshd, machine: Machine, sshd: Sshd
) -> None:
    through(run, gate)
    with lab.store.read() as tx:
        row = tx.rows("machine_list", model=shop(tx))[0]
    target = reach(lab, row["model"], json.loads(row["ssh"]), config=False)
    assert target.jump is not None
    assert target.jump.port == gate.port
    async with Connector().connect(target) as connection:
        said = str((await connection.ssh.run("echo $SSH_CONNECTION")).stdout).split()
    assert logins(gate) == 1
    assert said[3] == str(sshd.port)
    own = reach(lab, row["model"], {"host": "x", "jump": "kim@other:7"}, config=False)
    assert str(own.jump) == "kim@other:7"  # what the machine's own cloud says comes first
    assert machine.root.exists()


def test_a_way_that_is_none(run: Run, lab: Context) -> None:
    for text in ("-oProxyCommand=x", "a b", "gate:0"):
        status, said = run("model-config", f"ssh-jump-host={text}")
        assert status == 1
        assert said.startswith(f'ERROR ssh-jump-host: jump host "{text}" not valid')
    assert "ssh-jump-host" not in run("model-config")[1]
    assert run("model-config", "ssh-jump-host")[0] == 1
    assert lab.controller.name == "lab"
