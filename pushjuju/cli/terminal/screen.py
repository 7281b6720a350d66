"""Draws a few lines of a terminal again and again in place.

Each line is cut to the width of the terminal, so the cursor goes up by the number of lines drawn.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TextIO

from pushjuju.core.values import regex

_COLOURS = regex(r"\x1b\[[0-9;]*m")
_HIDE, _SHOW, _BELOW, _LINE_END = "\x1b[?25l", "\x1b[?25h", "\x1b[0J", "\x1b[0K"
_SMALLEST = (10, 2)  # columns, lines
_WIDE = ("W", "F")


def size(stream: TextIO) -> tuple[int, int]:
    """Return (columns, lines) of a terminal, or 80 x 24 when the terminal does not say."""
    try:
        found = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return max(found.columns or 80, _SMALLEST[0]), max(found.lines or 24, _SMALLEST[1])


def width(text: str) -> int:
    """Return how many cells a text takes; colour sequences take no cell."""
    plain = _COLOURS.sub("", text)
    return len(plain) if plain.isascii() else sum(map(_cells, plain))


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _WIDE else 1


def cut(text: str, most: int) -> str:
    """Return the start of a text that fits into `most` cells, with its colours switched off at the end."""
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
    """Lines at the bottom of a stream that change in place; other output appears above them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn: list[int] = []  # width of each line in cells
        self.lock = RLock()

    def draw(self, lines: Sequence[str]) -> None:
        """Draw these lines over the last ones; nothing is erased before, so nothing flickers."""
        columns, height = size(self._stream)
        shown = [cut(line, columns - 1) for line in lines[: height - 1]]
        with self.lock:
            text = "".join(f"{line}{_LINE_END}\n" for line in shown)
            self._write(f"{_HIDE}{self._up()}{text}{_BELOW}")
            self._drawn = [width(line) for line in shown]

    def clear(self) -> None:
        """Erase the lines."""
        with self.lock:
            if self._drawn:
                self._write(f"{self._up()}{_BELOW}{_SHOW}")
            self._drawn = []

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Erase the lines while the block writes something else; the next `draw` shows them again."""
        with self.lock:
            self.clear()
            yield

    def _up(self) -> str:
        """Return the sequence to the first line; a terminal that became narrower has wrapped long lines."""
        columns = size(self._stream)[0]
        lines = sum(max(-(-taken // columns), 1) for taken in self._drawn)
        return f"\r\x1b[{lines}A" if lines else "\r"

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
