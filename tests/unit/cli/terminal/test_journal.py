"""Lines for the journal of systemd begin with their priority."""

from __future__ import annotations

import io
import os
from pathlib import Path

from pushjuju.cli.terminal import jsonlog
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.jsonlog import JsonLog
from pushjuju.core.errors import PushjujuError
from tests.world.clock import FakeClock


def test_lines_have_the_priority_of_their_severity() -> None:
    err = io.StringIO()
    console = Console(stdin=io.StringIO(), stdout=io.StringIO(), stderr=err, env={})
    console.mark = jsonlog.with_priority
    console.info("working")
    console.warn("slow\nand late")
    console.error(PushjujuError("failed"))
    console.log = JsonLog(err, FakeClock(), priorities=True)
    console.info("working")
    *lines, last = err.getvalue().splitlines()
    assert lines == ["<6>working", "<4>WARNING slow", "<4>and late", "<3>ERROR failed"]
    assert last.startswith('<6>{"body"')


def test_a_stream_is_the_journal_when_the_environment_names_its_inode(tmp_path: Path) -> None:
    with (tmp_path / "stream").open("w") as stream:
        found = os.fstat(stream.fileno())
        assert jsonlog.goes_to_journal(stream, {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"})
        assert not jsonlog.goes_to_journal(stream, {"JOURNAL_STREAM": f"{found.st_dev}:1"})
        assert not jsonlog.goes_to_journal(stream, {})
    assert not jsonlog.goes_to_journal(io.StringIO(), {"JOURNAL_STREAM": "8:1"})
