"""The tab writer follows ansiterm's rules; ports and sizes in cells."""

from __future__ import annotations

import pytest

from pushjuju.cli.commands.status.status_tabular import ports_text
from pushjuju.cli.terminal.paint import colours_on, paint
from pushjuju.cli.terminal.table import TabWriter, message, size_text


def test_a_column_is_as_wide_as_its_longest_closed_cell() -> None:
    table = TabWriter()
    table.row("a", "b", "a long last cell")
    table.row("longer", "b", "x")
    assert table.text() == "a       b  a long last cell\nlonger  b  x\n"


def test_the_last_cell_of_a_line_belongs_to_no_column() -> None:
    table = TabWriter()
    table.row("a", "a very long text behind the last tab")
    table.row("b", "c", "d")
    assert table.text() == "a  a very long text behind the last tab\nb  c  d\n"


def test_a_column_is_a_run_of_adjacent_lines() -> None:
    table = TabWriter()
    table.row("a", "wide cell", "x")
    table.row("b", "y")
    table.row("c", "n", "z")
    assert table.text() == "a  wide cell  x\nb  y\nc  n  z\n"


def test_a_line_without_closed_cells_ends_the_block() -> None:
    table = TabWriter()
    table.row("wide first", "x")
    table.row("")
    table.row("a", "y")
    assert table.text() == "wide first  x\n\na  y\n"


def test_alignment_to_the_right_keeps_the_padding_behind() -> None:
    table = TabWriter(right=(1,))
    table.row("App", "Scale", "Charm")
    table.row("pg", "2", "postgresql")
    assert table.text() == "App  Scale  Charm\npg       2  postgresql\n"


def test_gos_own_alignment_puts_the_padding_in_front() -> None:
    table = TabWriter(all_right=True)
    table.closed("# Units:", "(10)")
    table.closed("x:", " 1 ")
    assert table.text() == "  # Units:  (10)\n        x:    1\n"


def test_colours_do_not_count() -> None:
    table = TabWriter(colour=True)
    table.row(paint("ab", "32"), "x")
    table.row("abcd", "y")
    assert table.text() == "\x1b[32mab\x1b[0m    x\nabcd  y\n"


@pytest.mark.parametrize(
    ("ports", "text"),
    [
        (["80/tcp", "443/tcp", "8080/tcp", "8081/tcp", "161/udp"], "80,443,8080-8081/tcp 161/udp"),
        (["9/tcp", "10/tcp", "11/tcp"], "9-11/tcp"),
        (["1000-1010/udp", "53/udp"], "53,1000-1010/udp"),
        (["icmp", "80/tcp"], "icmp 80/tcp"),
        ([], ""),
    ],
)
def test_ports(ports: list[str], text: str) -> None:
    assert ports_text(ports) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, ""), (512, "512 MiB"), (5, "5.0 MiB"), (8192, "8.0 GiB"), (1024**2, "1.0 TiB"), (1536, "1.5 GiB")],
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


def test_long_messages_are_cut() -> None:
    assert message("x" * 120) == "x" * 120
    assert message("x" * 121) == "x" * 117 + "..."


@pytest.mark.parametrize(
    ("env", "flags", "on"),
    [
        ({}, {"terminal": True}, True),
        ({}, {"terminal": False}, False),
        ({"NO_COLOR": ""}, {"terminal": True}, False),
        ({"TERM": "dumb"}, {"terminal": True}, False),
        ({"NO_COLOR": "1"}, {"terminal": False, "force": True}, True),
        ({}, {"terminal": True, "force": True, "never": True}, False),
    ],
)
def test_when_there_are_colours(env: dict[str, str], flags: dict[str, bool], on: bool) -> None:
    assert colours_on(env, **flags) is on
