"""Clients of the API of a controller on two hosts, of which one is killed; python-libjuju is the real one."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE, Popen, run

import pytest

from pushjuju.services.entities.basis import logs
from pushjuju.store.db import Store
from pushjuju.store.tx import ModelTx
from tests.postgres.hosts import Cable, Host, done
from tests.waiting import comes, until
from tests.world.commandline import Home, ok
from tests.world.libjuju import Controller

pytestmark = [
    pytest.mark.machine,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore:.*pkg_resources.*:UserWarning", "ignore::ResourceWarning"
    ),
]
PASSWORD = "a-password-of-kim"


def listed(host: Host) -> str:
    return done(host("controller", "processes", "--format", "json"))


def registered(host: Host, folder: Path) -> Home:
    """Return the home of kim, who has registered."""
    added = host("add-user", "kim")
    (invitation,) = re.findall(r"pushjuju register (\S+)", done(added) + added.stderr)
    kim = Home(folder / "kim")
    kim.folder.mkdir()
    ok(kim("register", invitation, stdin=f"team\n{PASSWORD}\n{PASSWORD}\n"))
    return kim


@pytest.fixture
def serving(pair: tuple[Host, Host], cables: list[Cable]) -> Iterator[list[Popen[bytes]]]:
    """A `controller run` on each host, which serves the API at the host's address."""
    with ExitStack() as stack:
        processes = []
        for host, cable, name in zip(pair, cables, ("one", "two"), strict=True):
            host.inside = cable.inside(f"{name}.example")
            processes.append(stack.enter_context(host.at_work("--api", cable.there)))
        comes(lambda: listed(pair[0]).count(":17070") == 2)
        yield processes


async def test_libjuju_goes_on_at_the_other_host_when_the_first_is_killed(
    pair: tuple[Host, Host], cables: list[Cable], serving: list[Popen[bytes]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    one, two = (f"{cable.there}:17070" for cable in cables)
    done(pair[0]("api", "client-config", "../juju", "--listen", one))
    monkeypatch.setenv("JUJU_DATA", str(tmp_path / "juju"))
    connected = Controller()
    await connected.connect()
    assert await connected.api_endpoints == [one, two]
    serving[0].kill()
    serving[0].wait()
    await until(lambda: connected.is_connected() and connected.connection().endpoint == two)
    assert await connected.list_models() == ["controller"]
    await connected.disconnect()
    comes(lambda: one not in listed(pair[1]))
    await connected.connect()
    assert await connected.api_endpoints == [two]
    await connected.disconnect()


def test_commands_of_a_registered_user_go_on_at_the_other_host(
    pair: tuple[Host, Host], serving: list[Popen[bytes]], tmp_path: Path
) -> None:
    kim = registered(pair[0], tmp_path)
    serving[0].kill()
    serving[0].wait()
    ok(kim("models"))


@pytest.mark.parametrize("end", ["killed", "cut off"])
def test_who_follows_the_log_over_the_api_is_told_that_the_host_is_gone(
    pair: tuple[Host, Host], cables: list[Cable], serving: list[Popen[bytes]], postgres_url: str,
    tmp_path: Path, end: str,
) -> None:  # fmt: skip
    """Who has not got the log yet would get the log of the other host."""
    done(pair[0]("add-model", "shop"))
    logged(pair[0], postgres_url)
    kim = registered(pair[0], tmp_path)
    done(pair[0]("grant", "kim", "read", "shop"))
    ok(kim("switch", "admin/shop"))
    argv = [sys.executable, "-m", "pushjuju.cli", "debug-log", "--tail"]
    env = {**pair[0].environment, "HOME": str(kim.folder), "PUSHJUJU_DATA": str(kim.folder / "data")}
    with Popen(argv, env=env, stdout=PIPE, stderr=PIPE, text=True) as follows:
        try:
            assert follows.stdout is not None
            assert "a line" in follows.stdout.readline()
            assert established(cables[0]) == 2  # the connection of the model, and that of the log
            serving[0].kill() if end == "killed" else cables[0].cut()
            said = follows.communicate(timeout=90)[1]
        finally:
            follows.kill()
    assert (follows.returncode, "Traceback" in said) == (1, False)
    assert f"does not answer at {cables[0].there}:17070" in said


def logged(host: Host, url: str) -> None:
    """Add a line to the log of the model `shop`."""
    shown = json.loads(done(host("show-model", "shop", "--format", "json")))
    with closing(Store.open(url)) as store, store.write() as tx:
        now = datetime.now(UTC)
        of_model = ModelTx(tx, shown["shop"]["model-uuid"], now)
        logs.append(of_model, "controller-0", "WARNING", "pushjuju", "a line", now=now)


def established(cable: Cable) -> int:
    shown = run(["ss", "-Htn", "state", "established", "dst", cable.there], capture_output=True, check=True)
    return len(shown.stdout.splitlines())
