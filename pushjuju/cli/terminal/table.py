"""Small functions that several tables share. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pushjuju.cli.terminal.paint import BOLD, GRAY, paint
from pushjuju.portable.natural import natural_order

LONGEST_MESSAGE = 120


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
