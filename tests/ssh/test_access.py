"""Getting in: keys, host keys, users, sudo, jump hosts, machines without Python."""

# ruff: noqa: ASYNC220, ASYNC221, ASYNC240 - the tests look at local files and start local programs

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pushjuju.cli.commands.ssh import ssh_config
from pushjuju.core import limits
from pushjuju.core.errors import (
    AuthFailed,
    BadAnswer,
    ConnectionLost,
    HostKeyChanged,
    RemoteFailed,
    SudoRefused,
    Unreachable,
)
from pushjuju.runner.ssh.hostkeys import HostKeyFile, entry_name
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.workers import reach

from .conftest import Machine, Sshd, free_port, hook_op, make_key, new_sshd, until


async def test_first_host_key_is_accepted_and_written_down(machine: Machine, sshd: Sshd) -> None:
    async with machine.session() as session:
        assert session.hello["os"]["id"]
    file = HostKeyFile(machine.target.known_hosts or Path())
    name = entry_name("127.0.0.1", sshd.port)
    key = (sshd.home / "host_key.pub").read_text().split()[:2]
    assert file.find(name) == [" ".join(key)]
    assert file.path.stat().st_mode & 0o077 == 0
    assert key[1] in keygen("-F", name, "-f", str(file.path))


def keygen(*arguments: str) -> str:
    """Run ssh-keygen and return what it prints."""
    return subprocess.run(["ssh-keygen", *arguments], capture_output=True, text=True, check=True).stdout


async def test_a_key_that_the_provider_did_not_tell_is_accepted_by_the_command_that_is_told(
    machine: Machine, sshd: Sshd, tmp_path: Path
) -> None:
    told = make_key(tmp_path / "told").with_suffix(".pub").read_text().strip()
    machine.target = replace(machine.target, host_keys=(told,))
    with pytest.raises(HostKeyChanged) as caught:
        async with machine.session():
            pass
    file = HostKeyFile(machine.target.known_hosts or Path())
    assert file.find(entry_name("127.0.0.1", sshd.port)) == []  # nothing was learnt of it
    command = caught.value.hint.removeprefix("If it is the right machine: ")
    subprocess.run(["sh", "-ec", command], check=True)
    async with machine.session() as session:
        assert session.hello["os"]["id"]


async def test_changed_host_key_stops_with_both_fingerprints(
    machine: Machine, sshd: Sshd, tmp_path: Path
) -> None:
    file = HostKeyFile(machine.target.known_hosts or Path())
    name = entry_name("127.0.0.1", sshd.port)
    other = make_key(tmp_path / "other", "ecdsa")
    file.add(name, other.with_suffix(".pub").read_text())
    with pytest.raises(HostKeyChanged) as caught:
        async with machine.session():
            pass
    for path in (other, sshd.home / "host_key"):
        assert keygen("-lf", f"{path}.pub").split()[1] in caught.value.message
    assert f"ssh-keygen -f {file.path} -R '{name}'" in caught.value.hint
    same = make_key(tmp_path / "same")
    file.remove(name)
    file.add(name, same.with_suffix(".pub").read_text())
    with pytest.raises(HostKeyChanged) as caught:
        async with machine.session():
            pass
    for path in (same, sshd.home / "host_key"):
        assert keygen("-lf", f"{path}.pub").split()[1] in caught.value.message
    keygen("-q", "-f", str(file.path), "-R", name)
    async with machine.session():
        pass


async def test_host_key_of_the_provider_is_the_only_one(machine: Machine, sshd: Sshd, tmp_path: Path) -> None:
    right = (sshd.home / "host_key.pub").read_text()
    machine.target = replace(machine.target, host_keys=(right,), known_hosts=None)
    async with machine.session():
        pass
    wrong = make_key(tmp_path / "wrong").with_suffix(".pub").read_text()
    machine.target = replace(machine.target, host_keys=(wrong,))
    with pytest.raises(HostKeyChanged, match="expected ssh-ed25519 SHA256:"):
        async with machine.session():
            pass


async def test_refused_key_missing_key_and_closed_port(machine: Machine, tmp_path: Path) -> None:
    machine.target = replace(machine.target, identity_files=(make_key(tmp_path / "wrong"),))
    with pytest.raises(AuthFailed, match="refuses the login of root"):
        async with machine.session():
            pass
    machine.target = replace(machine.target, identity_files=(tmp_path / "nothing",))
    with pytest.raises(AuthFailed, match="cannot read the SSH key"):
        async with machine.session():
            pass
    machine.target = replace(machine.target, identity_files=(), port=free_port())
    with pytest.raises(Unreachable, match="Connection refused"):
        async with machine.session():
            pass


@pytest.mark.parametrize("keys", [1, 2])
async def test_a_refused_login_is_one_login_where_ssh_has_no_other_key(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: int
) -> None:
    (tmp_path / "sshd").mkdir()
    daemon = new_sshd(tmp_path / "sshd")

    def refused() -> int:
        return (daemon.home / "log").read_text().count("Connection closed by authenticating user")

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    wrong = make_key(tmp_path / "wrong")
    (tmp_path / ".ssh").mkdir()
    if keys > 1:
        make_key(tmp_path / ".ssh" / "id_ed25519")
    machine.target = replace(machine.target, port=daemon.port, identity_files=(wrong,), use_ssh_config=True)
    try:
        with pytest.raises(AuthFailed):
            async with machine.session():
                pass
        assert await until(lambda: refused() >= keys)
    finally:
        daemon.stop()
    assert refused() == keys, "after some refused logins, an sshd refuses a host for a while"


async def _speaks_another_version(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-1.5-old\r\n")
    await reader.read()
    writer.close()


async def test_silent_and_foreign_listeners_are_unreachable(machine: Machine) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        machine.target = replace(machine.target, port=silent.getsockname()[1], connect_timeout=0.3)
        with pytest.raises(Unreachable, match=r"no answer within 0\.3 seconds"):
            async with machine.session():
                pass
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        machine.target = replace(machine.target, port=port, connect_timeout=5)
        with pytest.raises(Unreachable, match="closes the connection before the login") as caught:
            async with machine.session():
                pass
        assert caught.value.hint.endswith("try again in a minute.")
    server = await asyncio.start_server(_speaks_another_version, "127.0.0.1", 0)
    async with server:
        machine.target = replace(machine.target, port=server.sockets[0].getsockname()[1])
        with pytest.raises(Unreachable) as caught:
            async with machine.session():
                pass
        assert "closes the connection" not in caught.value.message  # the host did not
    machine.target = replace(machine.target, host="no-such-host.invalid")
    with pytest.raises(Unreachable, match="name not known"):
        async with machine.session():
            pass


async def test_through_a_jump_host(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "jump").mkdir()
    jump = new_sshd(tmp_path / "jump", extra="AllowTcpForwarding yes")
    try:
        way = MachineTarget(
            host="127.0.0.1",
            port=jump.port,
            user="root",
            identity_files=(jump.key,),
            known_hosts=machine.target.known_hosts,
            use_ssh_config=False,
        )
        machine.target = replace(machine.target, jump=way)
        machine.write_charm(start="exit 0")
        async with machine.session() as session:
            assert (await session.run(hook_op("start")))["outcome"] == "ok"
    finally:
        jump.stop()


async def test_ssh_config_of_the_user_is_honoured(
    machine: Machine, sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".ssh").mkdir(mode=0o700)
    config = f"Host box\n  HostName 127.0.0.1\n  Port {sshd.port}\n  User root\n  IdentityFile {sshd.key}\n"
    (tmp_path / ".ssh/config").write_text(config)
    monkeypatch.setenv("HOME", str(tmp_path))
    machine.target = MachineTarget(host="box", known_hosts=tmp_path / "kh")
    async with machine.session() as session:
        assert session.hello["python"]
    assert HostKeyFile(tmp_path / "kh").find(entry_name("127.0.0.1", sshd.port))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Port abc", "line 2: Invalid Port integer value: abc"),
        ("Match unheard", "line 2: Invalid match condition unheard"),
        ("ProxyJump a:x", "invalid literal for int"),
    ],
)
async def test_ssh_settings_that_cannot_be_read_are_named(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, told: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir(exist_ok=True)
    (tmp_path / ".ssh/config").write_text(f"Host *\n  {line}\n")
    machine.target = replace(machine.target, port=None, use_ssh_config=True)
    with pytest.raises(Unreachable, match=f"your SSH settings cannot be read: .*{told}") as caught:
        async with machine.session():
            pass
    assert caught.value.hint == "Correct ~/.ssh/config."


async def test_a_key_of_the_ssh_settings_that_is_not_there_is_left_out(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / ".ssh").mkdir(exist_ok=True)
    (key,) = machine.target.identity_files
    (tmp_path / ".ssh/config").write_text(f"Host *\n  IdentityFile ~/.ssh/lost\n  IdentityFile {key}\n")
    machine.target = replace(machine.target, identity_files=(), use_ssh_config=True)
    async with machine.session() as session:
        assert session.hello["os"]["id"]


@pytest.fixture
def lender(tmp_path: Path, sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person whose agent has the key, and whose configuration lends it to everybody."""
    home, sock = tmp_path / "home", tmp_path / "agent"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(sock)], stdout=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while not sock.exists() and time.monotonic() < end:
        time.sleep(0.01)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(sock))
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("LC_LENT", "secret")
    subprocess.run(["ssh-add", "-q", str(sshd.key)], check=True, capture_output=True)
    yield home / ".ssh/config"
    agent.kill()
    agent.wait()


LENT = """
Host gate
  HostName 127.0.0.1
  Port {port}
Host *
  ForwardAgent {agent}
  ForwardX11 yes
  ForwardX11Trusted yes
  SendEnv LC_*
  User root
  StrictHostKeyChecking no
  UserKnownHostsFile {known}
"""
SHOW = 'echo "agent=$SSH_AUTH_SOCK screen=$DISPLAY variable=$LC_LENT"'


@pytest.mark.parametrize("agent", ["yes", "$SSH_AUTH_SOCK", "path"])
@pytest.mark.parametrize("jump", ["", "Host 127.0.0.1\n  ProxyJump gate\n"])
@pytest.mark.parametrize("taken", [True, False])
async def test_a_machine_is_not_lent_the_persons_agent(
    machine: Machine, sshd: Sshd, tmp_path: Path, lender: Path, agent: str, jump: str, taken: bool
) -> None:
    told = os.environ["SSH_AUTH_SOCK"] if agent == "path" else agent
    lender.write_text(jump + LENT.format(port=sshd.port, agent=told, known=tmp_path / "kh"))
    # A host key in the file: a jump host of the configuration must be known.
    key = (sshd.home / "host_key.pub").read_text()
    (lender.parent / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} {key}")
    lender.write_text(lender.read_text().replace(str(tmp_path / "kh"), str(lender.parent / "known_hosts")))
    files = (sshd.key,) if taken else (make_key(tmp_path / "refused"),)
    machine.target = replace(machine.target, identity_files=files, use_ssh_config=True)
    async with machine.connector.connect(machine.target) as connection:
        said = (await connection.ssh.run(SHOW)).stdout
        assert said == "agent= screen= variable=\n"
        assert connection.ssh._agent_forward_path is None
        if jump:
            tunnel = connection.ssh._tunnel
            assert tunnel is not None
            assert tunnel._agent_forward_path is None


def test_ssh_lends_the_agent_only_when_the_command_says_so(sshd: Sshd, tmp_path: Path, lender: Path) -> None:
    lender.write_text(LENT.format(port=sshd.port, agent="yes", known=tmp_path / "kh"))
    target = ssh_config.target(
        "box", {"host": "127.0.0.1", "port": sshd.port}, user="root", key=sshd.key, own={}, hops=()
    )
    text = ssh_config.config_text(
        [target], known_hosts=[tmp_path / "kh"], own_known_hosts=tmp_path / "kh", check_host_keys=True
    )
    # OpenSSH finds `~` in the list of users, not in HOME.
    (tmp_path / "config").write_text(text.replace("~/.ssh/config", str(lender)))

    def said(*options: str) -> str:
        words = ["ssh", "-F", str(tmp_path / "config"), "box", *options, "echo $SSH_AUTH_SOCK"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    assert said() == ""
    assert said("-A").startswith(("/tmp/ssh-", "/root/.ssh/agent/"))  # the latter since OpenSSH 10.1


USER = f"pj-test-{os.getpid()}"


async def test_keys_of_the_ssh_agent_are_offered(
    machine: Machine, sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sock = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(sock)], stdout=subprocess.DEVNULL)
    try:
        assert await until(sock.exists)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("SSH_AUTH_SOCK", str(sock))
        machine.target = replace(machine.target, identity_files=(), use_ssh_config=True)
        with pytest.raises(AuthFailed):
            async with machine.session():
                pass
        subprocess.run(["ssh-add", "-q", str(sshd.key)], check=True, capture_output=True)
        async with machine.session() as session:
            assert session.hello["python"]
        # Ours is refused first, then the agent's is taken.
        machine.target = replace(machine.target, identity_files=(make_key(tmp_path / "unknown"),))
        async with machine.session() as session:
            assert session.hello["python"]
    finally:
        agent.kill()
        agent.wait()


@pytest.fixture
def user() -> Iterator[str]:
    """A unix user without rights."""
    if not shutil.which("sudo") or not shutil.which("useradd"):
        pytest.skip("sudo and useradd are needed")
    with contextlib.suppress(KeyError):
        pwd.getpwnam(USER)
        subprocess.run(["userdel", USER], check=True)
    subprocess.run(["useradd", "--no-create-home", "--shell", "/bin/sh", "-p", "*", USER], check=True)
    yield USER
    Path(f"/etc/sudoers.d/{USER}").unlink(missing_ok=True)
    for _ in range(50):
        if subprocess.run(["userdel", USER], check=False, capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"user {USER} could not be removed")


async def test_user_without_sudo_is_refused_with_one_it_works(machine: Machine, user: str) -> None:
    machine.target = replace(machine.target, user=user)
    with pytest.raises(SudoRefused, match=f"cannot become root on {user}@") as caught:
        async with machine.session():
            pass
    assert "password" in caught.value.detail
    Path(f"/etc/sudoers.d/{user}").write_text(f"{user} ALL=(ALL) NOPASSWD: ALL\n")
    machine.write_charm(start="id -u")
    async with machine.session() as session:
        assert (await session.exec(["id", "-u"])).stdout == "0\n"
        assert (await session.run(hook_op("start")))["outcome"] == "ok"


async def test_an_account_without_a_shell_is_an_error_with_its_words(machine: Machine, user: str) -> None:
    subprocess.run(["usermod", "--shell", shutil.which("nologin") or "/sbin/nologin", user], check=True)
    machine.target = replace(machine.target, user=user)
    with pytest.raises(RemoteFailed, match="cannot start: exit status 1") as caught:
        async with machine.session():
            pass
    assert caught.value.detail.endswith("This account is currently not available.")


NO_PYTHON = """
mount --make-rprivate /
for file in /usr/bin/python3* /usr/local/bin/python3*; do
  [ -e "$file" ] && mount --bind /dev/null "$(readlink -f "$file")" 2>/dev/null
done
mount -t tmpfs none /root/.pyenv 2>/dev/null
mount --bind {apt} /usr/bin/apt-get
exec {sshd} -D -e -f {config}
"""


async def test_machine_that_allows_no_session(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "sshd").mkdir()
    daemon = new_sshd(tmp_path / "sshd", "MaxSessions 0")
    machine.target = replace(machine.target, port=daemon.port, identity_files=(daemon.key,))
    try:
        with pytest.raises(ConnectionLost, match="the machine refuses a session"):
            async with machine.session():
                pass
    finally:
        daemon.stop()


@pytest.mark.parametrize("works", [True, False])
async def test_python_is_installed_where_there_is_none(machine: Machine, tmp_path: Path, works: bool) -> None:
    if not Path("/usr/bin/apt-get").exists() or not shutil.which("unshare"):
        pytest.skip("apt-get and unshare are needed to play a machine without Python")
    apt = tmp_path / "apt-get"
    act = "for f in /usr/bin/python3.*; do while umount $f 2>/dev/null; do :; done; done"
    text = act if works else "echo 'E: Unable to locate package python3' >&2; exit 100"
    apt.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$*" in *update*) exit 0;; esac\n{text}\n'
    )
    apt.chmod(0o755)
    (tmp_path / "sshd").mkdir()
    daemon = new_sshd(tmp_path / "sshd")
    daemon.stop()
    from .conftest import SSHD

    script = NO_PYTHON.format(apt=apt, sshd=SSHD, config=daemon.config())
    daemon.process = subprocess.Popen(["unshare", "-m", "sh", "-c", script], stderr=subprocess.DEVNULL)
    machine.target = replace(machine.target, port=daemon.port, identity_files=(daemon.key,))
    try:
        assert await until(lambda: _answers(daemon.port))
        if works:
            async with machine.session() as session:
                assert session.hello["python"]
        else:
            with pytest.raises(RemoteFailed, match="has no python3 and it cannot be installed") as caught:
                async with machine.session():
                    pass
            assert "Unable to locate package" in caught.value.detail
        assert "-y install --no-install-recommends python3" in (tmp_path / "asked").read_text()
    finally:
        daemon.stop()


async def test_a_plain_script_gives_its_output_up_to_a_limit(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Connector().connect(machine.target) as connection:
        script = "printf 'out\\377'; echo err >&2; exit 3"
        done = await reach.run_command(connection.ssh, "/bin/sh -s", script)
        assert (done.status, done.stdout, done.stderr) == (3, "out\ufffd", "err\n")
        done = await reach.run_command(connection.ssh, "exit 4", "never read\n" * 1000)
        assert (done.status, done.stdout) == (4, "")
        monkeypatch.setattr(limits, "SCRIPT_OUTPUT", 100_000)
        with pytest.raises(BadAnswer, match="printed more than 100000 characters"):
            await asyncio.wait_for(reach.run_command(connection.ssh, "/bin/sh -s", "exec yes"), 20)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
