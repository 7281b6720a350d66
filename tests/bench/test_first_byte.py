"""What a command does before its first byte goes to a machine: processor time, and modules executed."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.bench.figures import Report
from tests.bench.processes import pushjuju
from tests.bench.test_commands import focus
from tests.world.charms import UBUNTU
from tests.world.controller import TestController

TIMES = 10
ACTING = (
    ("config", "web", "title=x"),
    ("add-unit", "web", "--to", "0"),
    ("exec", "--unit", "web/0", "--", "true"),
)
# The most modules of pushjuju, and of other packages, that a command executes before it connects.
OURS, THEIRS = 306, 140
_COUNTED = """
import asyncio, os, sys
from pushjuju.cli.lazy_imports import import_lazily

async def connect(loop, *_args, **_named):
    read = [name for name, module in sys.modules.items() if type(module).__name__ != "_Unread"]
    done = [name.partition(".")[0] for name in read]
    own = done.count("pushjuju")
    given = {*sys.stdlib_module_names, "sitecustomize"}  # the second: of the distribution
    print(own, sum(name not in given for name in done) - own, flush=True)
    os._exit(0)

asyncio.base_events.BaseEventLoop.create_connection = connect
main = import_lazily("pushjuju.cli.app.main")
main.run(sys.argv[1:], stdin=sys.stdin, stdout=sys.stderr, stderr=sys.stderr, env=os.environ)
"""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A port that accepts connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as made:
        made.settimeout(60)
        yield made


@pytest.fixture
def shop(world: TestController, listener: socket.socket) -> Path:
    """A model with one unit, whose machine is the listener; return the data directory."""
    world.active("web", 1)
    ssh = json.dumps({"host": "127.0.0.1", "port": listener.getsockname()[1], "user": "root"})
    instance = {
        "provider": "manual",
        "instance_id": "manual:127.0.0.1",
        "display_name": "",
        "nonce": "manual:n",
    }
    known = {"id": "0", "hardware": "{}", "ssh": ssh, "base": str(UBUNTU), **instance}
    world.write(lambda tx: tx.run("machine_set_instance", **known))
    focus(world)
    world.ctx.close()
    return world.ctx.datadir.root


@contextmanager
def environment(shop: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of a command that works on a copy of the model, with the last one's cache."""
    copy, cache = tmp_path / "copy", tmp_path / "cache"
    shutil.copytree(shop, copy)
    if cache.exists():
        cache.rename(copy / "cache")
    try:
        yield {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PUSHJUJU_DATA": str(copy)}
    finally:
        if (copy / "cache").exists():
            (copy / "cache").rename(cache)
        shutil.rmtree(copy)


def used(pid: int) -> float:
    """Return the milliseconds of processor time that all threads of a process have used."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e6


def until_first_byte(listener: socket.socket, env: dict[str, str], words: tuple[str, ...]) -> float:
    """Return the milliseconds of processor time of a command until its first byte arrives; then end it."""
    kept = {"PYTHONPYCACHEPREFIX": f"{env['HOME']}/compiled", **env}
    with subprocess.Popen(
        pushjuju(*words), env=kept, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        connection, _ = listener.accept()
        with closing(connection):
            connection.recv(1)
            took = used(process.pid)
            process.kill()
    return took


@pytest.mark.bench
@pytest.mark.parametrize("words", ACTING, ids=lambda words: words[0])
def test_processor_time_before_the_first_byte(
    report: Report, shop: Path, listener: socket.socket, tmp_path: Path, words: tuple[str, ...]
) -> None:
    samples = []
    for _ in range(TIMES + 1):
        with environment(shop, tmp_path) as env:
            samples.append(until_first_byte(listener, env, words))
    name = f"`pushjuju {' '.join(words)}`, cold, before its first byte to a machine"
    report.add(name, samples[1:], target="<= 150 ms", note="processor time")


@pytest.mark.parametrize("words", ACTING, ids=lambda words: words[0])
def test_the_modules_before_the_first_byte_are_few(
    shop: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    with environment(shop, tmp_path) as env:
        argv = [sys.executable, "-c", _COUNTED, *words]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    ours, theirs = map(int, done.stdout.split())
    assert (ours <= OURS, theirs <= THEIRS) == (True, True), (ours, theirs)
