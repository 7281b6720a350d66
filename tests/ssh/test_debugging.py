"""debug-hooks and debug-code on the machine's side: a real tmux, real hooks, and terminals that die."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pushjuju.cli.commands.ssh import debug_start
from tests.terminal import Terminal, terminal

from .conftest import Machine, hook_op, lines, logs, until

if not shutil.which("tmux"):
    pytest.skip("tmux is not installed", allow_module_level=True)

pytestmark = pytest.mark.sshd


class Debugger:
    """Somebody with a debug session on the machine."""

    def __init__(self, machine: Machine, own: Terminal) -> None:
        self.machine, self.own = machine, own
        self.folder = machine.base / "debug" / "unit-web-0"
        self.socket = f"pushjuju-{zlib.crc32(str(self.folder).encode()):08x}"

    def open(self, *names: str, kind: str = "hooks", at: str = "", path: str = "") -> None:
        """Open the session in the terminal."""
        script = debug_start.debug_script(
            "web/0", names, kind=kind, at=at, machine="0", base=str(self.machine.base)
        )
        env = {"PATH": path or os.environ["PATH"], "HOME": str(self.machine.root)}
        self.own.start(["bash", "-c", script], env, self.machine.root)

    def tmux(self, *words: str) -> str:
        """Talk to the session's tmux server."""
        done = subprocess.run(
            ["tmux", "-L", self.socket, *words], capture_output=True, text=True, check=False
        )
        return done.stdout

    def windows(self) -> list[str]:
        """Return the names of the open windows."""
        return self.tmux("list-windows", "-F", "#{window_name}").split()

    def waits(self, window: str) -> bool:
        """Tell whether the shell of a window waits for somebody to type."""
        return window in self.windows() and f"web/0:{window} %" in self.screen(window)

    def type(self, window: str, text: str) -> None:
        """Type a line into a window."""
        self.tmux("send-keys", "-t", f"web/0:{window}", text, "Enter")

    def screen(self, window: str) -> str:
        """Return what a window shows."""
        return self.tmux("capture-pane", "-p", "-t", f"web/0:{window}")


@pytest.fixture
def debugger(machine: Machine, tmp_path: Path) -> Iterator[Debugger]:
    with terminal(tmp_path) as own:
        found = Debugger(machine, own)
        yield found
        found.tmux("kill-server")


@asynccontextmanager
async def running(machine: Machine, op: dict[str, Any]) -> AsyncIterator[asyncio.Task[dict[str, Any]]]:
    """Let an operation run beside the test."""
    async with machine.session() as session:
        task = asyncio.create_task(session.run(op))
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


SCRIPT = "echo by itself; state-set ran=yes; echo run >>runs"


async def test_a_hook_waits_for_a_person_and_has_all_its_tools(machine: Machine, debugger: Debugger) -> None:
    charm = machine.write_charm(config_changed=SCRIPT)
    debugger.open("config-changed")
    debugger.own.shows("config-changed")
    async with running(machine, hook_op("config-changed")) as task:
        assert await until(lambda: debugger.waits("config-changed"), 30)
        debugger.type("config-changed", "state-set title=$(config-get title) && ./hooks/config-changed")
        assert await until((charm / "runs").exists, 30)
        assert "web/0:config-changed %" in debugger.screen("config-changed")
        assert not task.done()
        debugger.type("config-changed", "exit")
        result = await asyncio.wait_for(task, 60)
    assert result["outcome"] == "ok", result
    assert result["writes"]["state"] == {"title": "blå", "ran": "yes"}
    assert 'hook "config-changed" waits in a debug session' in logs(result)
    assert debugger.windows() == ["waiting"]
    assert sorted(path.name for path in debugger.folder.iterdir()) == ["init.sh", "lock", "wanted"]


async def test_leaving_a_hook_with_an_error_fails_it(machine: Machine, debugger: Debugger) -> None:
    machine.write_charm(start=SCRIPT)
    debugger.open()
    debugger.own.shows("all of them")
    async with running(machine, hook_op("start")) as task:
        assert await until(lambda: debugger.waits("start"), 30)
        debugger.type("start", "state-set a=1; exit 3")
        result = await asyncio.wait_for(task, 60)
    assert (result["outcome"], result["message"]) == ("failed", "exit status 3")
    assert "state" not in result["writes"]


async def test_what_is_not_asked_for_runs_by_itself(machine: Machine, debugger: Debugger) -> None:
    machine.write_charm(start=SCRIPT)
    debugger.open("config-changed")
    debugger.own.shows("config-changed")
    async with machine.session() as session:
        result = await session.run(hook_op("start"))
    assert (result["outcome"], lines(result)) == ("ok", ["by itself"])


async def test_debug_code_runs_the_hook_where_somebody_looks_on(machine: Machine, debugger: Debugger) -> None:
    text = 'state-set at=$JUJU_DEBUG_AT; read -p "name? " name; state-set name=$name; [ "$name" = Kim ]'
    machine.write_charm(start=f"#!/bin/bash\n{text}\n")
    debugger.open("start", kind="code", at="here,there")
    debugger.own.shows("start")
    async with running(machine, hook_op("start")) as task:
        assert await until(lambda: "name?" in debugger.screen("start"), 30)
        debugger.type("start", "Kim")
        result = await asyncio.wait_for(task, 60)
    assert result["outcome"] == "ok", result
    assert result["writes"]["state"] == {"at": "here,there", "name": "Kim"}


@pytest.mark.parametrize("how", ["hang up", "kill", "detach"])
async def test_a_hook_whose_terminal_is_gone_is_a_killed_one(
    machine: Machine, debugger: Debugger, how: str
) -> None:
    charm = machine.write_charm(start=SCRIPT)
    debugger.open("start")
    debugger.own.shows("waiting")
    async with running(machine, hook_op("start")) as task:
        assert await until(lambda: debugger.waits("start"), 30)
        deaf = "" if how == "hang up" else "trap '' HUP;"
        debugger.type("start", f"state-set a=1; {deaf} echo in the middle")
        assert await until(lambda: "in the middle" in debugger.screen("start"), 30)
        if how == "detach":
            debugger.own.keys("C-b", "d")
        elif how == "kill":
            debugger.own.kill()
        else:
            debugger.own.hang_up()
        result = await asyncio.wait_for(task, 60)
    assert result["outcome"] == "terminated", result
    assert "state" not in result["writes"]
    assert await until(lambda: not debugger.windows(), 5)
    assert await until(lambda: sorted(path.name for path in debugger.folder.iterdir()) == ["lock"], 5)
    async with machine.session() as session:  # now it runs by itself
        result = await session.run(hook_op("start", id="again"))
    assert (result["outcome"], (charm / "runs").read_text()) == ("ok", "run\n")


async def test_a_window_that_is_killed_alone_fails_its_hook(machine: Machine, debugger: Debugger) -> None:
    machine.write_charm(start=SCRIPT)
    debugger.open()
    debugger.own.shows("waiting")
    async with running(machine, hook_op("start")) as task:
        assert await until(lambda: debugger.waits("start"), 30)
        debugger.tmux("kill-window", "-t", "web/0:start")
        result = await asyncio.wait_for(task, 60)
    assert result["outcome"] == "failed", result
    assert debugger.windows() == ["waiting"]


async def test_a_hook_that_is_not_wanted_any_more_leaves_nothing(
    machine: Machine, debugger: Debugger
) -> None:
    machine.write_charm(start=SCRIPT)
    debugger.open()
    debugger.own.shows("waiting")
    async with machine.session() as session:
        op = hook_op("start")
        task = asyncio.create_task(session.run(op))
        assert await until(lambda: debugger.waits("start"), 30)
        await session.cancel(op["id"])
        result = await asyncio.wait_for(task, 60)
    assert result["outcome"] == "interrupted", result
    assert await until(lambda: debugger.windows() == ["waiting"], 5)
    assert await until(lambda: not list(debugger.folder.glob("run-*")), 5)


async def test_an_action_in_the_hands_of_a_person(machine: Machine, debugger: Debugger) -> None:
    charm = machine.write_charm(dispatch="echo never")
    (charm / "actions.yaml").write_text("greet: {}\n")
    debugger.open("greet")
    debugger.own.shows("greet")
    op = hook_op("greet", kind="action", action="greet")
    del op["hook"]
    async with running(machine, op) as task:
        assert await until(lambda: debugger.waits("greet"), 30)
        debugger.type("greet", "exit 0")
        result = await asyncio.wait_for(task, 60)
    assert (result["outcome"], result["stdout"]) == ("ok", "")


def test_a_second_session_is_refused(machine: Machine, debugger: Debugger, tmp_path: Path) -> None:
    machine.base.mkdir(parents=True)
    debugger.open()
    debugger.own.shows("waiting")
    with terminal(tmp_path) as other:
        Debugger(machine, other).open()
        assert other.end(20) == 1
        assert "unit is already being debugged" in other.text()
    os.kill(int(debugger.tmux("display-message", "-p", "#{pid}")), signal.SIGTERM)


def without_tmux(folder: Path, **managers: str) -> str:
    """Return a PATH without tmux: with scripts in the place of package managers."""
    folder.mkdir()
    tools = ("bash", "mkdir", "sh", "tput", "flock", "mv", "cat", "rm", "setsid", "env", "ln")
    for name in tools:
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, script in managers.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("managers", "text"),
    [
        ({}, "no package manager that is known here"),
        ({"apt_get": "echo Reading...; echo E: no such package >&2; exit 100"}, "E: no such package"),
        ({"dnf": "echo no network; exit 1", "yum": "echo never asked"}, "no network"),
    ],
    ids=["none", "apt", "dnf"],
)
def test_a_machine_that_cannot_get_tmux(
    debugger: Debugger, tmp_path: Path, managers: dict[str, str], text: str
) -> None:
    debugger.open(path=without_tmux(tmp_path / "bin", **managers))
    assert debugger.own.end(20) == 1
    shown = " ".join(debugger.own.text().split())
    assert f"ERROR tmux is not installed on machine 0, and cannot be: {text} pushjuju ssh 0" in shown
    assert not debugger.folder.exists()


def test_a_machine_without_tmux_gets_it(debugger: Debugger, tmp_path: Path) -> None:
    """The list of packages may be old: it is read anew when the first try fails."""
    folder = tmp_path / "bin"
    real = shutil.which("tmux")
    script = f"""echo "$@" >>{tmp_path}/asked
    case "$*" in
    *update*) echo >{tmp_path}/new;;
    *) [ -e {tmp_path}/new ] && ln -s {real} {folder}/tmux;;
    esac"""
    debugger.open("start", path=without_tmux(folder, apt_get=script))
    debugger.own.shows("as they come: start")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.rpartition("Timeout=120 ")[2].split()[0] for line in asked] == [
        "install",
        "update",
        "install",
    ]


def test_the_session_is_roots_alone(machine: Machine, debugger: Debugger) -> None:
    debugger.open("start")
    debugger.own.shows("start")
    for path in (debugger.folder, debugger.folder.parent, machine.base):
        assert path.stat().st_mode & 0o077 == 0, path
    for path in debugger.folder.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


async def test_odd_environments_reach_the_window_as_they_are(machine: Machine, debugger: Debugger) -> None:
    machine.write_charm(start=SCRIPT)
    odd = "a'b\"c$(touch x)\nd`e` é"
    debugger.open("start", kind="code")
    (machine.charm() / "hooks" / "start").write_text('#!/bin/sh\nstate-set odd="$ODD"\n')
    debugger.own.shows("start")
    op = hook_op("start")
    op["env"] = {**op.get("env", {}), "ODD": odd}
    async with running(machine, op) as task:
        result = await asyncio.wait_for(task, 60)
    assert result["writes"]["state"] == {"odd": odd}, result
    assert not (machine.charm() / "x").exists()
