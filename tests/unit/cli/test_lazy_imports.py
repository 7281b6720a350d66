"""Lazy imports of the command line."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import pytest

import pushjuju.cli.commands
from pushjuju.cli.lazy_imports import import_lazily

Write: TypeAlias = Callable[[str, str], None]
_NAMES = "pushjuju.cli.commands.lazytest_"


@pytest.fixture(name="write")
def write_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write modules `lazytest_...` that stand beside the commands."""
    monkeypatch.setattr(pushjuju.cli.commands, "__path__", [str(tmp_path)])

    def write(name: str, text: str) -> None:
        (tmp_path / f"lazytest_{name}.py").write_text(text)

    yield write
    for name in [name for name in sys.modules if name.startswith(_NAMES)]:
        del sys.modules[name]
        delattr(pushjuju.cli.commands, name.rpartition(".")[2])


def is_read(name: str) -> bool:
    return type(sys.modules[_NAMES + name]) is ModuleType


def test_a_module_is_read_when_it_is_used(write: Write) -> None:
    write("command", "from pushjuju.cli.commands import lazytest_work as work")
    write("work", "answer = 42")
    command = import_lazily(_NAMES + "command")
    assert (is_read("command"), is_read("work")) == (True, False)
    assert command.work.answer == 42
    assert is_read("work")


def test_a_module_is_read_before_somebody_changes_it(write: Write) -> None:
    write("command", "from pushjuju.cli.commands import lazytest_work as work")
    write("work", "answer = 42")
    command = import_lazily(_NAMES + "command")
    command.work.answer = 43
    assert (is_read("work"), command.work.answer) == (True, 43)


def test_a_name_out_of_a_module_reads_the_module_at_once(write: Write) -> None:
    write("command", "from pushjuju.cli.commands.lazytest_work import answer")
    write("work", "from pushjuju.cli.commands import lazytest_later as later\nanswer = 42")
    write("later", "")
    assert import_lazily(_NAMES + "command").answer == 42
    assert (is_read("work"), is_read("later")) == (True, False)


def test_a_module_that_fails_is_read_again(write: Write, tmp_path: Path) -> None:
    write("command", "from pushjuju.cli.commands import lazytest_work as work")
    write("work", "from pathlib import Path\nanswer = Path(__file__).with_name('answer').read_text()")
    command = import_lazily(_NAMES + "command")
    with pytest.raises(FileNotFoundError):
        _ = command.work.answer
    (tmp_path / "answer").write_text("42")
    assert command.work.answer == "42"


def test_one_thread_reads_a_module_and_the_others_wait(write: Write) -> None:
    write("command", "from pushjuju.cli.commands import lazytest_work as work")
    write("work", "import threading\nthreading.reading.set()\nthreading.go.wait(30)\nanswer = object()")
    command = import_lazily(_NAMES + "command")
    reading, go = threading.Event(), threading.Event()
    vars(threading).update(reading=reading, go=go)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(command.work.answer)) for _ in range(3)]
    try:
        for thread in threads:
            thread.start()
        assert reading.wait(30)
        go.set()
        for thread in threads:
            thread.join(30)
    finally:
        del threading.reading, threading.go  # type: ignore[attr-defined]
    assert len(found) == 3
    assert len(set(found)) == 1


_SELDOM = """
import sys
from pushjuju.cli.lazy_imports import import_lazily

import_lazily("pushjuju.cli.app.main")
asyncio = import_lazily("pushjuju.cli.work.foreground").asyncio

async def ask():
    import socket
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, server.getsockname())

asyncio.run(ask())
names = "platform", "ssl", "locale", "stringprep", "tomllib"
print(*(name for name in names if type(sys.modules.get(name)).__name__ == "module"))
import platform, ssl, tomllib
assert platform.system() == platform.uname().system
assert issubclass(ssl.SSLSocket, __import__("socket").socket)
assert tomllib.loads("a = 1") == {"a": 1}
"""


def test_what_few_commands_use_is_not_read_for_a_question_of_python_itself() -> None:
    done = subprocess.run([sys.executable, "-c", _SELDOM], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == ([], "")
