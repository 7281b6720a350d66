"""How each status looks: a shape, a word and a colour, so that no picture depends on colours alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pushjuju.core.values import dataclass


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
