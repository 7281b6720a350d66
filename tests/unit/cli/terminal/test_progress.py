"""Progress: lines where nobody looks on, a live table on a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.progress import Row, progress, tree, wants_output
from pushjuju.cli.terminal.screen import Painter, cut, width
from pushjuju.workers import serving
from pushjuju.workers.events import Event as ProgressEvent
from tests.waiting import comes


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


EVENTS = [
    ProgressEvent(entity="machine 0", text="connecting"),
    ProgressEvent(entity="web/0", text="running install hook", state="running"),
    ProgressEvent(entity="web/0", text="running install hook", state="running"),
    ProgressEvent(entity="web/0", text="idle", state="done"),
]


def _console(stderr: io.StringIO, **env: str) -> Console:
    return Console(stdin=io.StringIO(), stdout=io.StringIO(), stderr=stderr, env=env)


LINES = "machine 0: connecting\nweb/0: running install hook\nweb/0: idle\n"


def test_a_script_gets_no_progress_unless_it_asks_for_it() -> None:
    shown = []
    for verbose, lines in ((False, None), (True, None), (False, True), (False, False)):
        console = _console(io.StringIO())
        console.verbose = verbose
        with progress(console, lines=lines) as report:
            for event in EVENTS:
                report(event)
        shown.append(console.stderr.getvalue())
    assert shown == ["", LINES, LINES, ""]


def test_each_change_is_a_line_in_a_file_beside_a_terminal() -> None:
    err = io.StringIO()
    console = Console(stdin=io.StringIO(), stdout=Terminal(), stderr=err, env={})
    with progress(console) as report:
        for event in EVENTS:
            report(event)
    assert err.getvalue() == LINES


def test_quiet_shows_nothing() -> None:
    err = Terminal()
    console = _console(err)
    console.quiet = True
    with progress(console) as report:
        report(EVENTS[0])
    assert err.getvalue() == ""


def test_a_dumb_terminal_gets_lines() -> None:
    err = Terminal()
    with progress(_console(err, TERM="dumb")) as report:
        report(EVENTS[0])
    assert err.getvalue() == "machine 0: connecting\n"


def test_output_is_shown_to_those_who_want_more() -> None:
    line = ProgressEvent(entity="web/0", line="Setting up nginx")
    err = io.StringIO()
    console = _console(err)
    with progress(console) as report:
        assert not wants_output(console)
        report(line)
    assert err.getvalue() == ""
    console.verbose = True
    with progress(console, lines=False) as report:
        assert wants_output(console)
        report(line)
    assert err.getvalue() == "web/0: Setting up nginx\n"


def test_where_lines_are_not_wanted_there_are_none() -> None:
    err = io.StringIO()
    with progress(_console(err), lines=False) as report:
        report(EVENTS[0])
    assert err.getvalue() == ""


def test_on_a_terminal_a_tree_moves_and_goes() -> None:
    err = Terminal()
    console = _console(err, TERM="xterm")
    with progress(console) as report:
        for event in EVENTS[:2]:
            report(event)
        assert wants_output(console)
        comes(lambda: "running install hook" in err.getvalue())
        console.info("said beside it")
    assert "rich" not in sys.modules
    shown = err.getvalue()
    before, _, after = shown.partition("said beside it")
    assert before.endswith("\x1b[?25h")  # the tree was away
    assert shown.count("\x1b[?25l") > 0
    assert after.endswith(("\n", "\x1b[?25h"))
    assert console.painter is None


def test_a_machine_is_there_when_its_units_are_worked() -> None:
    err = Terminal()
    with progress(_console(err, TERM="xterm", NO_COLOR="1")) as report:
        report(ProgressEvent(entity="machine 0", text="starting machine"))
        report(ProgressEvent(entity="web/0", text="install: running", parent="machine 0"))
        report(ProgressEvent(entity="db/0", text="install: running", parent="machine 1"))
        report(ProgressEvent(entity="web/0", line="Setting up nginx"))
        comes(lambda: "nginx" in err.getvalue())
    lines = err.getvalue().split("\x1b[0K\n")
    assert [line.strip() for line in lines[1:5]] == [
        "machine 0", "0s   web/0    install  Setting up nginx", "machine 1", "0s   db/0     install",
    ]  # fmt: skip
    assert lines[0].endswith("Working for 0s: 2 running")


def test_what_is_over_at_once_draws_nothing() -> None:
    err = Terminal()
    with progress(_console(err, TERM="xterm")) as report:
        report(EVENTS[0])
    assert err.getvalue() == ""


ROWS = [
    Row(entity="web/10", parent="machine 1", text="start: done", state="done"),
    Row(
        entity="web/2", parent="machine 0", text="install: running", began=90.0, line="Setting\tup \x1bnginx"
    ),
    Row(entity="machine 0", text="setting itself up (cloud-init)", began=60.0),
    Row(entity="machine 1", text="connection refused", state="failed"),
    Row(entity="model shop", text="destroying", began=-3600.0),
]


def test_the_tree_has_units_below_their_machines() -> None:
    assert tree(ROWS, now=100.0, since=30.0, room=20) == [
        "Working for 1:10: 1 failed, 3 running, 1 done",
        "    40s machine 0   setting itself up (cloud-init)",
        "    10s   web/2     install  Setting up \\x1bnginx",
        "        machine 1   connection refused",
        "          web/10    start: done",
        "1:01:40 model shop  destroying",
    ]


def test_what_failed_or_runs_has_room_first() -> None:
    assert tree(ROWS, now=100.0, since=30.0, room=5)[1:] == [
        "    40s machine 0   setting itself up (cloud-init)",
        "        machine 1   connection refused",
        "1:01:40 model shop  destroying",
        "        and 2 more",
    ]
    assert len(tree(ROWS, now=100.0, since=30.0, room=1)) == 3
    assert tree([], now=1.0, since=0.0, room=5) == ["Working for 1s: "]


def test_lines_are_cut_by_cells_and_keep_their_colours() -> None:
    assert cut("abcdef", 4) == "abcd"
    assert cut("日本語", 5) == "日本"
    assert width("e\u0301日") == 3
    assert cut("\x1b[91mabcdef\x1b[0m", 3) == "\x1b[91mabc\x1b[0m"
    assert cut("\x1b[91mab\x1b[0m", 3) == "\x1b[91mab\x1b[0m"


def test_a_line_that_is_over_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that was waited for answers once its units are worked."""
    drawn: list[list[str]] = []
    monkeypatch.setattr(Painter, "draw", lambda _self, lines: drawn.append(lines))
    with progress(_console(Terminal(), TERM="xterm", NO_COLOR="1")) as report:
        report(ProgressEvent(entity="machine 0", text="waits until it can be reached: no", state="waiting"))
        report(ProgressEvent(entity="web/0", text="install: running", parent="machine 0"))
        comes(lambda: drawn)
    assert [line.strip() for line in drawn[0][1:]] == ["machine 0", "0s   web/0    install"]


def test_lines_that_a_narrower_terminal_has_broken_are_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, columns = io.StringIO(), [80]
    monkeypatch.setattr("pushjuju.cli.terminal.screen.size", lambda _: (columns[0], 24))
    painter = Painter(stream)
    painter.draw(["x" * 60, "short"])
    columns[0] = 25
    painter.draw(["x" * 60, "short"])
    assert "\x1b[4A" in stream.getvalue()  # three lines of the long one, and the short one
    painter.draw(["y"])
    assert stream.getvalue().rpartition("y")[0].endswith("\r\x1b[2A")


def test_a_controller_process_says_what_it_does(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LINGER_S", 0.1)
    assert run("bootstrap", "local", "lab").status == 0
    ended = run("controller", "run", "--until-idle")
    assert ended.err.startswith(
        "Working on what becomes due in controller lab, until nothing is due any more\n"
    )
