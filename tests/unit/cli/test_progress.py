"""Progress: lines where nobody looks on, a live table on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from pushjuju.cli.console import Console
from pushjuju.cli.progress import ProgressEvent, choose, progress


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


def test_without_a_terminal_each_change_is_a_line() -> None:
    err = io.StringIO()
    with progress(_console(err)) as report:
        for event in EVENTS:
            report(event)
    assert err.getvalue() == "machine 0: connecting\nweb/0: running install hook\nweb/0: idle\n"


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


def test_on_a_terminal_a_table_moves() -> None:
    err = Terminal()
    with progress(_console(err, TERM="xterm")) as report:
        for event in EVENTS[:2]:
            report(event)
    assert "running install hook" in err.getvalue()
    assert "rich" in sys.modules


def test_errors_vanish_last_when_the_screen_is_full() -> None:
    events = [ProgressEvent(entity=f"web/{number}", text="", state="done") for number in range(12)]
    events.append(ProgressEvent(entity="web/99", text="hook failed", state="failed"))
    assert [event.entity for event in choose(events, 3)] == ["web/0", "web/1", "web/99"]


@pytest.mark.parametrize("count", [0, 1])
def test_few_events_are_all_shown(count: int) -> None:
    assert choose(EVENTS[:count], 5) == EVENTS[:count]
