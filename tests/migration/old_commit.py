"""The commit before the work on the rooms, from which tests upgrade: its package, and its commands."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.tars import unpack
from tests.waiting import paths_below

COMMIT = "7b2c822dc72f0cbc7b1cbb78373311fe53e396de"
CHECKOUT = Path(__file__).parents[2]
CHARMS = Path(__file__).parent / "charms"
MACHINES = "data/controllers/home/machines/local/machines"


def fetch(folder: Path) -> str:
    """Write the old package into a folder; return why that is not possible, or an empty text."""
    git = ["git", "-c", "safe.directory=*", "-C", str(CHECKOUT), "archive", COMMIT, "pushjuju"]
    try:
        archive = subprocess.run(git, capture_output=True, check=False)
    except FileNotFoundError:
        return "git is not installed"
    if archive.returncode:
        return f"the history of this checkout does not reach back to {COMMIT[:8]}"
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        unpack(tar, folder)
    return ""


@dataclass(frozen=True)
class Commands:
    """The command lines of one tree, in a folder that is home, with the data directory `data` in it.

    Attributes:
        tree: The folder that has the package `pushjuju`.
    """

    tree: Path
    home: Path

    def start(self, *argv: str, **streams: int) -> subprocess.Popen[str]:
        """Start a command."""
        env = {**os.environ, "PYTHONPATH": str(self.tree), "HOME": str(self.home), "TZ": "UTC"}
        env["PUSHJUJU_DATA"] = str(self.home / "data")
        command = [sys.executable, "-m", "pushjuju.cli", *argv]
        return subprocess.Popen(
            command, env=env, cwd=self.home, stdin=subprocess.DEVNULL, text=True, **streams
        )

    def __call__(self, *argv: str) -> str:
        """Run a command that must end well; return what it prints."""
        with self.start(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate(timeout=120)
        assert process.returncode == 0, f"{argv}: {err}"
        return out


@dataclass(frozen=True)
class Host:
    """A machine of the local cloud that runs a unit of the charm `web`.

    Attributes:
        root: Its root directory.
    """

    root: Path

    @classmethod
    def all(cls, home: Path) -> list[Host]:
        """Return the machines of the data directory below a folder."""
        roots = sorted(home.glob(f"{MACHINES}/*/root"))
        return [cls(root) for root in roots if (root / "var/hooks").exists()]

    def hooks(self) -> list[str]:
        """Return the hooks that began, in order."""
        return (self.root / "var/hooks").read_text().split()

    def held(self, number: int) -> bool:
        """Return True when config-changed began for the numberth time."""
        return self.hooks().count("config-changed") == number

    def let_go(self) -> None:
        """Let config-changed end."""
        (self.root / "var/let-go").touch()

    def journal(self) -> dict[str, str]:
        """Return the operations that the machine keeps, by the names of their files."""
        return {
            path.name: path.read_text().rstrip("\0")
            for path in paths_below(self.root / "var/lib/juju/pushjuju")
            if path.name.startswith("op-")
        }

    def ended(self) -> bool:
        """Return True when the machine keeps one operation, and its result."""
        return ['{"result"' in text for text in self.journal().values()] == [True]


def wait(condition: Callable[[], object]) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not within a minute.
    """
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)
