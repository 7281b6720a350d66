"""A few lines of a terminal that are drawn again and again in place.

No line is ever longer than the terminal is wide, so that the number of lines drawn is the number to go up.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TextIO

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_HIDE, _SHOW, _BELOW, _LINE_END = "\x1b[?25l", "\x1b[?25h", "\x1b[0J", "\x1b[0K"
_SMALLEST = (10, 2)  # columns, lines
_WIDE = ("W", "F")


def size(stream: TextIO) -> tuple[int, int]:
    """Return (columns, lines) of a terminal; 80 x 24 where it does not say."""
    try:
        found = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return max(found.columns or 80, _SMALLEST[0]), max(found.lines or 24, _SMALLEST[1])


def width(text: str) -> int:
    """Return how many cells a text takes; colours take none."""
    plain = _COLOURS.sub("", text)
    return len(plain) if plain.isascii() else sum(map(_cells, plain))


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _WIDE else 1


def cut(text: str, most: int) -> str:
    """Return as much of a text as fits into some cells; its colours end with it."""
    if width(text) <= most:
        return text
    found, used, coloured = [], 0, False
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if _COLOURS.fullmatch(part):
            found.append(part)
            coloured = True
            continue
        for letter in part:
            used += _cells(letter)
            if used > most:
                return "".join(found) + ("\x1b[0m" if coloured else "")
            found.append(letter)
    return "".join(found)


class Painter:
    """The lines at the bottom of a stream that change in place; other output is written above them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn: list[int] = []  # how wide each line is
        self.lock = RLock()

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines in place of the last ones; each is written over, so that nothing flickers."""
        columns, height = size(self._stream)
        shown = [cut(line, columns - 1) for line in lines[: height - 1]]
        with self.lock:
            text = "".join(f"{line}{_LINE_END}\n" for line in shown)
            self._write(f"{_HIDE}{self._up()}{text}{_BELOW}")
            self._drawn = [width(line) for line in shown]

    def clear(self) -> None:
        """Take the lines away."""
        with self.lock:
            if self._drawn:
                self._write(f"{self._up()}{_BELOW}{_SHOW}")
            self._drawn = []

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the lines away while something else is written; they come back when they are next drawn."""
        with self.lock:
            self.clear()
            yield

    def _up(self) -> str:
        """Return how to get to the first line; a terminal that was made narrower has broken long ones."""
        columns = size(self._stream)[0]
        lines = sum(max(-(-taken // columns), 1) for taken in self._drawn)
        return f"\r\x1b[{lines}A" if lines else "\r"

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
