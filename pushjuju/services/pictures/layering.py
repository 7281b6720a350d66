"""Places the cards of one component: columns from requirers on the left to providers on the right. Pure.

Everything is ordered by names where nothing else decides, so the same component always gets the same places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, fsum, sqrt

Cell = tuple[int, int]
"""(column, row)"""

_SWEEPS = 8
_LEAST_COLUMNS, _LEAST_ROWS = 4, 3
_ROWS, _COLUMNS = 1.3, 1.3


def places(names: Iterable[str], links: Sequence[tuple[str, str]]) -> dict[str, Cell]:
    """Return card -> (column, row) for a connected component with (requirer, provider) links."""
    known = sorted(names)
    rows = max(_LEAST_ROWS, ceil(sqrt(_ROWS * len(known))))
    layers = _narrowed(_layers(known, links), max(_LEAST_COLUMNS, ceil(_COLUMNS * sqrt(len(known)))))
    near = _neighbours(known, links)
    _order(layers, near)
    columns = [column for layer in layers for column in _dealt(layer, rows)]
    return _aligned(columns, near)


def _neighbours(names: Sequence[str], links: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {name: set() for name in names}
    for one, other in links:
        found[one].add(other)
        found[other].add(one)
    return {name: sorted(others) for name, others in found.items()}


def _layers(names: Sequence[str], links: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return the layers by the longest way from a requirer; cards that none requires are near providers."""
    after = _without_cycles(names, links)
    order = _topological(names, after)
    depth = dict.fromkeys(names, 0)
    for name in order:
        for other in after[name]:
            depth[other] = max(depth[other], depth[name] + 1)
    required = {other for others in after.values() for other in others}
    for name in reversed(order):
        if after[name] and name not in required:
            depth[name] = min(depth[other] for other in after[name]) - 1
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in names:
        layers[depth[name]].append(name)
    return [layer for layer in layers if layer]


def _without_cycles(names: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Return requirer -> providers; a link that closes a cycle, found in the order of names, is left out."""
    targets: dict[str, list[str]] = {name: [] for name in names}
    for one, other in sorted(links):
        targets[one].append(other)
    kept: dict[str, list[str]] = {name: [] for name in names}
    state = dict.fromkeys(names, 0)  # 0 new, 1 on the path, 2 done
    for start in names:
        path = [(start, iter(targets[start]))] if not state[start] else []
        while path:
            name, rest = path[-1]
            state[name] = 1
            other = next(rest, "")
            if not other:
                state[name] = 2
                path.pop()
            elif state[other] != 1:
                kept[name].append(other)
                if not state[other]:
                    path.append((other, iter(targets[other])))
    return kept


def _topological(names: Sequence[str], after: Mapping[str, Sequence[str]]) -> list[str]:
    waits = dict.fromkeys(names, 0)
    for others in after.values():
        for other in others:
            waits[other] += 1
    ready = [name for name in names if not waits[name]]
    for name in ready:  # grows as cards become ready
        for other in after[name]:
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    return ready


def _narrowed(layers: list[list[str]], most: int) -> list[list[str]]:
    """Join the two smallest neighbours among the layers until at most `most` are left."""
    while len(layers) > most:
        at = min(range(len(layers) - 1), key=lambda at: (len(layers[at]) + len(layers[at + 1]), at))
        layers[at : at + 2] = [sorted(layers[at] + layers[at + 1])]
    return layers


def _order(layers: list[list[str]], near: Mapping[str, Sequence[str]]) -> None:
    """Order each layer by the middle of its cards' neighbours, from left to right and back."""
    layer_of = {name: at for at, layer in enumerate(layers) for name in layer}
    place = {name: at / len(layer) for layer in layers for at, name in enumerate(layer)}
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            middles = {}
            for name in layer:
                around = [place[other] for other in near[name] if layer_of[other] != layer_of[name]]
                middles[name] = fsum(around) / len(around) if around else place[name]
            layer.sort(key=lambda name: (round(middles[name], 9), name))
            place.update((name, (at + 0.5) / len(layer)) for at, name in enumerate(layer))


def _dealt(layer: Sequence[str], rows: int) -> list[list[str]]:
    """Deal a layer out to as many columns as it needs: neighbours in the order stay in neighbouring rows."""
    columns = ceil(len(layer) / rows)
    return [list(layer[at::columns]) for at in range(columns)]


def _aligned(columns: Sequence[Sequence[str]], near: Mapping[str, Sequence[str]]) -> dict[str, Cell]:
    """Give each card a row near the rows of its neighbours; the order in the column stays."""
    height = max(len(column) for column in columns)
    rows: dict[str, int] = {}
    for column in columns:
        start = (height - len(column)) // 2
        rows.update((name, start + at) for at, name in enumerate(column))
    column_of = {name: at for at, column in enumerate(columns) for name in column}
    for _ in range(2):
        for column in (*columns, *reversed(columns)):
            wanted = []
            for name in column:
                around = [rows[other] for other in near[name] if column_of[other] != column_of[name]]
                wanted.append(fsum(around) / len(around) if around else float(rows[name]))
            rows.update(zip(column, _fitted(wanted, height), strict=True))
    top = min(rows.values())
    return {name: (column_of[name], rows[name] - top) for name in rows}


def _fitted(wanted: Sequence[float], height: int) -> list[int]:
    """Return rising rows below `height` with the least sum of distances from the wanted rows."""
    best: list[list[tuple[float, int]]] = []  # card -> row -> (cost so far, row of this card)
    for at, target in enumerate(wanted):
        line: list[tuple[float, int]] = []
        for row in range(height):
            before = (best[-1][row - 1][0] if row else float("inf")) if at else 0.0
            here = (before + abs(row - target), row)
            line.append(min(line[-1], here, key=lambda found: found[0]) if line else here)
        best.append(line)
    found, row = [], height - 1
    for line in reversed(best):
        row = line[row][1]
        found.append(row)
        row -= 1
    return found[::-1]
