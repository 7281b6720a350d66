"""A real sshd on a free port of 127.0.0.1, and machines that live below a temporary directory."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pushjuju.runner.push.packer import Program, pack
from pushjuju.runner.session import MachineSession, open_session
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget

SSHD = shutil.which("sshd") or ("/usr/sbin/sshd" if Path("/usr/sbin/sshd").exists() else "")

pytestmark = pytest.mark.sshd


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here, and say why it cannot run where there is no sshd or no root."""
    reason = "" if SSHD else "OpenSSH's sshd is not installed"
    if os.geteuid() != 0:
        reason = "sshd for several users needs root"
    for item in items:
        if Path(__file__).parent in Path(str(item.path)).parents:
            item.add_marker(pytest.mark.sshd)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@dataclass(kw_only=True)
class Sshd:
    """A running sshd.

    Attributes:
        port: Where it listens.
        home: Its keys and configuration.
        key: A private key that it accepts for every user.
        process: The daemon.
    """

    port: int
    home: Path
    key: Path
    process: subprocess.Popen[bytes]
    extra: str = ""

    def config(self) -> Path:
        """Write the configuration; many logins of the tests fail, and none may delay the others."""
        said = subprocess.run([SSHD, "-V"], capture_output=True, text=True, check=False).stderr
        version = re.search(r"OpenSSH_(\d+)\.(\d+)", said)
        penalties = version is not None and tuple(map(int, version.groups())) >= (9, 8)
        text = f"""
            Port {self.port}
            ListenAddress 127.0.0.1
            HostKey {self.home}/host_key
            AuthorizedKeysFile {self.home}/authorized_keys
            PidFile {self.home}/pid
            StrictModes no
            UsePAM no
            PermitRootLogin yes
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            MaxStartups 100
            {"PerSourcePenalties no" if penalties else ""}
            {self.extra}
        """
        path = self.home / "sshd_config"
        path.write_text("\n".join(line.strip() for line in text.splitlines()))
        return path

    def start(self) -> None:
        """Start it and wait until it listens."""
        Path("/run/sshd").mkdir(exist_ok=True)
        log = (self.home / "log").open("ab")
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(self.config())], stderr=log, stdout=log)
        log.close()
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.02)
        raise RuntimeError((self.home / "log").read_text())

    def stop(self) -> None:
        """Stop it; sessions go with it."""
        for pid in self.sessions():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def sessions(self) -> list[int]:
        """Return the pids of the processes that serve connections."""
        return children(self.process.pid)


def children(pid: int) -> list[int]:
    """Return the child processes of a process, all generations."""
    found = []
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text() if Path(f"/proc/{pid}").exists() else ""
    for child in map(int, text.split()):
        found += [child, *children(child)]
    return found


def make_key(path: Path, kind: str = "ed25519") -> Path:
    """Make a key pair."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(path)], check=True)
    return path


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture(scope="session")
def sshd() -> Iterator[Sshd]:
    """One sshd for all tests, and for every user.

    Other users read authorized_keys; pytest's own directories become private again whenever another pytest
    starts.
    """
    with tempfile.TemporaryDirectory(prefix="pushjuju-sshd-") as home:
        daemon = new_sshd(Path(home))
        yield daemon
        daemon.stop()


def new_sshd(home: Path, extra: str = "") -> Sshd:
    """Start an sshd of its own."""
    home.chmod(0o755)
    make_key(home / "host_key")
    key = make_key(home / "user_key")
    shutil.copy(f"{key}.pub", home / "authorized_keys")
    (home / "authorized_keys").chmod(0o644)
    daemon = Sshd(port=free_port(), home=home, key=key, process=None, extra=extra)  # type: ignore[arg-type]
    daemon.start()
    return daemon


@dataclass(kw_only=True)
class Machine:
    """A machine below a temporary directory.

    Attributes:
        root: What stands for ``/``.
        target: How to get there.
        options: Options of its server.
        program: What runs there.
    """

    root: Path
    target: MachineTarget
    program: Program
    options: dict[str, Any] = field(default_factory=lambda: {"linger": 0.3})
    connector: Connector = field(default_factory=Connector)

    @contextlib.asynccontextmanager
    async def session(self, **kwargs: Any) -> AsyncIterator[MachineSession]:
        """Attach."""
        arguments = {"program": self.program, "root": str(self.root), "options": self.options} | kwargs
        async with open_session(self.target, connector=self.connector, **arguments) as session:
            yield session

    @property
    def juju(self) -> Path:
        """Juju's directory."""
        return self.root / "var/lib/juju"

    @property
    def base(self) -> Path:
        """Our directory."""
        return self.juju / "pushjuju"

    def charm(self, unit: str = "web/0") -> Path:
        """Return a unit's charm directory."""
        return self.juju / "agents" / f"unit-{unit.replace('/', '-')}" / "charm"

    def server_pids(self) -> list[int]:
        """Return the pids of processes of this machine, by the program they run."""
        found = []
        for path in Path("/proc").iterdir():
            if path.name.isdigit():
                with contextlib.suppress(OSError):
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    if str(self.root).encode() in words:
                        found.append(int(path.name))
        return found

    def write_charm(self, unit: str = "web/0", **hooks: str) -> Path:
        """Put a charm in place without a deploy: hook name (``_`` for ``-``) to script text."""
        charm = self.charm(unit)
        (charm / "hooks").mkdir(parents=True, exist_ok=True)
        (charm / "metadata.yaml").write_text("name: web\n")
        for name, text in hooks.items():
            path = charm / ("dispatch" if name == "dispatch" else f"hooks/{name.replace('_', '-')}")
            path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        return charm

    async def gone(self, limit: float = 30.0) -> bool:
        """Wait until nothing of ours runs for this machine."""
        return await until(lambda: not self.server_pids(), limit)


async def listed(machine: Machine, *ids: str) -> None:
    """Wait until a machine tells of these operations that none of them is over."""
    wanted, seen = {(name, False) for name in ids}, set()
    async with asyncio.timeout(30):
        while not wanted <= seen:
            async with machine.session() as other:
                seen = {(item["id"], item["done"]) for item in other.hello["journal"]}


async def until(condition: Callable[[], object], limit: float = 30.0) -> bool:
    """Wait until a condition holds; tell whether it did within the limit."""
    for _ in range(int(limit / 0.02)):
        if condition():
            return True
        await asyncio.sleep(0.02)
    return bool(condition())


FAMILY = Path(__file__).parent / "probe_tools.py"


@pytest.fixture
def machine(sshd: Sshd, tmp_path: Path) -> Iterator[Machine]:
    """A fresh machine; whatever of ours still runs for it at the end is ended."""
    target = MachineTarget(
        host="127.0.0.1",
        port=sshd.port,
        user="root",
        identity_files=(sshd.key,),
        known_hosts=tmp_path / "known_hosts",
        use_ssh_config=False,
    )
    made = Machine(root=tmp_path / "root", target=target, program=pack([("probe_tools", FAMILY)]))
    made.root.mkdir()
    yield made
    for pid in [*made.server_pids(), *_programs_below(made.root)]:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _programs_below(root: Path) -> list[int]:
    """Return the processes that run a file below a directory: hooks that nobody let go."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"{root}/".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found


def hook_op(name: str, **more: Any) -> dict[str, Any]:
    """Return a hook operation with a fresh id."""
    op = {"id": f"t-{os.urandom(8).hex()}", "kind": "hook", "unit": "web/0", "hook": name}
    env = {"JUJU_HOOK_NAME": name, "JUJU_UNIT_NAME": "web/0", "JUJU_VERSION": "3.6.8", "JUJU_MACHINE_ID": "0"}
    env["JUJU_DISPATCH_PATH"] = f"hooks/{name}"
    return op | {"env": env, "context": {"unit": "web/0", "config": {"title": "blå"}}} | more


def lines(result: dict[str, Any], stream: str = "") -> list[str]:
    """Return the output lines of a result."""
    events = [item["e"] for item in result["events"]]
    return [e["line"] for e in events if e["k"] == "output" and stream in ("", e["stream"])]


def logs(result: dict[str, Any]) -> list[str]:
    """Return the log messages of a result at INFO and above."""
    events = [item["e"] for item in result["events"]]
    return [e["message"] for e in events if e["k"] == "log" and e["level"] != "DEBUG"]


def charm_zip(path: Path, files: dict[str, str | tuple[str, int]]) -> tuple[str, Path]:
    """Write a charm archive; a tuple gives content and unix mode. Return its SHA-256 and path."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            content, mode = value if isinstance(value, tuple) else (value, 0o100644)
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    path.write_bytes(buffer.getvalue())
    return sha256(buffer.getvalue()).hexdigest(), path
