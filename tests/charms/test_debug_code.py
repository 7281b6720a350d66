"""debug-code with a charm of ops on a real machine: its debugger opens where somebody looks on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.charms.client import PUSHJUJU, Client
from tests.charms_tools.packing import add_packages
from tests.terminal import Terminal, terminal

if not shutil.which("tmux"):
    pytest.skip("tmux is not installed", allow_module_level=True)

pytestmark = pytest.mark.machine
APPS = Path(__file__).with_name("apps")
WINDOW = "stopper/0:config-changed"


@pytest.fixture(scope="module")
def stopper(shared_client: Client, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """A model with one unit of a charm of ops, on a machine that has no tmux."""
    tree = tmp_path_factory.mktemp("charm") / "stopper"
    shutil.copytree(APPS / "stopper", tree)
    add_packages(tree)
    client = shared_client
    client.run("bootstrap", "local", "lab", "--add-model", "code")
    client.run("deploy", tree, limit=400)
    assert client.units("stopper")["stopper/0"]["workload-status"]["message"] == "first"
    return client


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Terminal]:
    with terminal(tmp_path) as found:
        yield found


def tmux(client: Client, words: str) -> str:
    """Talk to the session's tmux on the machine."""
    socket = "$(ls /tmp/tmux-0 | grep pushjuju)"
    return client.try_run("ssh", "stopper/0", f"sudo sh -c 'tmux -L {socket} {words}'").stdout


def shows(client: Client, text: str) -> None:
    """Wait until the hook's window shows a text."""
    client.until(lambda: text in tmux(client, f"capture-pane -p -t {WINDOW}"), 60)


def types(client: Client, text: str) -> None:
    """Type a line into the hook's window."""
    tmux(client, f'send-keys -t {WINDOW} "{text}" Enter')


def message(client: Client) -> str:
    """Return what the unit says."""
    return str(client.units("stopper")["stopper/0"]["workload-status"].get("message", ""))


@contextmanager
def seen(screen: Terminal) -> Iterator[None]:
    """Hang up when a test fails: what stands in the debugger then ends, and so does who waits for it."""
    try:
        yield
    except BaseException:
        screen.hang_up()
        raise


def look_on(client: Client, screen: Terminal, *words: str) -> None:
    """Open the session, as a person does: without flags all hooks stop at all places."""
    argv = [str(PUSHJUJU), "debug-code", *words, "stopper/0"]
    screen.start(argv, client.environ, client.work)
    screen.shows("as they come: all of them", 240)  # tmux is installed first


@pytest.mark.timeout(600)
def test_the_debugger_opens_at_every_hook_and_goes_on(stopper: Client, screen: Terminal) -> None:
    if stopper.try_run("ssh", "stopper/0", "sudo apt-get update -q", limit=180).rc:
        pytest.skip("the machine has no packages to install")
    assert "tmux" not in stopper.on("stopper/0", "ls /usr/bin").split()
    look_on(stopper, screen, "--at=all")
    with stopper.start("config", "stopper", "title=second") as change, seen(screen):
        shows(stopper, "(Pdb)")
        assert message(stopper) == "first"
        types(stopper, "p self.config[chr(116)+chr(105)+chr(116)+chr(108)+chr(101)]")
        shows(stopper, "'second'")
        types(stopper, "c")  # from the hook's begin to the breakpoint in it
        shows(stopper, "-> self.unit.status")
        types(stopper, "c")
        _, said = change.communicate(timeout=120)
    assert change.returncode == 0, said
    assert message(stopper) == "second"
    screen.keys("C-b", "d")
    assert screen.end(60) == 0


@pytest.mark.timeout(400)
def test_a_named_breakpoint_alone(stopper: Client, screen: Terminal) -> None:
    """What is not named runs through; leaving the debugger with `q` fails the hook."""
    if not stopper.try_run("ssh", "stopper/0", "command -v tmux").stdout.strip():
        pytest.skip("tmux could not be installed")
    look_on(stopper, screen, "--at", "title")
    with stopper.start("config", "stopper", "title=third") as change, seen(screen):
        shows(stopper, "-> self.unit.status")
        types(stopper, "p title")
        shows(stopper, "'third'")
        types(stopper, "q")
        _, said = change.communicate(timeout=120)
    assert change.returncode == 1, said
    assert 'hook failed: "config-changed"' in said
    screen.keys("C-b", "d")
    assert screen.end(60) == 0
    stopper.run("resolved", "stopper/0")  # by itself: nobody looks on
    assert message(stopper) == "third"
