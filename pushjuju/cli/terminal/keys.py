"""Reads single keys of a terminal; the terminal is as before when the block ends.

A process in the background must not read keys: the terminal would stop the process.
"""

from __future__ import annotations

import os
import select
import signal
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

_NAMES = {
    "\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down", "\x1b[5~": "page-up",
    "\x1b[6~": "page-down", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home", "\x1b[4~": "end",
    "\x1bOH": "home", "\x1bOF": "end", "\x1b": "escape", "\r": "enter", "\n": "enter",
}  # fmt: skip
_ENOUGH, _SEQUENCE_S = 64, 0.02


class Keys:
    """The keys of a terminal in the order in which they were typed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._open = True
        self._typed: list[str] = []

    def read(self, seconds: float) -> str:
        """Return the next key, or an empty text when no key comes in time.

        A printing key is its letter; others are `up`, `down`, `page-up`, `page-down`, `home`, `end`, `enter`
        and `escape`. A key with another sequence is left out.
        """
        if not self._typed:
            self._fill(seconds)
        return self._typed.pop(0) if self._typed else ""

    def _fill(self, seconds: float) -> None:
        if not self._open:
            time.sleep(seconds)
        elif select.select([self._descriptor], [], [], seconds)[0]:
            text = self._text()
            while text.endswith(("\x1b", "\x1b[", "\x1bO")):  # the rest of a sequence may be on its way
                if not select.select([self._descriptor], [], [], _SEQUENCE_S)[0]:
                    break
                text += self._text()
            self._typed += split(text)

    def _text(self) -> str:
        try:
            found = os.read(self._descriptor, _ENOUGH)
        except OSError:
            found = b""
        self._open = bool(found)
        return found.decode(errors="replace")


def split(text: str) -> list[str]:
    """Return the names of the keys in a text that a terminal sent."""
    found = []
    while text:
        known = max((word for word in _NAMES if text.startswith(word)), key=len, default="")
        length = len(known) or 1
        if known == "\x1b" and text[1:2] in ("[", "O"):  # a sequence without a name
            end = next(
                (at for at, letter in enumerate(text[2:], 2) if letter.isalpha() or letter == "~"), len(text)
            )
            length, known = end + 1, " "
        name = _NAMES.get(known, text[0])
        found += [name] if known != " " and (known or name.isprintable()) else []
        text = text[length:]
    return found


def can_read(stdin: TextIO) -> bool:
    """Return True when stdin is a terminal, and this process is in its foreground."""
    try:
        return stdin.isatty() and os.tcgetpgrp(stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False


@contextmanager
def reading(stdin: TextIO) -> Iterator[Keys]:
    """Give the keys that are typed during the block. SIGTERM and SIGHUP end the block as Ctrl-C does."""
    descriptor = stdin.fileno()
    before = termios.tcgetattr(descriptor)
    handlers = {number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
