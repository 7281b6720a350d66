"""Programs that run for the controller: started in one place, with nothing of other people's."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

import pushjuju
from pushjuju.core import children

ROOT = Path(pushjuju.__file__).parent
OWNER = ROOT / "core" / "children.py"
MODULES = {"subprocess", "multiprocessing", "pty", "popen2", "commands"}
CALLS = {
    "system",
    "popen",
    "fork",
    "forkpty",
    "startfile",
    "create_subprocess_exec",
    "create_subprocess_shell",
}
STARTS = ("posix_spawn", "exec", "spawn")  # of `os`
ELSEWHERE = {  # in libraries that start programs for who asks them: module -> names
    "asyncio": {"subprocess", "create_subprocess_exec", "create_subprocess_shell"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "click": {"edit", "launch", "echo_via_pager"},
    "webbrowser": {"open", "get"},
    "ctypes": {"CDLL"},
    "pdb": {"set_trace"},
}
OF_LOOPS = {"subprocess_exec", "subprocess_shell"}  # methods of event loops


def starters(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [item.name for item in node.names if item.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").split(".")[0] in MODULES:
                found.append(node.module or "")
            if node.module == "os":
                found += [item.name for item in node.names if item.name.startswith((*STARTS, *CALLS))]
            found += [item.name for item in node.names if item.name in ELSEWHERE.get(node.module or "", ())]
        elif isinstance(node, ast.Attribute):
            of_os = isinstance(node.value, ast.Name) and node.value.id == "os"
            if node.attr in CALLS and (of_os or node.attr.startswith("create_")):
                found.append(node.attr)
            elif of_os and node.attr.startswith(STARTS):
                found.append(f"os.{node.attr}")
            elif node.attr in OF_LOOPS or node.attr in ELSEWHERE.get(ast.unparse(node.value), ()):
                found.append(ast.unparse(node))
    return found


def test_programs_are_started_in_one_place() -> None:
    machine = ROOT / "runner" / "remote"  # runs there, not here
    paths = [path for path in ROOT.rglob("*.py") if path != OWNER and not path.is_relative_to(machine)]
    assert {str(path.relative_to(ROOT)): found for path in paths if (found := starters(path))} == {}
    assert starters(OWNER)


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "from subprocess import run",
        "import multiprocessing.pool",
        "import os\nos.system('true')",
        "import os\nos.execvp('true', [])",
        "import os\nos.fork()",
        "from os import popen",
        "from os import posix_spawn",
        "import asyncio\nasyncio.create_subprocess_exec('true')",
        "import asyncio\nasyncio.create_subprocess_shell('true')",
        "from asyncio import create_subprocess_exec",
        "from asyncio import subprocess",
        "import asyncio\nasyncio.subprocess.create_subprocess_exec('true')",
        "loop.subprocess_exec(object, 'true')",
        "from concurrent.futures import ProcessPoolExecutor",
        "import click\nclick.edit('text')",
        "from click import echo_via_pager",
        "import webbrowser\nwebbrowser.open('x')",
    ],
)
def test_no_way_to_start_a_program_is_missed(text: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text)
    assert starters(tmp_path / "module.py")


def test_an_environment_has_nothing_that_loads_code_or_lends_keys() -> None:
    given = {
        "HOME": "/home/me", "LC_ALL": "C", "HTTPS_PROXY": "http://proxy", "PATH": ".:/usr/bin::bin:/bin",
        "PYTHONPATH": "/tmp", "PYTHONSTARTUP": "/tmp/x", "LD_PRELOAD": "/tmp/x.so", "GIT_DIR": "/tmp",
        "SSH_AUTH_SOCK": "/run/agent", "AWS_SECRET_ACCESS_KEY": "secret", "BASH_ENV": "/tmp/x",
    }  # fmt: skip
    kept = {"HOME": "/home/me", "LC_ALL": "C", "HTTPS_PROXY": "http://proxy", "PATH": "/usr/bin:/bin"}
    assert children.environment(given) == kept
    assert children.environment(given, keep=("GIT_",)) == {**kept, "GIT_DIR": "/tmp"}
    assert children.environment({})["PATH"] == children.SYSTEM_PATH


def test_a_program_runs_where_nobody_puts_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f":.:{os.environ['PATH']}")
    (tmp_path / "git").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "git").chmod(0o755)
    assert children.run(["git", "--version"]).stdout.startswith("git version")
    ended = children.run([sys.executable, "-c", "import os, sys; print(os.getcwd(), sys.stdin.read())"])
    assert ended.stdout == "/ \n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a program that has started")
def test_a_program_gets_no_more_memory_than_its_limit() -> None:
    for count, code in ((1 << 20, 0), (1 << 30, 1)):
        argv = [sys.executable, "-I", "-c", f"input(); len(bytes({count}))"]
        ended = children.run_within(128 << 20, argv, environ=children.SYSTEM, stdin="go\n", timeout=60)
        assert (ended.returncode, "MemoryError" in ended.stderr) == (code, bool(code))


def test_a_program_with_limits_is_killed_after_its_time() -> None:
    argv = [sys.executable, "-I", "-c", "import time; time.sleep(600)"]
    with pytest.raises(children.TimedOut):
        children.run_within(1 << 30, argv, environ=children.SYSTEM, timeout=0.2)
