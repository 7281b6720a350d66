"""Whole command lines of any words: never a trace of ours, and what is refused changes nothing."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.cli.app import main
from pushjuju.cli.app.root import Root
from pushjuju.cli.syntax.command import Cli
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.output import Output
from pushjuju.cli.work import drive, waiting
from pushjuju.core.errors import Unreachable
from tests.fuzz.hostile import TEXTS, fuzz
from tests.world.charms import CONFIG, PEERS
from tests.world.rewind import RewindController

# They connect, wait for ever or start other programs: each has tests of its own.
ELSEWHERE = {"ssh", "scp", "controller", "doctor", "debug-hooks", "debug-code", "wait-for"}
# Several things in one call: those that are there are taken, the others are named, as in Juju.
ONE_BY_ONE = {"remove-unit", "remove-machine", "remove-application", "run", "exec", "add-machine", "resolved"}
NAMES = [
    "web",
    "web/0",
    "web/1",
    "db",
    "db/0",
    "web/9",
    "nope",
    "nope/0",
    "0",
    "1",
    "9",
    "0/lxd/0",
    "lxd",
    "lxd:0",
    "shop",
    "admin/shop",
    "home",
    "home:shop",
    "home:admin/nope",
    "local",
    "localhost",
    "site",
    "web:site",
    "db:up",
    "web:cluster",
    "cluster",
    "up",
    "0.5",
    "-1",
    "1",
    "2",
    "99999999999999999999",
    "title=x",
    "port=81",
    "port=x",
    "debug=maybe",
    "title=",
    "nope=1",
    "=x",
    "charm",
    "charm.charm",
    "bad.charm",
    "missing.yaml",
    "bad.yaml",
    "./charm",
    ".",
    "/",
    "ubuntu@22.04",
    "ubuntu@99.99",
    "mem=4G",
    "mem=x",
    "cores=2",
    "root-disk=9T",
    "arch=amd64",
    "backup",
    "prepare",
    "complete",
    "validate",
    "true",
    "false",
    "all",
    "INFO",
    "debug",
    "yaml",
    "json",
    "tabular",
    "summary",
    "line",
    "oneline",
    "short",
    "text",
    "smart",
    "default",
    "1h",
    "5m",
    "-5s",
    "2025-01-01",
    "unit-web-0",
    "machine-0",
    "*",
    "status",
    "actions",
    "--",
    "-",
    "--",
    "--help",
    "-h",
    "-v",
    "-q",
    "--debug",
    "local:web",
    "ch:web",
    "ssh:user@nowhere",
    "ssh:@",
    "::",
    ":",
    "/",
    "@",
    "=",
    "%",
    "to=x",
    "to.x=y",
    "secret:x",
    "juju-info",
]


class Lines:
    """Runs command lines on the stage."""

    def __init__(self, stage: RewindController, folder: Path) -> None:
        self.stage = stage
        self.folder = folder
        self.data = stage.ctx.datadir.root

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        """Run one, with streams as a terminal in UTF-8 has them."""
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
        env = {"PUSHJUJU_DATA": str(self.data), "HOME": str(self.folder), "JUJU_MODEL": "home:shop"}
        status = main.run(argv, stdin=io.StringIO("y\n"), stdout=out, stderr=err, env=env)
        found = []
        for stream in (out, err):
            stream.flush()
            found.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
        return status, found[0], found[1]

    def state(self) -> tuple[Any, dict[str, bytes]]:
        """Return all rows and all files that people and controllers keep."""
        files = [path for path in self.data.rglob("*") if path.is_file() and "state.db" not in path.name]
        kept = {str(path): path.read_bytes() for path in files if path.suffix not in (".log", ".lock")}
        return self.stage.tables(), kept


@pytest.fixture(scope="module")
def lines(stage: RewindController, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with charms, good and bad, and no way out of this process."""
    folder = tmp_path_factory.mktemp("here")
    packed = stage.charms.make(config=CONFIG, peers=PEERS)
    (folder / "charm.charm").write_bytes(packed.path.read_bytes())
    (folder / "bad.charm").write_bytes(b"PK\3\4" + bytes(range(200)))
    (folder / "bad.yaml").write_bytes(b"a: [\xff")
    (folder / "charm").mkdir()
    (folder / "charm/metadata.yaml").write_text("name: web\nsummary: s\ndescription: d\nseries: [jammy]\n")
    here = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        _shut(patch)
        os.chdir(folder)
        yield Lines(stage, folder)
    os.chdir(here)


def _shut(patch: pytest.MonkeyPatch) -> None:
    """Let nothing start a program, reach a machine or wait."""

    def no_loop(work: Coroutine[Any, Any, Any], **_: Any) -> Any:
        work.close()
        raise Unreachable("there are no machines here")

    def no_program(*_: Any, **__: Any) -> Any:
        raise AssertionError("a command line started a program")

    def no_time(_: float) -> Any:
        raise KeyboardInterrupt

    patch.setattr(drive, "settle", lambda *_, **__: None)
    patch.setattr(drive, "background", lambda *_, **__: None)
    patch.setattr(waiting, "work", lambda *_, **__: None)
    patch.setattr(asyncio, "run", no_loop)
    patch.setattr(subprocess, "Popen", no_program)
    patch.setattr(os, "execvp", no_program)
    patch.setattr(time, "sleep", no_time)


def _vocabulary() -> dict[str, list[str]]:
    """Return every command with its flags."""
    console = Console(stdin=io.StringIO(), stdout=io.StringIO(), stderr=io.StringIO(), env={})
    root = Root()
    found = {}
    with root.make_context(
        "pushjuju", ["help"], obj=Cli(console=console, output=Output(console), program="juju")
    ) as ctx:
        for name in root.list_commands(ctx):
            command = root.get_command(ctx, name)
            if command is not None and name not in ELSEWHERE:
                found[name] = sorted(
                    {opt for param in command.params for opt in param.opts if opt[:1] == "-"}
                )
    return found


COMMANDS = _vocabulary()
WORDS = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    TEXTS.filter(lambda text: "\0" not in text).map(
        lambda text: text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    ),
)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """Draw a command with flags of its own and any words."""
    name = draw(st.sampled_from(sorted(COMMANDS)))
    words: list[str] = [name]
    for _ in range(draw(st.integers(0, 5))):
        flag = draw(st.sampled_from([*COMMANDS[name], "--nope"])) if draw(st.integers(0, 2)) == 0 else ""
        word = draw(WORDS)
        words += [flag, word] if flag and draw(st.booleans()) else [f"{flag}={word}" if flag else word]
    return words


def refused(lines: Lines, argv: list[str]) -> None:
    """Run a command line; one that ends badly must have changed nothing, and none may fail by our fault."""
    lines.stage.back()
    before = lines.state()
    status, _, err = lines.run(argv)
    assert "internal error" not in err, (argv, err)
    assert "Traceback" not in err or "DEBUG pushjuju.cli" in err, (argv, err)  # `--debug` asks for it
    if status and argv[0] not in ONE_BY_ONE:
        assert lines.state() == before, (argv, err)
    if status == 2:
        assert lines.state() == before, (argv, err)


@fuzz(200)
@given(argv=command_lines())
def test_any_command_line_is_answered(lines: Lines, argv: list[str]) -> None:
    refused(lines, argv)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_with_nothing_and_with_nonsense(lines: Lines, name: str) -> None:
    for words in (
        [],
        ["\udcff\udcfe"],
        ["--nope"],
        ["", ""],
        ["9" * 5000],
        ["-\udcff"],
        ["a", "b", "c", "d"],
    ):
        refused(lines, [name, *words])
