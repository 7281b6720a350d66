"""Draws machines as SVG: a grid by zone, with containers and units inside; or squares, when many. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from math import ceil, fsum, sqrt

from pushjuju.services.pictures import svg
from pushjuju.services.pictures.layout import (
    CHIP_SIZE,
    HEADING,
    LEGEND,
    MARGIN,
    NAME_SIZE,
    PAD,
    TEXT_SIZE,
    Box,
)
from pushjuju.services.pictures.looks import Look, cut_end, cut_middle, look_of, rank, width
from pushjuju.services.pictures.machine_tree import Machine, everything, worst

MOST_CARDS = 100
_HEAD, _INNER_HEAD, _UNIT, _SPACE, _BETWEEN = 48.0, 25.0, 17.0, 14.0, 6.0
_ONE_COLUMN = 3  # so many containers stand below each other; more form a grid
_NARROWEST, _ADDRESS, _BROADEST = 150.0, 240.0, 420.0
_SQUARE, _ZONE = 46.0, 30.0
_ASPECT = 1.7


def draw(name: str, machines: Sequence[Machine], address: svg.Address | None = None) -> str:
    """Return the SVG of machines, which are ordered by zone; with addresses, machines are links."""
    compact = len(machines) > MOST_CARDS
    least = min(max((width(machine.about, TEXT_SIZE) for machine in machines), default=0) + 2 * PAD, _ADDRESS)
    sizes = {item.name: (_SQUARE, _SQUARE) if compact else _size(item, least=least) for item in machines}
    area = fsum((wide + _SPACE) * (tall + _SPACE) for wide, tall in sizes.values())
    room = max([sqrt(area * _ASPECT), *(wide + _SPACE for wide, _ in sizes.values())])
    parts, y, right = [], HEADING, 300.0
    for zone, found in groupby(machines, key=lambda machine: machine.zone):
        y += _ZONE
        parts.append(f'<text class="q" x="{MARGIN:g}" y="{y - 10:.1f}">{svg.escaped(zone)}</text>')
        for row in _rows(list(found), sizes, room):
            tall = max(sizes[machine.name][1] for machine in row)
            x = MARGIN
            for machine in row:
                wide = sizes[machine.name][0]
                drawn = _square(machine, x, y) if compact else _card(machine, Box(x, y, wide, tall))
                parts.append(_group(machine, drawn, address))
                x += wide + _SPACE
            y, right = y + tall + _SPACE, max(right, x)
    looks = svg.by_look({word for machine in machines for word in _words(machine)})
    told = _summary(machines)
    start = svg.heading(svg.with_texts(right - _SPACE + MARGIN, name, told, looks), y + LEGEND, name, told)
    return "\n".join([*start, *parts, *svg.legend(looks, MARGIN, y + LEGEND / 2), "</svg>"]) + "\n"


def _rows(
    machines: Sequence[Machine], sizes: Mapping[str, tuple[float, float]], room: float
) -> Iterator[list[Machine]]:
    """Yield rows of machines that fit into the room."""
    row: list[Machine] = []
    used = 0.0
    for machine in machines:
        wide = sizes[machine.name][0] + _SPACE
        if row and used + wide > room:
            yield row
            row, used = [], 0.0
        row.append(machine)
        used += wide
    yield row


def _words(machine: Machine) -> Iterator[str]:
    yield machine.status
    yield from (unit.status for unit in machine.units)
    for container in machine.containers:
        yield from _words(container)


def _summary(machines: Sequence[Machine]) -> str:
    counts = Counter(worst(machine) for machine in machines)
    bad = [
        f"{counts[word]} {word}"
        for word in sorted(counts, key=lambda word: (rank(word), word))
        if look_of(word) in (Look.ERROR, Look.BLOCKED)
    ]
    return ", ".join([svg.many(len(machines), "machine"), *bad])


def _names(machine: Machine) -> Iterator[float]:
    """Yield how broad the machine's own lines are, but for the one with the address."""
    yield width(f"{machine.name} {machine.status}", NAME_SIZE, bold=True) + 2 * PAD + 24
    for unit in machine.units:
        yield width(unit.name, CHIP_SIZE) + 2 * PAD + (32 if unit.subordinate else 18)


def _size(machine: Machine, head: float = _HEAD, least: float = _NARROWEST) -> tuple[float, float]:
    """Return (width, height) of a machine: its own lines, and its containers in a grid below them."""
    own = min(max(least, _NARROWEST, *_names(machine)), _BROADEST)
    widths, heights = _grid(machine)
    across = fsum(widths) + _BETWEEN * len(widths) - _BETWEEN + 2 * PAD if widths else 0.0
    down = fsum(heights) + _BETWEEN * len(heights) if heights else 0.0
    return max(own, across), head + _UNIT * len(machine.units) + down + 6


def _grid(machine: Machine) -> tuple[list[float], list[float]]:
    """Return the widths of the columns and the heights of the rows of a machine's containers."""
    sizes = [_size(container, _INNER_HEAD) for container in machine.containers]
    columns = ceil(sqrt(len(sizes))) if len(sizes) > _ONE_COLUMN else min(len(sizes), 1)
    widths = [max(wide for wide, _ in sizes[at::columns]) for at in range(columns)]
    starts = range(0, len(sizes), columns or 1)
    return widths, [max(tall for _, tall in sizes[at : at + columns]) for at in starts]


def _group(machine: Machine, drawn: str, address: svg.Address | None) -> str:
    """Return a machine as a group or a link, with everything in it as its label."""
    told, to = (
        svg.escaped("; ".join(everything(machine))),
        address("machine", machine.name) if address else "",
    )
    start, end = svg.open_group(to, f'class="{look_of(worst(machine))}"', told)
    return f"{start}{drawn}{end}"


def _square(machine: Machine, x: float, y: float) -> str:
    return (
        f'<rect class="c" {svg.rectangle(Box(x, y, _SQUARE, _SQUARE))} rx="5"/>'
        f"{svg.shape(worst(machine), x + 15, y + 6)}"
        f'<text class="s" text-anchor="middle" x="{x + _SQUARE / 2:.1f}" y="{y + 38:.1f}">'
        f"{svg.escaped(cut_middle(machine.name, _SQUARE - 4, CHIP_SIZE))}</text>"
    )


def _card(machine: Machine, box: Box) -> str:
    x, y, room = box.x, box.y, box.width - 2 * PAD
    title = cut_middle(f"{machine.name} {machine.status}", room - 24, NAME_SIZE, bold=True)
    about = cut_end(machine.about, room, TEXT_SIZE)
    parts = [
        f'<rect class="c" {svg.rectangle(box)} rx="7"/>',
        svg.shape(machine.status, x + PAD, y + 9),
        f'<text class="n" x="{x + PAD + 24:.1f}" y="{y + 22:.1f}">{svg.escaped(title)}</text>',
        f'<text class="q" x="{x + PAD:.1f}" y="{y + 39:.1f}">{svg.escaped(about)}</text>',
        *_inside(machine, x + PAD, y + _HEAD, room),
    ]
    return "".join(parts)


def _inside(machine: Machine, x: float, y: float, room: float) -> Iterator[str]:
    """Yield the units of a machine, and its containers below them."""
    for unit in machine.units:
        left = x + (14 if unit.subordinate else 0)
        yield svg.shape(unit.status, left, y + 3, 10)
        yield (
            f'<text class="s{" q" if unit.subordinate else ""}" x="{left + 16:.1f}" y="{y + 12:.1f}">'
            f"{svg.escaped(cut_middle(unit.name, room - (30 if unit.subordinate else 16), CHIP_SIZE))}</text>"
        )
        y += _UNIT
    widths, heights = _grid(machine)
    lefts = list(accumulate((wide + _BETWEEN for wide in widths), initial=x))
    tops = list(accumulate((tall + _BETWEEN for tall in heights), initial=y))
    for number, container in enumerate(machine.containers):
        row, column = divmod(number, len(widths))
        yield from _container(container, Box(lefts[column], tops[row], widths[column], heights[row]))


def _container(container: Machine, box: Box) -> Iterator[str]:
    x, y = box.x, box.y
    yield f'<g class="{look_of(worst(container))}"><rect class="c" {svg.rectangle(box)} rx="5"/>'
    yield svg.shape(container.status, x + PAD, y + 6, 11)
    title = cut_middle(f"{container.name} {container.status}", box.width - 2 * PAD - 18, TEXT_SIZE)
    yield f'<text class="q" x="{x + PAD + 18:.1f}" y="{y + 16:.1f}">{svg.escaped(title)}</text>'
    yield from _inside(container, x + PAD, y + _INNER_HEAD, box.width - 2 * PAD)
    yield "</g>"
