"""The cells of cards whose places people chose, as annotations `gui-x` and `gui-y` say them. Pure.

Cards keep the order in which people placed them. They stand in the cells of the grid all the same, so that no
card lies over another, and no line goes through a card.
"""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.services.pictures.layering import Cell

Place = tuple[float, float]
_NEAR = (120.0, 60.0)  # pixels between cards that share a column, and between those that share a row


def cells(places: Mapping[str, Place]) -> dict[str, Cell]:
    """Return card -> (column, row); of two cards at one place, the second stands below the first."""
    columns, rows = (_ranks({name: at[side] for name, at in places.items()}, _NEAR[side]) for side in (0, 1))
    found: dict[str, Cell] = {}
    taken: set[Cell] = set()
    for name in sorted(places, key=lambda name: (rows[name], places[name][1], name)):
        column, row = columns[name], rows[name]
        while (column, row) in taken:
            row += 1
        taken.add((column, row))
        found[name] = (column, row)
    return found


def _ranks(values: Mapping[str, float], near: float) -> dict[str, int]:
    """Return name -> number of its group, from the least value; a group holds values near its first."""
    found: dict[str, int] = {}
    rank, first = -1, -float("inf")
    for name in sorted(values, key=lambda name: (values[name], name)):
        if values[name] - first > near:
            rank, first = rank + 1, values[name]
        found[name] = rank
    return found
