"""What a process at work does while its PostgreSQL is away; the server and the processes are real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres import background, databases, fixtures, server
from tests.waiting import comes

Run = Callable[..., subprocess.CompletedProcess[str]]


class Server:
    """A server of PostgreSQL of this test alone.

    Args:
        folder: The folder of its data and its socket.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stop(self) -> None:
        """Stop the server as a crash would, without a checkpoint."""
        self._control("-m", "immediate", "stop")

    def start(self, **environment: str) -> None:
        """Start the server again, with more variables, and wait until it answers."""
        options = f"-k {self.folder} -c listen_addresses="
        self._control("-w", "-l", str(self.folder / "log2"), "-o", options, "start", **environment)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let the server accept connections and answer nothing."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def _control(self, *words: str, **environment: str) -> None:
        subprocess.run(
            [server._programs() / "pg_ctl", "-D", self.folder / "data", "-s", *words],
            check=True, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env={**os.environ, **environment}, **server.as_owner(),
        )  # fmt: skip


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Server]:
    """A server that waits for its disk."""
    fixtures.require_psycopg()
    try:
        with server.running(tmp_path, durable=True) as folder:
            made = Server(Path(folder))
            yield made
            made.stop()
    except server.NoServerError as error:
        fixtures.missing(str(error))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs a command on a data directory of its own, without waiting for the work."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            _argv(*words), env=_environment(tmp_path), capture_output=True, text=True, timeout=60, check=False
        )

    yield call
    background.end(tmp_path / "data")


@contextmanager
def at_work(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Yield `controller run` and the file with what it says."""
    said = tmp_path / "said"
    with said.open("w") as stream:
        process = subprocess.Popen(
            _argv("controller", "run"), env=_environment(tmp_path), stdin=subprocess.DEVNULL,
            stdout=stream, stderr=stream, text=True,
        )  # fmt: skip
    try:
        yield process, said
    finally:
        process.terminate()
        process.wait(timeout=60)


def _argv(*words: str) -> list[str]:
    return [sys.executable, "-m", "pushjuju.cli", *words]


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin", "HOME": str(folder), "PUSHJUJU_DATA": str(folder / "data"),
        "PUSHJUJU_WAIT": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # fmt: skip


def test_a_process_at_work_outlives_the_absence_of_its_server(
    alone: Server, run: Run, tmp_path: Path
) -> None:
    with databases.database(str(alone.folder)) as url:
        made = run("bootstrap", "local", "home", "--store", url, "--insecure-store")
        assert not made.returncode, made.stderr
        assert not run("add-model", "old").returncode
        with at_work(tmp_path) as (process, said):
            comes(lambda: f":{process.pid}:" in run("controller", "processes").stdout, said.read_text())
            alone.stop()
            away = run("models")
            assert away.returncode == 1
            assert f"psql '{url}'" in away.stderr
            comes(lambda: "the store postgresql://" in said.read_text(), f"a warning: {said.read_text()}")
            assert process.poll() is None, said.read_text()
            alone.start()
            assert not run("destroy-model", "--no-prompt", "old").returncode
            comes(lambda: run("show-model", "old").returncode == 1, said.read_text())
            assert process.poll() is None, said.read_text()
            lines = said.read_text().splitlines()
            assert lines[-1] != lines[-2], lines
            assert any("the store can be used again" in line for line in lines), lines
        assert process.returncode in (0, -15), said.read_text()
        assert "Traceback" not in said.read_text()


def test_a_command_says_soon_that_a_frozen_server_does_not_answer(alone: Server, run: Run) -> None:
    with databases.database(str(alone.folder)) as url:
        assert not run("bootstrap", "local", "home", "--store", url, "--insecure-store").returncode
        with alone.frozen():
            began = time.monotonic()
            refused = run("add-model", "new")
            took = time.monotonic() - began
        assert (refused.returncode, refused.stderr.count("cannot be reached")) == (1, 1), refused.stderr
        assert took < 20
        assert not run("add-model", "new").returncode


def test_the_size_of_a_store_in_postgresql_is_a_metric(postgres_url: str, run: Run) -> None:
    assert not run("bootstrap", "local", "home", "--store", postgres_url, "--insecure-store").returncode
    shown = run("metrics").stdout.splitlines()
    (size,) = [line.split()[1] for line in shown if line.startswith("pushjuju_store_bytes ")]
    assert float(size) > 100_000


def test_a_refused_address_is_named_as_it_was_typed(run: Run) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    other = run("bootstrap", "local", "home", "--store", "mysql://host/shop")
    assert other.returncode
    assert 'begins with postgresql://, not "mysql:"' in other.stderr
    url = "postgresql:///shop?host=/nonexistent"
    gone = run("bootstrap", "local", "home", "--store", url)
    assert gone.returncode
    assert "the store postgresql:///shop cannot be reached" in gone.stderr
    assert f"psql '{url}'" in gone.stderr
