"""How wide a text is in a picture, and how a text that is too long is cut. Pure.

A picture is drawn without a font to measure: the widths are those of DejaVu Sans, the widest usual font.
"""

from __future__ import annotations

import unicodedata

_REGULAR = {"narrow": 0.34, "slim": 0.43, "usual": 0.62, "capital": 0.74, "broad": 1.0}
_BOLD = {"narrow": 0.40, "slim": 0.50, "usual": 0.71, "capital": 0.82, "broad": 1.11}
_NARROW, _SLIM, _BROAD = frozenset("ijl.,:;|!'`/"), frozenset('frt-()[]{} *"\\I'), frozenset("mwMW@%…#")
_WIDE = frozenset("WF")
ELLIPSIS = "…"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how many pixels a text takes at a size of the font."""
    table = _BOLD if bold else _REGULAR
    return size * sum(table[_group(letter)] for letter in text)


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
