"""Colours on the terminal: which words get which colour, and when colours are on.

Pure. The length of a coloured text is its length without colours, so tables stay aligned.
Mirrors: juju cmd/output/output.go (3.6)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pushjuju.core.values import regex

GREEN: Final = "32"
YELLOW: Final = "33"
RED: Final = "91"
CYAN: Final = "96"
MAGENTA: Final = "35"
BRIGHT_MAGENTA: Final = "95"
GRAY: Final = "90"
BOLD: Final = "1"
BOLD_CYAN: Final = "1;96"

_CONTROLS = regex(r"\x1b\[[0-9;]*m|\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_STATUS = {
    word: colour
    for colour, words in (
        (GREEN, "active running idle started executing attaching attached"),
        (YELLOW, "allocating lost maintenance pending rebooting stopped unknown detaching detached"),
        (RED, "blocked down error failed terminated"),
    )
    for word in words.split()
}


class Painted(str):
    """A text with a colour; `str` sees only the plain text."""

    __slots__ = ("colour",)
    colour: str

    def __new__(cls, text: str, colour: str) -> Painted:
        """Make the text; `colour` is an SGR parameter, empty for no colour."""
        made = super().__new__(cls, text)
        made.colour = colour
        return made


class Joined(str):
    """The text of a cell with several parts, each with a colour of its own."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Joined:
        """Join the texts."""
        made = super().__new__(cls, "".join(parts))
        made.parts = parts
        return made


def paint(text: str, colour: str) -> str:
    """Return the text with its colour as escape sequences."""
    return Painted(text, colour) if text and colour else text


@lru_cache(maxsize=256)
def paint_status(word: str, suffix: str = "") -> str:
    """Return a status word and the text behind it, in Juju's colour for the word."""
    return paint(word + suffix, _STATUS.get(word, ""))


def escape(text: str) -> str:
    """Return a cell with escape sequences for its colours."""
    if isinstance(text, Joined):
        return "".join(map(escape, text.parts))
    return f"\x1b[{text.colour}m{text}\x1b[0m" if isinstance(text, Painted) and text.colour else text


def harmless(text: str) -> str:
    """Return a text without dangerous control characters: charms choose texts in statuses, logs, results.

    Colours, tabs and line ends stay; other control characters, also those that change the direction of
    writing, are replaced by visible escapes. A colour ends with its line, so that it does not change the
    lines below.
    """
    shown = _CONTROLS.sub(_shown, text)
    return "\n".join(map(_closed, shown.split("\n"))) if "\x1b" in shown else shown


def _closed(line: str) -> str:
    """Return a line with its last colour switched off at the end."""
    _, begins, last = line.rpartition("\x1b[")
    if not begins or last.startswith(("0m", "m")):
        return line
    body = line.removesuffix("\r")
    return f"{body}\x1b[0m{line[len(body) :]}"


def _shown(found: re.Match[str]) -> str:
    control = found[0]
    return control if len(control) > 1 else control.encode("unicode_escape").decode("ascii")


def colours_on(env: Mapping[str, str], *, terminal: bool, force: bool = False, never: bool = False) -> bool:
    """Return True when the output gets colours.

    Args:
        env: The environment; `NO_COLOR` (any value) and `TERM=dumb` switch colours off.
        terminal: Whether the text goes to a terminal.
        force: `--color`; beats the environment.
        never: `--no-color`; beats everything.
    """
    if never or force:
        return not never
    return terminal and "NO_COLOR" not in env and env.get("TERM") != "dumb"
