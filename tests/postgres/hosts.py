"""Hosts of one controller, and the cables of those that are network namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class Host:
    """A host with a home of its own, which runs commands."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self._home = home
        self.inside: Sequence[str] = ()  # begins the command line of `controller run`, as `ip netns exec`
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(home), "PUSHJUJU_DATA": str(home / "data"),
            "PUSHJUJU_WAIT": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }  # fmt: skip

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            _argv(*words), env=self.environment, cwd=self._home, capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip

    @contextmanager
    def at_work(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """Yield `controller run` of this host."""
        with (self._home / "said").open("w") as said:
            process = subprocess.Popen(
                [*self.inside, *_argv("controller", "run", *words)], env=self.environment, cwd=self._home,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            )  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(timeout=60)


def _argv(*words: str) -> list[str]:
    return [sys.executable, "-m", "pushjuju.cli", *words]


def done(result: subprocess.CompletedProcess[str]) -> str:
    assert not result.returncode, result.stderr
    return result.stdout


class Cable:
    """The only way between a namespace and this host."""

    def __init__(self, number: int) -> None:
        self.namespace = f"pjcut{number}"
        self.here, self.there = f"10.97.{number % 250}.1", f"10.97.{number % 250}.2"
        self._end = f"pjc{number}"

    def inside(self, name: str) -> list[str]:
        """Return the words that run a command in the namespace, on a host with a name."""
        named = ["unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', name]
        return ["ip", "netns", "exec", self.namespace, *named]

    def make(self) -> None:
        ip("netns", "add", self.namespace)
        ip("link", "add", self._end, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        ip("addr", "add", f"{self.here}/30", "dev", self._end)
        ip("link", "set", self._end, "up")
        ip("-n", self.namespace, "addr", "add", f"{self.there}/30", "dev", "eth0")
        ip("-n", self.namespace, "link", "set", "eth0", "up")

    def cut(self) -> None:
        """Lose all packets from now on; nobody is told."""
        ip("-n", self.namespace, "link", "set", "eth0", "down")

    def remove(self) -> None:
        ip("netns", "del", self.namespace)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
