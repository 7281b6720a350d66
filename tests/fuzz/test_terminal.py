"""What charms say cannot steer the terminal of who reads it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pushjuju.cli.terminal import log_lines
from pushjuju.cli.terminal.console import Console
from pushjuju.cli.terminal.output import Output
from pushjuju.cli.terminal.paint import harmless
from pushjuju.cli.terminal.table import TabWriter, heads, message
from pushjuju.core.errors import PushjujuError
from pushjuju.store.rows.records import LogRecord
from tests.fuzz.hostile import fuzz

CONTROLS = [
    chr(number) for number in (*range(32), 127, *range(128, 160), 0x202E, 0x2066) if chr(number) not in "\n\t"
]


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        """Be one."""
        return True


@fuzz(150)
@given(
    parts=st.lists(
        st.sampled_from([*CONTROLS, "\x1b[31m", "\x1b[0m", "[2J", "]0;x", "\n", "\t", "a", "☃"]), max_size=8
    )
)
def test_only_colours_reach_a_terminal(parts: list[str]) -> None:
    text = "".join(parts)
    shown = harmless(text)
    rest = shown.replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\r\n", "")
    assert not [letter for letter in rest if letter in CONTROLS]
    assert harmless(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x1b[2J\x1b[1;31mred\x1b[0m", "\\x1b[2J\x1b[1;31mred\x1b[0m"),
        ("50%\r100%\r\n", "50%\\r100%\r\n"),
        ("\x9b5n\u202eabc", r"\x9b5n\u202eabc"),
        ("plain\ttext ☃\n", "plain\ttext ☃\n"),
    ],
)
def test_controls_are_shown_as_what_they_are(text: str, shown: str) -> None:
    out, err = Terminal(), Terminal()
    console = Console(stdin=io.StringIO(), stdout=out, stderr=err, env={"NO_COLOR": "1"})
    Output(console).text(text)
    console.error(PushjujuError(text))
    assert out.getvalue() == shown
    assert err.getvalue().rstrip("\r\n") == f"ERROR {shown}".rstrip("\r\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("well \x1b[8mhidden\nnext", "well \x1b[8mhidden\x1b[0m\nnext"),
        ("\x1b[30;40m\r\nnext", "\x1b[30;40m\x1b[0m\r\nnext"),
        ("\x1b[31mred\x1b[0m \x1b[8m", "\x1b[31mred\x1b[0m \x1b[8m\x1b[0m"),
        ("\x1b[31mred\x1b[m\n", "\x1b[31mred\x1b[m\n"),
    ],
)
def test_a_colour_hides_nothing_of_the_lines_below(text: str, shown: str) -> None:
    assert harmless(text) == shown
    assert harmless(shown) == shown


FORGED = "ok\nunit-db-0: 12:00:00 ERROR juju.worker.uniter disk lost\n"


def test_a_message_looks_like_no_row_of_a_table() -> None:
    for colour in (False, True):
        table = TabWriter(colour=colour)
        table.row(*heads("Unit", "Workload", "Message"))
        table.row("web/0", "active", message(FORGED))
        table.row("web/1", FORGED, message("x"))
        assert len(table.text().splitlines()) == 3
        assert "\\nunit-db-0: 12:00:00 ERROR" in table.text()


def test_a_message_looks_like_no_line_of_another_unit() -> None:
    record = LogRecord(
        id=1, model="m", time="2026-01-01T11:00:00.000000Z", entity="unit-web-0", level="INFO",
        module="unit.web/0.juju-log", location="", labels="", message=FORGED,
    )  # fmt: skip
    first, *further = log_lines.line(record, log_lines.Look(utc=True)).split("\n")
    assert first == "unit-web-0: 11:00:00 INFO unit.web/0.juju-log ok"
    assert further
    assert all(text.startswith("    ") for text in further)


def test_a_pipe_gets_what_was_said() -> None:
    out = io.StringIO()
    console = Console(stdin=io.StringIO(), stdout=out, stderr=io.StringIO(), env={})
    Output(console).text("\x1b]0;x\x07")
    assert out.getvalue() == "\x1b]0;x\x07"
