"""The command dashboard, as a process of its own."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from pushjuju.services.entities.basis import wake
from pushjuju.services.requests.user import users
from pushjuju.store.db import Store
from tests.terminal import on_terminal
from tests.unit.cli.commands.program.test_api import started
from tests.waiting import comes, remains
from tests.world.charms import Charms
from tests.world.controller import TestController


@pytest.fixture
def folder(tmp_path: Path, empty_controller: Path, packs: Charms) -> Path:
    """A data directory with a controller."""
    return TestController.copy(empty_controller, tmp_path, packs).keep()


def logs_in(link: str) -> bool:
    try:
        with urlopen(link) as page:
            return b"You are logged in" in page.read()
    except HTTPError as error:
        error.close()
        return False


def test_the_dashboard_shows_a_link_that_logs_in_until_a_signal_comes(folder: Path) -> None:
    argv = [sys.executable, "-m", "pushjuju.cli", "dashboard", "--no-browser", "--port", "0"]
    with on_terminal(argv, {**os.environ, "PUSHJUJU_DATA": str(folder)}) as (process, shown):
        link = shown.readline().strip()
        assert logs_in(link)
        assert not logs_in(link)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0


def test_the_link_is_shown_on_a_terminal_alone(folder: Path) -> None:
    """A pipe or file gets the address, and a command line that prints a link for this dashboard."""
    with started(folder, "dashboard", "--no-browser", "--port", "0", "-c", "home") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        told = next(line for line in process.stderr if "Only a terminal" in line)
        found = re.search(r"`pushjuju (.*)`", told)
        assert found is not None
        assert ("token" in told, urlsplit(address).path) == (False, "/ui/")
        with started(folder, *shlex.split(found[1])) as asked:
            link, said = asked.communicate(timeout=60)
        assert link.startswith(f"{address}enter?token=")
        assert "once, within 10 minutes, at that dashboard" in said
        assert logs_in(link.strip())
        assert not logs_in(link.strip())


def test_without_a_browser_and_a_terminal_no_link_is_shown(folder: Path, tmp_path: Path) -> None:
    with started(folder, "dashboard", "--port", "0", PATH=str(tmp_path)) as process:
        assert process.stderr is not None
        told = next(line for line in process.stderr if "No browser" in line)
        process.send_signal(signal.SIGTERM)
        text, more = process.communicate(timeout=30)
    assert "token=" not in told + text + more


@pytest.mark.parametrize(
    ("user", "why"), [("nobody", 'user "nobody" not found'), ("kim", 'user "kim" is disabled')]
)
def test_the_dashboard_opens_for_no_user_who_may_not_log_in(
    tmp_path: Path, empty_controller: Path, packs: Charms, user: str, why: str
) -> None:
    world = TestController.copy(empty_controller, tmp_path, packs)
    users.add(world.ctx, "kim", "")
    users.set_enabled(world.ctx, "kim", enabled=False)
    with started(world.keep(), "dashboard", "--no-browser", "--port", "0", "--as", user) as process:
        _, said = process.communicate(timeout=60)
    assert (process.returncode, why in said) == (1, True), said


def test_the_dashboard_listens_where_it_is_told_but_only_on_this_computer(folder: Path) -> None:
    with started(folder, "dashboard", "--no-browser", "--listen", "127.0.0.5:0") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.5:")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    with started(folder, "dashboard", "--no-browser", "--listen", "0.0.0.0:80") as process:
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "pushjuju api --listen 0.0.0.0:80" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--link", "admin"), "was never served, so no link leads there"),
        (("--link", "admin", "--read-only"), "cannot mix --link and --read-only"),
        (("--link", ""), '--link needs the name of a user, not ""'),
        (("--link", "admin", "--listen", "127.0.0.5"), 'has a port, HOST:PORT: "127.0.0.5" has none'),
        (("--link", "admin", "--listen", "203.0.113.5:80"), "203.0.113.5 is not a loopback address"),
        (("--link", "nobody", "--listen", "127.0.0.5:80"), 'user "nobody" not found'),
    ],
)
def test_a_link_for_a_user_needs_a_server_and_no_other_flag(
    folder: Path, words: tuple[str, ...], said: str
) -> None:
    with started(folder, "dashboard", *words) as process:
        _, told = process.communicate(timeout=60)
    assert process.returncode in (1, 2)
    assert said in told


@pytest.mark.parametrize("flag", ["", "--no-drive", "--read-only"])
def test_what_becomes_due_is_done_while_the_dashboard_is_open(
    tmp_path: Path, packs: Charms, flag: str
) -> None:
    world = TestController.build(tmp_path, packs)
    world.write(lambda tx: wake.machine(tx, "7", "a test"))
    place, folder = world.ctx.store.place, world.keep()

    def is_due() -> bool:
        with closing(Store.open(place)) as store, store.read() as tx:
            rows = tx._connection.execute("SELECT due FROM work WHERE key LIKE '%/machine/7'").fetchall()
        return any(row["due"] is not None for row in rows)

    with started(folder, "dashboard", "--no-browser", "--port", "0", *([flag] if flag else [])) as process:
        assert process.stdout is not None
        process.stdout.readline()
        if flag:
            remains(is_due, 2.0)
        else:
            comes(lambda: not is_due())


def test_the_browser_gets_a_private_page_and_no_variable_that_is_not_its_own(
    folder: Path, tmp_path: Path
) -> None:
    told, opener = tmp_path / "told", tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    os.mkfifo(told)
    opener.write_text(
        f'#!/bin/sh\n{{ pwd; env; stat -c %a "${{1#file://}}"; cat "${{1#file://}}"; }} > {told}\n'
    )
    opener.chmod(0o755)
    path = f"{opener.parent}:{os.environ['PATH']}"
    with started(folder, "dashboard", "--port", "0", PATH=path, DISPLAY=":7", SECRET="s") as process:
        found = told.read_text().splitlines()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert (found[0], "DISPLAY=:7" in found, "SECRET=s" in found, "600" in found) == ("/", True, False, True)
    assert "token=" in found[-1]
