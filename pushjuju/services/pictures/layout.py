"""The layout of a graph: where cards, chips, panels and lines are, in pixels. Pure and deterministic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from pushjuju.core.values import dataclass
from pushjuju.services.pictures import placing, routing
from pushjuju.services.pictures.graph import Card, Graph, Link
from pushjuju.services.pictures.layering import Cell
from pushjuju.services.pictures.looks import cut_middle, plain, width
from pushjuju.services.pictures.routing import Course, Tracks, Way

NAME_SIZE, TEXT_SIZE, CHIP_SIZE = 13.0, 11.0, 10.5
PAD, SHAPE, CHIP_HEIGHT = 10.0, 16.0, 17.0
HEAD = 50.0  # the part of a card above its chips
MARGIN, HEADING, LEGEND = 24.0, 58.0, 40.0
MOST_CHIPS = 3
NAME_LINE = 17.0  # between the lines of a long name
_NARROWEST, _BROADEST = 168.0, 320.0
_FOR_LINES = (230.0, 260.0, 290.0)  # widths of cards with names of several lines
_MOST_LINES = 3
_GUTTER, _GUTTER_LINE, _WIDEST_GUTTER, _HUB_GUTTER = 34.0, 3.0, 120.0, 90.0
_GAP, _TRACK, _HUB_TRACKS = 24.0, 5.0, 30.0
_PANEL = 9.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipPlace:
    """A chip and its box; without a status, the chip counts those that are not shown."""

    text: str
    status: str
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlace:
    """A card, its box and its chips."""

    card: Card
    box: Box
    chips: tuple[ChipPlace, ...]
    hub: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePlace:
    """A line: its first point, then three points for each cubic curve."""

    link: Link
    hub: bool
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A picture before it is drawn."""

    graph: Graph
    width: float
    height: float
    cards: tuple[CardPlace, ...]
    lines: tuple[LinePlace, ...]
    panels: tuple[Box, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Where the columns, rows and gaps are."""

    lefts: Sequence[float]
    widths: Sequence[float]
    gutters: Sequence[float]
    tops: Sequence[float]
    heights: Sequence[float]
    gaps: Sequence[float]  # gap -1 first
    tracks: Mapping[int, Tracks]


def lay_out(graph: Graph) -> Layout:
    placed = placing.place(graph)
    found, tracks = routing.courses(graph.links, placed.cells, placed.hubs)
    widths = _widths(graph, placed.cells)
    flows = {name: _flow(graph.cards[name], widths[cell[0]]) for name, cell in placed.cells.items()}
    heights = {
        name: _card_height(graph.cards[name], widths[cell[0]], flows[name])
        for name, cell in placed.cells.items()
    }
    grid = _grid(placed, widths, heights, found, tracks)
    boxes = {name: _box(grid, cell, heights[name]) for name, cell in placed.cells.items()}
    cards = tuple(
        CardPlace(
            card=graph.cards[name],
            box=boxes[name],
            chips=tuple(_moved(chip, boxes[name]) for chip in flows[name]),
            hub=name in placed.hubs,
        )
        for name in sorted(placed.cells, key=lambda name: (placed.cells[name], name))
    )
    lines = tuple(_lines(found, placed.cells, grid, boxes))
    return Layout(
        graph=graph,
        width=(grid.lefts[-1] + grid.widths[-1] if grid.lefts else 320.0)
        + MARGIN
        + _bows(found, placed.cells),
        height=(grid.tops[-1] + grid.heights[-1] + grid.gaps[-1] if grid.tops else HEADING) + LEGEND,
        cards=cards,
        lines=lines,
        panels=tuple(_panels(placed.blocks, grid, lines)),
    )


def _bows(found: Iterable[Course], cells: Mapping[str, Cell]) -> float:
    """Return the room at the right for lines between cards of the last column."""
    last = max((column for column, _ in cells.values()), default=0)
    bows = any(course.way is Way.BOW and cells[course.left][0] == last for course in found)
    return _GUTTER if bows else 0.0


# --- sizes ------------------------------------------------------------------------------------------------


def units_text(card: Card) -> str:
    """Return the number of units as a card shows it."""
    return f"×{card.units}" if card.units != 1 and card.kind == "application" else ""


def name_room(card: Card, breadth: float) -> float:
    """Return how many pixels the name has on a card of a breadth."""
    beside = width(units_text(card), TEXT_SIZE) + (PAD if card.units != 1 else 0)
    return breadth - 2 * PAD - SHAPE - 8 - beside - (14 if card.peers else 0)


def name_lines(card: Card, breadth: float) -> list[str]:
    """Return the name as a card of a breadth shows it, in three lines at most; the third may be cut."""
    rest, room, lines = plain(card.name), name_room(card, breadth), list[str]()
    while len(lines) < _MOST_LINES - 1 and width(rest, NAME_SIZE, bold=True) > room:
        fits = len(rest)
        while fits > 1 and width(rest[:fits], NAME_SIZE, bold=True) > room:
            fits -= 1
        after_dash = rest.rfind("-", 0, fits) + 1
        at = after_dash if after_dash > fits // 2 else fits
        lines.append(rest[:at])
        rest, room = rest[at:], breadth - 2 * PAD - SHAPE - 8
    return [*lines, cut_middle(rest, room, NAME_SIZE, bold=True)]


def _lifted(card: Card, breadth: float) -> float:
    """Return how much lower than usual the rest of a card begins."""
    return NAME_LINE * (len(name_lines(card, breadth)) - 1)


def _widths(graph: Graph, cells: Mapping[str, Cell]) -> list[float]:
    """Return the width of each column: that of its longest name or chip."""
    found = [_NARROWEST] * (max((column for column, _ in cells.values()), default=-1) + 1)
    for name, (column, _) in cells.items():
        card = graph.cards[name]
        chips = [_chip_width(text) + 2 * PAD for text, _ in _shown_chips(card)]
        found[column] = min(max(found[column], _name_width(card), *chips), _BROADEST)
    return found


def _name_width(card: Card) -> float:
    """Return the width of a card for its name: that of one line, or the least for several."""
    name = plain(card.name)
    needed = width(name, NAME_SIZE, bold=True) - name_room(card, 0.0) + 1
    if needed <= _BROADEST:
        return needed
    return next((wide for wide in _FOR_LINES if "".join(name_lines(card, wide)) == name), _BROADEST)


def _shown_chips(card: Card) -> list[tuple[str, str]]:
    """Return (text, status) of the chips: three names, then the number of the others."""
    shown = [(plain(chip.name), chip.status) for chip in card.chips[:MOST_CHIPS]]
    left = len(card.chips) - len(shown)
    return [*shown, (f"{left} more", "")] if left else shown


def _chip_width(text: str) -> float:
    return min(width(text, CHIP_SIZE) + 26, _BROADEST - 2 * PAD)


def _flow(card: Card, breadth: float) -> list[ChipPlace]:
    """Return the chips of a card in lines, placed from the card's left upper corner."""
    x, y, found = PAD, HEAD + _lifted(card, breadth), []
    for text, status in _shown_chips(card):
        wide = _chip_width(text)
        if x > PAD and x + wide > breadth - PAD:
            x, y = PAD, y + CHIP_HEIGHT + 4
        found.append(ChipPlace(text=text, status=status, box=Box(x, y, wide, CHIP_HEIGHT)))
        x += wide + 5
    return found


def _card_height(card: Card, breadth: float, flow: Sequence[ChipPlace]) -> float:
    return flow[-1].box.y + CHIP_HEIGHT + 11 if flow else HEAD + 4 + _lifted(card, breadth)


def _moved(chip: ChipPlace, card: Box) -> ChipPlace:
    box = Box(card.x + chip.box.x, card.y + chip.box.y, chip.box.width, chip.box.height)
    return ChipPlace(text=chip.text, status=chip.status, box=box)


def _grid(
    placed: placing.Placing,
    widths: Sequence[float],
    tall: Mapping[str, float],
    found: Iterable[Course],
    tracks: Mapping[int, Tracks],
) -> _Grid:
    rows = max((row for _, row in placed.cells.values()), default=-1) + 1
    heights = [0.0] * rows
    for name, (_, row) in placed.cells.items():
        heights[row] = max(heights[row], tall[name])
    gaps = [_GAP + _level(tracks[row]) if row in tracks else _GAP for row in range(-1, rows)]
    gutters = _gutters(len(widths), found, placed)
    lefts = list(accumulate((w + g for w, g in zip(widths, gutters, strict=True)), initial=MARGIN))[:-1]
    tops = list(
        accumulate((h + g for h, g in zip(heights, gaps[1:], strict=True)), initial=HEADING + gaps[0])
    )
    return _Grid(
        lefts=lefts, widths=widths, gutters=gutters, tops=tops[:-1], heights=heights, gaps=gaps, tracks=tracks
    )


def _gutters(columns: int, found: Iterable[Course], placed: placing.Placing) -> list[float]:
    """Return the width of the gutter at the right of each column, by the lines that turn in the gutter."""
    turns: Counter[int] = Counter()
    for course in found:
        if not course.hub:
            start, end = placed.cells[course.left][0], placed.cells[course.right][0]
            turns.update({start, max(end - 1, start)})
    first_hub = min((placed.cells[hub][0] for hub in placed.hubs), default=-1)
    return [
        max(
            min(_GUTTER + _GUTTER_LINE * turns[column], _WIDEST_GUTTER),
            _HUB_GUTTER if column == first_hub - 1 else 0.0,
        )
        for column in range(columns)
    ]


def _box(grid: _Grid, cell: Cell, tall: float) -> Box:
    column, row = cell
    return Box(grid.lefts[column], grid.tops[row], grid.widths[column], tall)


def _panels(blocks: Iterable[placing.Block], grid: _Grid, lines: Iterable[LinePlace]) -> Iterable[Box]:
    """Yield the ground behind each component of several cards, and behind the lines between them."""
    own: dict[str, list[Point]] = {}
    for line in lines:
        own.setdefault(line.link.requirer, []).extend(() if line.hub else line.points)
    for block in blocks:
        if len(block.names) > 1:
            points = [point for name in block.names for point in own.get(name, ())]
            right, below = block.column + block.columns - 1, block.row + block.rows - 1
            x, y = grid.lefts[block.column] - _PANEL, grid.tops[block.row] - _PANEL
            end_x = _end(grid.lefts, grid.widths, right, [px for px, _ in points])
            end_y = _end(grid.tops, grid.heights, below, [py for _, py in points])
            yield Box(x, y, end_x - x, end_y - y)


def _end(starts: Sequence[float], sizes: Sequence[float], last: int, lines: Sequence[float]) -> float:
    """Return where a ground ends: behind its last column or row and its lines, and before the next ground."""
    cards = starts[last] + sizes[last] + _PANEL
    room = starts[last + 1] - _PANEL - 2 if last + 1 < len(starts) else float("inf")
    return max(cards, min(max(lines, default=0.0) + _PANEL, room))


# --- lines ------------------------------------------------------------------------------------------------


def _lines(
    found: Sequence[Course], cells: Mapping[str, Cell], grid: _Grid, boxes: Mapping[str, Box]
) -> Iterable[LinePlace]:
    """Yield the lines: first those of hubs, which others are drawn over."""
    ports = _ports(found, cells, boxes)
    for at, course in sorted(enumerate(found), key=lambda pair: (not pair[1].hub, pair[0])):
        start, end = ports[at, "left"], ports[at, "right"]
        yield LinePlace(
            link=course.link, hub=bool(course.hub), points=_points(course, start, end, cells, grid)
        )


def _ports(
    found: Sequence[Course], cells: Mapping[str, Cell], boxes: Mapping[str, Box]
) -> dict[tuple[int, str], Point]:
    """Return where each end of each course meets its card: ends on one side are ordered by the other ends."""
    sides: dict[tuple[str, str], list[tuple[tuple[float, float], int, str]]] = {}
    for at, course in enumerate(found):
        for end, name, other in (("left", course.left, course.right), ("right", course.right, course.left)):
            side = "left" if end == "right" and course.way is not Way.BOW else "right"
            column, row = cells[other]
            own = cells[name][1]
            level = row if course.way is not Way.GAP else course.at + 0.5
            bend = abs(column - cells[name][0]) * (1 if level < own else -1)
            shared = "hub" if course.hub and name != course.hub else side
            sides.setdefault((name, shared), []).append(((level, bend), at, end))
    found_ports = {}
    for (name, side), ends in sides.items():
        box = boxes[name]
        x = box.x if side == "left" else box.x + box.width
        for nth, (_, at, end) in enumerate(sorted(ends)):
            y = box.y + 8 + (nth + 0.5) * (box.height - 16) / len(ends)
            found_ports[at, end] = (x, box.y + box.height - 9) if side == "hub" else (x, y)
    return found_ports


def _points(
    course: Course, start: Point, end: Point, cells: Mapping[str, Cell], grid: _Grid
) -> tuple[Point, ...]:
    """Return the curve of a course; each part stays inside one gutter, gap or row of free cells."""
    first, last = cells[course.left][0], cells[course.right][0] - 1
    if course.way is Way.BOW:
        reach = start[0] + min(grid.gutters[first] * 0.8, 14 + 0.06 * abs(end[1] - start[1]))
        return (start, (reach, start[1]), (reach, end[1]), end)
    if course.way is Way.NEAR:
        return (start, *_bend(start, end))
    if course.way is Way.GAP:
        level = _gap_level(grid, course)
    else:
        level = start[1] if course.at == cells[course.left][1] else end[1]
    enter = (grid.lefts[first + 1], level)
    leave = (grid.lefts[last] + grid.widths[last], level)
    return (start, *_bend(start, enter), *_straight(enter, leave), *_bend(leave, end))


def _level(tracks: Tracks, track: int | None = None) -> float:
    """Return the middle of a track below the first one's edge, or the height of all tracks."""
    step = min(_TRACK, _HUB_TRACKS / tracks.hubs) if tracks.hubs else 0.0
    if track is None:
        return _TRACK * tracks.lines + step * tracks.hubs
    if track < tracks.lines:
        return _TRACK * (track + 0.5)
    return _TRACK * tracks.lines + step * (track - tracks.lines + 0.5)


def _gap_level(grid: _Grid, course: Course) -> float:
    above = course.at < 0
    bottom = grid.tops[0] - grid.gaps[0] if above else grid.tops[course.at] + grid.heights[course.at]
    return bottom + _GAP / 2 + _level(grid.tracks[course.at], course.track)


def _bend(start: Point, end: Point) -> tuple[Point, Point, Point]:
    middle = (start[0] + end[0]) / 2
    return (middle, start[1]), (middle, end[1]), end


def _straight(start: Point, end: Point) -> tuple[Point, Point, Point]:
    return start, end, end
