"""Gives each card of a graph a cell of one grid: packed components, hubs in a column at the right. Pure.

Cards whose places people chose, as annotations `gui-x` and `gui-y` say them, keep the order of these places.
They stand in the cells of the grid all the same, so that no card lies over another, and no line goes through
a card.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil, sqrt

from pushjuju.core.values import dataclass
from pushjuju.services.pictures import layering
from pushjuju.services.pictures.graph import Graph
from pushjuju.services.pictures.layering import Cell

_MOST_HUBS, _LEAST_OF_HUB, _HUB_SHARE = 24, 9, 1.2
_ASPECT = 0.62  # columns for each row of a picture of 1.7 : 1, as cells are broader than high


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The cells of one component: a rectangle that no other component enters."""

    column: int
    row: int
    columns: int
    rows: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """card -> (column, row), the hubs among the cards in the order of their column, and the blocks."""

    cells: Mapping[str, Cell]
    hubs: tuple[str, ...]
    blocks: tuple[Block, ...]


def place(graph: Graph) -> Placing:
    """Return the cells of all cards of a graph."""
    near = graph.neighbours()
    hubs = find_hubs(near)
    pairs = [(link.requirer, link.provider) for link in graph.links]
    packed = _packed([_component(graph, names, pairs) for names in components(near, hubs)])
    cells = {name: cell for block, own in packed for name, cell in own.items()}
    cells.update(_hub_cells(hubs, packed))
    return Placing(cells=cells, hubs=hubs, blocks=tuple(block for block, _ in packed))


def find_hubs(near: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return the cards with far more neighbours than others, the greatest number first."""
    least = max(_LEAST_OF_HUB, _HUB_SHARE * sqrt(len(near)))
    found = [name for name, others in near.items() if len(others) > least]
    return tuple(sorted(found, key=lambda name: (-len(near[name]), name))[:_MOST_HUBS])


def components(near: Mapping[str, Collection[str]], hubs: Collection[str] = ()) -> list[list[str]]:
    """Return the connected components without the hubs, the largest first, then by name."""
    left, found = sorted(set(near) - set(hubs), reverse=True), []
    seen = set(hubs)
    while left:
        start = left.pop()
        if start in seen:
            continue
        seen.add(start)
        names = [start]
        for name in names:  # grows as neighbours are found
            fresh = sorted(set(near[name]) - seen)
            seen.update(fresh)
            names += fresh
        found.append(sorted(names))
    return sorted(found, key=lambda names: (-len(names), names[0]))


def _component(graph: Graph, names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, Cell]:
    """Return the cells of a component: as people placed all its cards, else by layers."""
    if len(names) > 1 and graph.places.keys() >= set(names):
        return cells({name: graph.places[name] for name in names})
    inside = set(names)
    return layering.places(names, [pair for pair in pairs if inside.issuperset(pair)])


def _packed(components: Sequence[Mapping[str, Cell]]) -> list[tuple[Block, dict[str, Cell]]]:
    """Place each component at the first free rectangle, row by row, in a grid that is broad enough."""
    sizes = [
        (max(column for column, _ in cells.values()) + 1, max(row for _, row in cells.values()) + 1)
        for cells in components
    ]
    area = sum(columns * rows for columns, rows in sizes)
    breadth = max([ceil(sqrt(_ASPECT * area)), *(columns for columns, _ in sizes)], default=0)
    taken: set[Cell] = set()
    found, first = [], 0
    for cells, (columns, rows) in zip(components, sizes, strict=True):
        first = _first_open_row(taken, breadth, first)
        left, top = _free(taken, breadth, first, (columns, rows))
        taken.update((left + x, top + y) for x in range(columns) for y in range(rows))
        block = Block(column=left, row=top, columns=columns, rows=rows, names=tuple(sorted(cells)))
        found.append((block, {name: (left + x, top + y) for name, (x, y) in cells.items()}))
    return found


def _first_open_row(taken: set[Cell], breadth: int, row: int) -> int:
    while all((column, row) in taken for column in range(breadth)):
        row += 1
    return row


def _free(taken: set[Cell], breadth: int, row: int, size: Cell) -> Cell:
    """Return the left upper cell of the first free rectangle of a size, from a row on."""
    columns, rows = size
    while True:
        for left in range(breadth - columns + 1):
            if not any((left + x, row + y) in taken for x in range(columns) for y in range(rows)):
                return left, row
        row += 1


def _hub_cells(hubs: Sequence[str], packed: Sequence[tuple[Block, Mapping[str, Cell]]]) -> dict[str, Cell]:
    """Spread the hubs over the height of the picture, in as many columns as they need."""
    breadth = max((block.column + block.columns for block, _ in packed), default=0)
    height = max([block.row + block.rows for block, _ in packed], default=1)
    columns = ceil(len(hubs) / height)
    found: dict[str, Cell] = {}
    for at in range(columns):
        own = hubs[at * height : (at + 1) * height]
        step = height / len(own)
        found.update((name, (breadth + at, int((nth + 0.5) * step))) for nth, name in enumerate(own))
    return found


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
