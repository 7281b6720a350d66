"""How each status looks: a shape, a word and a colour, so that no picture depends on colours alone.

And how wide a text is in a picture, and how a text that is too long is cut. Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from math import fsum

from pushjuju.core.values import dataclass

# There is no font to measure: the widths are those of DejaVu Sans, the widest usual font.
_REGULAR = {"narrow": 0.34, "slim": 0.43, "usual": 0.62, "capital": 0.74, "broad": 1.0}
_BOLD = {"narrow": 0.40, "slim": 0.50, "usual": 0.71, "capital": 0.82, "broad": 1.11}
_NARROW, _SLIM, _BROAD = frozenset("ijl.,:;|!'`/"), frozenset('frt-()[]{} *"\\I'), frozenset("mwMW@%…#")
_WIDE = frozenset("WF")
ELLIPSIS = "…"


class Look(StrEnum):
    """The groups of statuses that look alike."""

    OK = "ok"
    BUSY = "busy"
    WAITING = "waiting"
    BLOCKED = "blocked"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Colours:
    """The colour of a look on light and on dark ground, each with a contrast of 4.5 : 1 or more."""

    light: str
    dark: str


COLOURS = {
    Look.OK: Colours("#1a7f37", "#3fb950"),
    Look.BUSY: Colours("#0969da", "#79c0ff"),
    Look.WAITING: Colours("#57606a", "#9da7b3"),
    Look.BLOCKED: Colours("#9a4b00", "#e3b341"),
    Look.ERROR: Colours("#c1121f", "#ff7b72"),
    Look.UNKNOWN: Colours("#57606a", "#9da7b3"),
}

SHAPES = {
    Look.OK: "M2.5 8.5 6.5 12.5 13.5 4",
    Look.BUSY: "M8 2.5V13.5M2.5 8H13.5",
    Look.WAITING: "M8 1.5A6.5 6.5 0 1 1 8 14.5A6.5 6.5 0 1 1 8 1.5M8 4.5V8.5L10.5 10.5",
    Look.BLOCKED: "M3 3H13V13H3Z",
    Look.ERROR: "M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5",
    Look.UNKNOWN: "M3 8H13",
}
"""The path of each look's shape, in a square of 16 x 16."""

SIGNS = {
    Look.OK: "✓",
    Look.BUSY: "+",
    Look.WAITING: "◷",
    Look.BLOCKED: "□",
    Look.ERROR: "✗",
    Look.UNKNOWN: "–",
}
"""A letter with the shape of each look, for pictures that are text."""

_WORDS = {
    Look.OK: "active started ok completed running idle joined applied available attached",
    Look.BUSY: "maintenance executing rebooting",
    Look.WAITING: "waiting pending allocating joining attaching detaching",
    Look.BLOCKED: "blocked suspended",
    Look.ERROR: "error failed lost down killed",
    Look.UNKNOWN: "unknown terminated unset stopped",
}
_LOOK_OF = {word: look for look, words in _WORDS.items() for word in words.split(" ")}
_LOOK_OF["provisioning error"] = Look.ERROR

_WORST_FIRST = (Look.ERROR, Look.BLOCKED, Look.BUSY, Look.WAITING, Look.UNKNOWN, Look.OK)
_RANKS = {look: rank for rank, look in enumerate(_WORST_FIRST)}


def look_of(word: str) -> Look:
    return _LOOK_OF.get(word, Look.UNKNOWN)


def rank(word: str) -> int:
    """Return the place of a status among all, the worst first, from 0."""
    return _RANKS[look_of(word)]


def in_order(looks: Iterable[Look]) -> list[Look]:
    """Return looks without repetition, the worst first."""
    return sorted(set(looks), key=_RANKS.__getitem__)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how many pixels a text takes at a size of the font."""
    table = _BOLD if bold else _REGULAR
    return size * fsum(table[_group(letter)] for letter in text)


def _group(letter: str) -> str:
    if letter in _NARROW:
        return "narrow"
    if letter in _SLIM:
        return "slim"
    if letter in _BROAD:
        return "broad"
    if letter.isascii():
        return "capital" if letter.isupper() else "usual"
    return "broad" if unicodedata.east_asian_width(letter) in _WIDE else "capital"


def cut_end(text: str, most: float, size: float) -> str:
    """Return the start of a text that fits into `most` pixels, with an ellipsis for the rest."""
    if width(text, size) <= most:
        return text
    room, kept = most - width(ELLIPSIS, size), []
    for letter in text:
        room -= width(letter, size)
        if room < 0:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + ELLIPSIS


def cut_middle(text: str, most: float, size: float, *, bold: bool = False) -> str:
    """Return a name that fits into `most` pixels: the start and the end, and an ellipsis between them."""
    keep = len(text)
    shown = text
    while keep > 2 and width(shown, size, bold=bold) > most:
        keep -= 1
        shown = text[: (keep + 1) // 2] + ELLIPSIS + text[len(text) - keep // 2 :]
    return shown


def plain(text: str) -> str:
    """Return a text in one line: a control or direction character is shown as its code."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if letter in "\n\t ":
        return " "
    if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"<{ord(letter):04X}>"
    return letter
