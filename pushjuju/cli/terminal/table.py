"""Formats tables as Juju prints them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pushjuju.cli.terminal.paint import BOLD, GRAY, escape, paint
from pushjuju.portable.natural import natural_order

LONGEST_MESSAGE = 120
PADDING = 2


def heads(*titles: str) -> tuple[str, ...]:
    """Return the cells of a header row."""
    return tuple(paint(title, BOLD) for title in titles)


def message(text: str) -> str:
    """Return the cell of a message: gray, and cut to fit the line."""
    short = text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 3] + "..."
    return paint(short, GRAY)


def naturally(named: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the entries of a map in natural order of their keys."""
    return [(name, named[name]) for name in natural_order(named)]


def size_text(mebibytes: int) -> str:
    """Return a size as `512 MiB` or `8.0 GiB`, with one decimal below ten; empty for zero."""
    if not mebibytes:
        return ""
    value, units = float(mebibytes), ["MiB", "GiB", "TiB", "PiB", "EiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    value = int(value * 10 + 0.5) / 10
    return f"{value:.1f} {units[0]}" if value < 10 else f"{value:.0f} {units[0]}"


class TabWriter:
    """The lines of one table: each column is as wide as its longest cell in adjacent lines.

    A closed cell (in Go a TAB ends it) belongs to a column: the cells at the same position in adjacent lines.
    A column is as wide as its longest cell and the padding. The text behind the last closed cell belongs to
    no column. A line without a closed cell ends the block. A line end inside a cell appears as `\\n`, so
    that no text looks like another row.

    Mirrors: juju/ansiterm tabwriter (3.6), which follows Go's text/tabwriter

    Args:
        titles: The cells of a header row; without titles, the table has no such row.
        right: Numbers of the columns that are aligned right; the padding stays behind them.
        all_right: Whether every column is aligned right with the padding in front, as Go's AlignRight does.
        colour: Whether cells keep their colours.
    """

    def __init__(
        self, *titles: str, right: Collection[int] = (), all_right: bool = False, colour: bool = False
    ) -> None:
        self._right = frozenset(right)
        self._all_right = all_right
        self._colour = colour
        self._plain = not (right or all_right or colour)
        self._lines: list[tuple[str, ...]] = [heads(*titles)] if titles else []

    def row(self, *cells: str) -> None:
        """Add a line; each of its cells but the last is closed."""
        self._lines.append(cells)

    def closed(self, *cells: str) -> None:
        """Add a line with all cells closed."""
        self._lines.append((*cells, ""))

    def text(self) -> str:
        """Return the table; each line ends with a newline, without blanks before it."""
        out: list[str] = []
        if len(set(map(len, self._lines))) == 1:  # the common case: all lines close the same number of cells
            columns = list(zip(*self._lines, strict=True))[:-1]
            widths = [max(map(len, column)) + PADDING for column in columns]
            for line in self._lines:
                self._write(out, widths, line)
        else:
            self._format(out, [], 0, len(self._lines))
        return "".join(out)

    def _format(self, out: list[str], widths: list[int], start: int, end: int) -> None:
        """Write lines `start` to `end`; the columns that these lines have in common have the given `widths`.

        A recursive call writes adjacent lines that close one more cell, which form the next column.
        """
        column, lines, at = len(widths), self._lines, start
        while at < end:
            if column >= len(lines[at]) - 1:
                self._write(out, widths, lines[at])
                at += 1
                continue
            stop, longest = at, 0
            while stop < end and column < len(lines[stop]) - 1:
                longest = max(longest, len(lines[stop][column]))
                stop += 1
            self._format(out, [*widths, longest + PADDING], at, stop)
            at = stop

    def _write(self, out: list[str], widths: Sequence[int], line: tuple[str, ...]) -> None:
        if self._plain:
            padded = "".join(map(str.ljust, line, widths)) + "".join(line[len(widths) :])
            out.append(_one_line(padded))
            return
        parts = [
            self._cell(number, cell, width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=False))
        ]
        parts.extend(self._shown(cell) for cell in line[len(widths) :])
        out.append(_one_line("".join(parts)))

    def _cell(self, number: int, cell: str, width: int) -> str:
        blanks = width - len(cell)
        if self._all_right:
            return " " * blanks + self._shown(cell)
        if number in self._right:
            return " " * (blanks - PADDING) + self._shown(cell) + " " * PADDING
        return self._shown(cell) + " " * blanks

    def _shown(self, cell: str) -> str:
        return escape(cell) if self._colour else cell


def _one_line(text: str) -> str:
    text = text.rstrip(" ")
    return (text.replace("\n", "\\n") if "\n" in text else text) + "\n"
