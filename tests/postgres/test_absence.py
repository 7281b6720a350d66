"""What a process at work does while its PostgreSQL is away; the server and the processes are real."""

from __future__ import annotations

import os
import re
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres import background, databases, fixtures, server
from tests.waiting import comes

Run = Callable[..., subprocess.CompletedProcess[str]]
WAITS = "does not answer"
AGAIN = "the store can be used again"
SLACK_S = 5  # of a busy computer, for the start of a process


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
def started(tmp_path: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Yield the process of a command and the file with what it says."""
    said = tmp_path / "said"
    with said.open("w") as stream:
        process = subprocess.Popen(
            _argv(*words), env=_environment(tmp_path), stdin=subprocess.DEVNULL,
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
        with started(tmp_path, "controller", "run") as (process, said):
            comes(lambda: f":{process.pid}:" in run("controller", "processes").stdout, said.read_text())
            alone.stop()
            began = time.monotonic()
            away = run("models")
            assert away.returncode == 1
            assert 30 <= time.monotonic() - began < 40
            assert away.stderr.count(WAITS) == 1, away.stderr
            assert f"psql '{url}'" in away.stderr
            comes(lambda: "the store postgresql://" in said.read_text(), f"a warning: {said.read_text()}")
            assert process.poll() is None, said.read_text()
            alone.start()
            back = time.monotonic()
            comes(lambda: AGAIN in said.read_text(), said.read_text())
            assert time.monotonic() - back < 5 + SLACK_S, said.read_text()
            assert not run("destroy-model", "--no-prompt", "old").returncode
            comes(lambda: run("show-model", "old").returncode == 1, said.read_text())
            assert process.poll() is None, said.read_text()
            lines = said.read_text().splitlines()
            assert lines[-1] != lines[-2], lines
            assert any(AGAIN in line for line in lines), lines
        assert process.returncode in (0, -15), said.read_text()
        assert "Traceback" not in said.read_text()


def test_a_command_says_soon_that_a_frozen_server_does_not_answer(
    alone: Server, run: Run, tmp_path: Path
) -> None:
    with databases.database(str(alone.folder)) as url:
        assert not run("bootstrap", "local", "home", "--store", url, "--insecure-store").returncode
        with alone.frozen():
            began = time.monotonic()
            with started(tmp_path, "add-model", "new") as (process, said):
                comes(lambda: WAITS in said.read_text(), said.read_text())
                assert time.monotonic() - began < 10 + SLACK_S
                process.wait(timeout=60)
            took = time.monotonic() - began
        told = said.read_text()
        assert (process.returncode, told.count(WAITS), told.count("cannot be reached")) == (1, 1, 1), told
        assert 30 <= took < 45
        assert not run("add-model", "new").returncode


def test_a_command_waits_while_its_server_restarts(alone: Server, run: Run, tmp_path: Path) -> None:
    with databases.database(str(alone.folder)) as url:
        assert not run("bootstrap", "local", "home", "--store", url, "--insecure-store").returncode
        alone.stop()
        with started(tmp_path, "add-model", "new") as (process, said):
            comes(lambda: WAITS in said.read_text(), said.read_text())
            assert process.poll() is None
            alone.start()
            assert process.wait(timeout=5 + SLACK_S) == 0, said.read_text()
        assert said.read_text().count(WAITS) == 1
        assert "new" in run("models").stdout


def test_a_role_that_the_server_refuses_is_told_of_at_once(alone: Server, run: Run) -> None:
    with databases.database(str(alone.folder)) as url:
        assert not run("bootstrap", "local", "home", "--store", url, "--insecure-store").returncode
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(url, autocommit=True) as link:
            link.execute("CREATE ROLE other SUPERUSER LOGIN")
            link.execute("ALTER ROLE pushjuju NOLOGIN")
        began = time.monotonic()
        refused = run("models")
        assert (refused.returncode, WAITS in refused.stderr) == (1, False), refused.stderr
        assert "not permitted to log in" in refused.stderr
        assert time.monotonic() - began < 20
        with psycopg.connect(f"{url}&user=other", autocommit=True) as link:
            link.execute("ALTER ROLE pushjuju LOGIN")


def test_the_dashboard_outlives_the_absence_of_its_server(alone: Server, run: Run, tmp_path: Path) -> None:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with databases.database(str(alone.folder)) as url:
        assert not run("bootstrap", "local", "home", "--store", url, "--insecure-store").returncode
        with started(tmp_path, "dashboard", "--no-browser") as (process, said):
            comes(lambda: "http://" in said.read_text(), said.read_text())
            page = next(word for word in said.read_text().split() if word.startswith("http://"))
            place = urllib.parse.urlsplit(page).netloc
            browser.open(run("dashboard", "--link", "admin", "--listen", place).stdout.strip(), timeout=30)
            assert shown(browser, page) != "403"
            alone.stop()
            with pytest.raises(urllib.error.HTTPError, match="503") as refused:
                browser.open(page, timeout=30)
            assert "The store" in refused.value.read().decode()
            alone.start()
            assert not run("add-model", "new").returncode
            comes(lambda: "new" in shown(browser, page), said.read_text())
            assert process.poll() is None, said.read_text()
            assert "Traceback" not in said.read_text()


def test_the_health_of_the_api_tells_of_the_absence_of_its_server(
    alone: Server, run: Run, tmp_path: Path
) -> None:
    with databases.database(str(alone.folder)) as url:
        assert not run("bootstrap", "local", "home", "--store", url, "--insecure-store").returncode
        with started(tmp_path, "api", "--listen", "127.0.0.1:0") as (process, said):
            comes(lambda: "127.0.0.1:" in said.read_text(), said.read_text())
            found = re.search(r"127\.0\.0\.1:\d+", said.read_text())
            assert found is not None
            page = f"https://{found[0]}/health"
            comes(lambda: health(page) == 200, said.read_text())
            alone.stop()
            comes(lambda: health(page) == 503, said.read_text())
            alone.start()
            comes(lambda: health(page) == 200, said.read_text())
            assert process.poll() is None, said.read_text()
            assert "Traceback" not in said.read_text()


def health(page: str) -> int:
    """Return the status of a check without TLS's proof of the name."""
    try:
        context = ssl._create_unverified_context()
        return int(urllib.request.urlopen(page, timeout=30, context=context).status)
    except urllib.error.HTTPError as error:
        return error.code


def shown(browser: urllib.request.OpenerDirector, page: str) -> str:
    """Return the text of a page, or of an error."""
    try:
        return str(browser.open(page, timeout=30).read().decode())
    except urllib.error.HTTPError as error:
        return str(error.code)


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
