"""The local provider in the hands of an ordinary user with sudo, and of one without."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pushjuju.testing.machines import LocalCloud

pytestmark = pytest.mark.machine

_REPO = Path(__file__).resolve().parents[2]
_PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from pushjuju.core.base import Base
from pushjuju.core.errors import PushjujuError
from pushjuju.plugins.manager import PluginHost
from pushjuju.plugins.api.clouds import CloudSpec
from pushjuju.plugins.api.providers import ModelInfo, Services, StartRequest
from pushjuju.testing.ssh import TestTransport, new_key

async def main(folder, base):
    data = folder / "data"
    data.mkdir(mode=0o700)
    key = folder / "key"
    public = new_key(key)
    host = PluginHost(environ=os.environ)
    cloud = CloudSpec(name="local", type="local")
    model = ModelInfo(uuid="12345678", name="m", controller_uuid="c")
    services = Services(data_dir=data, environ=os.environ)
    provider = host.open_provider(cloud=cloud, model=model, services=services)
    print("doctor", [item.name for item in await provider.doctor() if item.required and not item.ok])
    request = StartRequest(machine_id="0", base=Base.parse(base), authorized_keys=(public,))
    started = await provider.start(request)
    (seen,) = await provider.list()
    print("listed", seen.id, seen.status)
    done = await TestTransport(key).wait_for(await provider.ssh_target(seen), "hostname\\n")
    print("ssh", done.stdout.strip())
    await provider.stop([seen.id])
    print("left", os.listdir(data))

try:
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
except PushjujuError as error:
    print("error", type(error).__name__, error, "|", error.hint)
"""


@dataclass(frozen=True)
class User:
    """An account for one test."""

    name: str
    home: Path
    python: str
    path: tuple[Path, ...]

    def run(self, *args: str) -> list[str]:
        """Run the program as the user, without a terminal, and return what it printed."""
        done = subprocess.run(
            [self.python, "-c", _PROGRAM, *args],
            user=self.name,
            group=self.name,
            extra_groups=[],
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(self.home),
                "PYTHONPATH": os.pathsep.join(map(str, self.path)),
            },
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout.splitlines()


@contextlib.contextmanager
def shown_below(home: Path, folders: list[Path]) -> Iterator[list[Path]]:
    """Show folders of root in a home: a checkout may lie where nobody else can look."""
    made: list[Path] = []
    try:
        for number, folder in enumerate(folders):
            place = home / f"lib{number}"
            place.mkdir()
            subprocess.run(["mount", "--bind", folder, place], check=True)
            made.append(place)
        yield made
    finally:
        for place in made:
            subprocess.run(["umount", place], check=True)


@contextlib.contextmanager
def account(name: str, home: Path, python: str) -> Iterator[User]:
    subprocess.run(["useradd", "--create-home", "--home-dir", home, name], check=True)
    try:
        with shown_below(
            home, [_REPO, *(Path(item) for item in sys.path if "site-packages" in item)]
        ) as path:
            yield User(name, home, python, tuple(path))
    finally:
        subprocess.run(["userdel", "--remove", name], capture_output=True, check=True)


@pytest.fixture
def user(local_cloud: LocalCloud) -> Iterator[User]:
    python = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    if python is None:
        pytest.skip("this Python belongs to root, and the system has no other of its version")
    name = f"pjtest{os.getpid()}"
    local_cloud.root.chmod(0o711)
    with account(name, local_cloud.root / name, python) as made:
        yield made


@pytest.fixture
def sudo_rule(user: User) -> Iterator[None]:
    rule = Path("/etc/sudoers.d", user.name)
    rule.write_text(f"{user.name} ALL=(ALL) NOPASSWD:ALL\n", encoding="ascii")
    rule.chmod(0o440)
    yield
    rule.unlink()


@pytest.mark.usefixtures("sudo_rule")
def test_user_with_sudo_has_machines(local_cloud: LocalCloud, user: User) -> None:
    """Everything works as for root; what needs no rights (list, how to reach it) is read directly."""
    assert user.run(str(user.home), str(local_cloud.base)) == [
        "doctor []",
        "listed juju-345678-0 running",
        "ssh juju-345678-0",
        "left []",
    ]


def test_user_without_sudo_is_told_why(local_cloud: LocalCloud, user: User) -> None:
    """Nobody is at the terminal to type a password: an error that says what to do."""
    assert user.run(str(user.home), str(local_cloud.base)) == [
        "doctor ['root rights']",
        "error SudoRefused local machines need root rights, and sudo does not let you in | sudo -v",
    ]
