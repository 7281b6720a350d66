"""Start-up: what `--help` and `status` must not import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "asyncssh", "libcloud", "rich", "jsonschema", "cryptography", "tomlkit", "yaml", "pluggy",
    "importlib.metadata", "asyncio", "pylxd", "jinja2",
)  # fmt: skip

_PROBE = """
import io, sys
from pushjuju.cli.lazy_imports import import_lazily
main = import_lazily("pushjuju.cli.app.main")
out = io.StringIO()
env = {"PUSHJUJU_DATA": "."}
status = main.run(sys.argv[1:], stdin=io.StringIO(), stdout=out, stderr=sys.stderr, env=env)
print(status, *[name for name in %r if name in sys.modules])
"""


@pytest.mark.parametrize("words", [["--help"], ["version"], ["status", "--format", "json"]])
def test_nothing_heavy_is_imported(words: list[str], tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROBE % (HEAVY,), *words],
        capture_output=True, text=True, check=True, cwd=str(tmp_path),
    )  # fmt: skip
    _status, *loaded = done.stdout.split()
    assert loaded == []


_FILE = """
import io, sys
from pushjuju.cli.app import main
env = {"PUSHJUJU_DATA": "."}
for words in ("bootstrap manual home", "add-model shop", "status", "controller run --until-idle"):
    told = io.StringIO()
    status = main.run(words.split(), stdin=io.StringIO(), stdout=told, stderr=told, env=env)
    assert not status, told.getvalue()
print(*[name for name in sys.modules if "psycopg" in name or "postgres." in name])
"""


def test_a_store_in_a_file_imports_nothing_of_postgresql(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _FILE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == []


_HELP = """
import io, sys, types
from pushjuju.cli.lazy_imports import import_lazily
from pushjuju.cli.commands import registry
main = import_lazily("pushjuju.cli.app.main")
heavy = %r

def read():
    files = ((name, vars(module)) for name, module in sys.modules.items() if type(module) is types.ModuleType)
    return {name for name, content in files if "__path__" not in content}

def run(*words):
    told = io.StringIO()
    return main.run(list(words), stdin=io.StringIO(), stdout=told, stderr=told, env={"PUSHJUJU_DATA": "."})

run("help", "topics")
for words in [*([word, "--help"] for word in sorted(registry.words())), ["help", "commands"]]:
    before = read()
    status = run(*words)
    found = [name for name in sorted(read() - before) if name.startswith(heavy)]
    if status or found:
        print(*words, status, *found)
"""
_WORK = (
    "asyncio", "asyncssh", "sqlite3", "pushjuju.charms.", "pushjuju.runner.", "pushjuju.store.",
    "pushjuju.uniter.", "pushjuju.workers.",
)  # fmt: skip


def test_no_help_reads_what_works_on_a_model(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HELP % (_WORK,)],
        capture_output=True,
        text=True,
        check=True,
        cwd=str(tmp_path),
    )
    assert done.stdout == ""


_CLOUDLESS = [["clouds", "--all"], ["credentials"], ["regions", "aws"], ["show-cloud", "aws"], ["plugins"]]


@pytest.mark.parametrize("words", _CLOUDLESS)
def test_what_asks_no_cloud_loads_no_clouds_library(words: list[str], tmp_path: object) -> None:
    """Plugins are loaded for these, the libraries behind them are not."""
    libraries = ("libcloud", "pylxd", "jinja2", "asyncssh")
    done = subprocess.run(
        [sys.executable, "-c", _PROBE % (libraries,), *words],
        capture_output=True, text=True, check=True, cwd=str(tmp_path),
    )  # fmt: skip
    status, *loaded = done.stdout.split()[-1 - len(libraries) :][-1:]
    assert status == "0", done
    assert loaded == []


def test_bootstrap_reads_no_interface_of_plugins_that_it_does_not_call(tmp_path: Path) -> None:
    read = ("firewalls", "hook_tools", "providers", "sources", "storage_types")
    probe = _PROBE.replace('"PUSHJUJU_DATA": "."', f'"PUSHJUJU_DATA": {str(tmp_path)!r}')
    names = tuple(f"pushjuju.plugins.api.{name}" for name in read)
    done = subprocess.run(
        [sys.executable, "-c", probe % (names,), "bootstrap", "manual", "lab"],
        capture_output=True, text=True, check=True, cwd=str(tmp_path),
    )  # fmt: skip
    assert done.stdout.split()[-1] == "0"


def test_the_import_of_the_ssh_library_starts_no_program(tmp_path: Path) -> None:
    """A tree in which the command is typed could have a `gcc` of its own, where the PATH has `.`."""
    code = """
import sys
sys.addaudithook(lambda event, args: event == "subprocess.Popen" and print(args[0]))
from pushjuju.runner.ssh import login
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == ""


_EVERY = """
import io, sys
from pushjuju.cli.app import main
from pushjuju.cli.commands import registry
env = {"PUSHJUJU_DATA": sys.argv[1], "HOME": sys.argv[1], "PATH": "/usr/bin:/bin"}

def run(*words):
    told = io.StringIO()
    main.run(list(words), stdin=io.StringIO(), stdout=told, stderr=told, env=env)
    return told.getvalue()

run("bootstrap", "manual", "lab", "--add-model", "shop")
for name in sorted(registry.words()):
    if name in ("api", "controller", "dashboard", "watch"):  # they stay
        continue
    told = run(name)
    if "internal error" in told:
        print(name, told)
    for library in ("libcloud", "pylxd"):
        if library in sys.modules:
            print(name, library)
            del sys.modules[library]
"""


def test_no_command_loads_a_clouds_library_without_a_cloud(tmp_path: object) -> None:
    """Every command, without arguments, in a model of a cloud that is none."""
    done = subprocess.run(
        [sys.executable, "-c", _EVERY, str(tmp_path)],
        capture_output=True, text=True, check=True, cwd=str(tmp_path), timeout=300,
    )  # fmt: skip
    assert done.stdout == ""
