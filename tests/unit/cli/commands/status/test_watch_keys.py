"""The keys of `status --watch`: a row is chosen, pages about the row open, and the terminal comes back."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pushjuju.cli.commands.status.watch_screen import View, foot_text, plain, pressed, rows, visible
from pushjuju.cli.terminal.keys import split
from tests.world.charms import Charms
from tests.world.controller import TestController

TABLE = """\
Model  Controller  Cloud/Region
shop   lab         local/default

App  Version  Status  Scale
web           active      2
db            active      1

Unit    Workload
web/0*  active
  log/0 active
db/0    active

Machine  State
0        started
0/lxd/1  started
""".splitlines()
NAMES = ["web", "db", "web/0", "log/0", "db/0", "0", "0/lxd/1"]


def test_applications_units_and_machines_are_rows() -> None:
    found = rows([f"\x1b[32m{line}\x1b[0m" if line else line for line in TABLE])
    assert list(found) == NAMES
    assert TABLE[found["db/0"]].startswith("db/0")


def typed(*keys: str, view: View | None = None, length: int = 50) -> View:
    view = view or View()
    for key in keys:
        view = pressed(view, key, NAMES, length)
    return view


def test_arrows_choose_rows_and_stop_at_the_ends() -> None:
    assert typed("down").chosen == "web"
    assert typed("up").chosen == "0/lxd/1"
    assert typed("down", "down", "up", "up").chosen == "web"
    assert typed("down", "end", "down").chosen == "0/lxd/1"
    assert typed("end", "home").chosen == "web"
    assert typed("down", "escape").chosen == ""


def test_pages_open_for_a_chosen_row_alone() -> None:
    assert typed("enter").page == ""
    assert typed("down", "enter") == View(chosen="web", page="explain")
    assert typed("down", "l", "h").page == "hooks"
    assert typed("down", "l", "q") == View(chosen="web")
    assert typed("down", "l", "q", "q").ended


def test_a_page_scrolls_within_its_lines() -> None:
    page = View(chosen="web", page="log")
    assert typed("down", "page-down", view=page).top == 11
    assert typed("end", view=page, length=20).top == 19
    assert typed("up", view=page).top == 0
    assert typed("down", view=page, length=0).top == 0


def test_a_row_that_has_gone_is_not_chosen_any_more() -> None:
    gone = View(chosen="old/7")
    assert visible(gone, TABLE, 40, 30) == TABLE
    assert pressed(gone, "down", NAMES, 0).chosen == "web"
    assert pressed(View(), "down", [], 0) == View()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("height", [7, 10, 30])
def test_the_chosen_row_is_on_the_screen_and_marked(name: str, height: int) -> None:
    shown = visible(View(chosen=name), TABLE, 40, height)[: height - 1]
    (marked,) = [line for line in shown if line.startswith("\x1b[7m")]
    assert plain(marked).split()[0].rstrip("*") == name


def test_long_lines_of_a_page_go_on_in_the_next_line() -> None:
    _title, *shown = visible(View(chosen="web", page="log"), ["x" * 90, "\x1b[32mshort\x1b[0m"], 40, 20)
    assert shown == ["x" * 40, "x" * 40, "x" * 10, "\x1b[32mshort\x1b[0m"]


def test_the_lower_line_names_the_keys() -> None:
    assert "q end" in foot_text(View())
    assert "q back" in foot_text(View(chosen="web", page="log"))


def test_sequences_of_the_terminal_are_keys() -> None:
    assert split("\x1b[A\x1bOBq") == ["up", "down", "q"]
    assert split("\x1b[5~\x1b[6~\r\n") == ["page-up", "page-down", "enter", "enter"]
    assert split("\x1b") == ["escape"]
    assert split("\x1b[1;5C\x1b[200~l") == ["l"]
    assert split("\x00\x07") == []


# --- in a real terminal -----------------------------------------------------------------------------------

WITHIN_S = 30.0


class Pty:
    """A program in a pseudo-terminal of 100 x 30."""

    def __init__(self, words: list[str], env: dict[str, str], cwd: Path, stdin: int | None = None) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.seen = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _IN_FRONT, *words],
            stdin=self.slave if stdin is None else stdin, stdout=self.slave, stderr=self.slave,
            env=env, cwd=cwd, start_new_session=True,
        )  # fmt: skip

    def type(self, text: str) -> None:
        self.seen = ""
        os.write(self.master, text.encode())

    def shows(self, part: str) -> None:
        """Read until a text has come since the last key."""
        self._read(lambda: part in self.seen, f"no {part!r}")

    def ends(self) -> int:
        """Read until the program has ended, and return its exit status."""
        self._read(lambda: self.process.poll() is not None, "no end")
        return self.process.wait()

    def _read(self, done: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + WITHIN_S
        while not done():
            assert time.monotonic() < end, f"{what} in {self.seen!r}"
            if select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


_IN_FRONT = """
import fcntl, sys, termios
fcntl.ioctl(1, termios.TIOCSCTTY, 0)
from pushjuju.cli.entry import main
sys.argv[0] = "pushjuju"
sys.exit(main())
"""


@contextmanager
def opened(built: Path, folder: Path, stdin: int | None = None) -> Iterator[Pty]:
    """Start `status --watch` in a terminal; the model has the unit web/0."""
    shutil.copytree(built, folder / "data")
    env = {**os.environ, "PUSHJUJU_DATA": str(folder / "data"), "HOME": str(folder), "TERM": "xterm"}
    begun = Pty(["status", "--watch", "300ms"], env, folder, stdin)
    yield begun
    begun.close()


@pytest.fixture
def screen(built: Path, tmp_path: Path) -> Iterator[Pty]:
    with opened(built, tmp_path) as begun:
        yield begun


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, packs: Charms) -> Path:
    world = TestController.build(tmp_path_factory.mktemp("lab"), packs)
    world.deploy("web", packed=packs.make("web", config=None, peers=None))
    return world.keep()


def test_keys_open_pages_and_q_gives_the_terminal_back(screen: Pty) -> None:
    screen.shows("arrows choose")
    screen.shows("web/0")
    screen.type("\x1b[B")
    screen.shows("\x1b[7mweb ")
    screen.type("\x1b[B")
    screen.shows("\x1b[7mweb/0")
    for key, page in (("\r", "explain web/0"), ("l", "log web/0"), ("h", "hooks web/0")):
        screen.type(key)
        screen.shows(f" {page} ")
        screen.shows("q back")
    screen.type("q")
    screen.shows("\x1b[7mweb/0")
    screen.type("q")
    assert screen.ends() == 0
    screen.shows("\x1b[?1049l")
    assert termios.tcgetattr(screen.slave) == screen.before


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_gives_the_terminal_back(screen: Pty, number: signal.Signals, status: int) -> None:
    screen.shows("arrows choose")
    screen.process.send_signal(number)
    assert screen.ends() == status
    screen.shows("\x1b[?1049l")
    assert termios.tcgetattr(screen.slave) == screen.before


def test_a_model_that_disappears_gives_the_terminal_back(screen: Pty, tmp_path: Path) -> None:
    screen.shows("arrows choose")
    (tmp_path / "data").rename(tmp_path / "aside")
    assert screen.ends() == 1
    screen.shows("ERROR")
    assert termios.tcgetattr(screen.slave) == screen.before


def test_without_a_terminal_at_stdin_there_are_no_keys(built: Path, tmp_path: Path) -> None:
    with opened(built, tmp_path, stdin=subprocess.DEVNULL) as screen:
        screen.shows("web/0")
        assert "arrows choose" not in screen.seen
        screen.process.send_signal(signal.SIGINT)
        assert screen.ends() == 0
