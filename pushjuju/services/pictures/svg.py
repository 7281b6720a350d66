"""Draws a layout as SVG: no script, both colour schemes, every text escaped. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum

from pushjuju.core.values import regex
from pushjuju.services.pictures.graph import Card, Link
from pushjuju.services.pictures.layout import (
    CHIP_SIZE,
    HEADING,
    LEGEND,
    MARGIN,
    NAME_LINE,
    NAME_SIZE,
    PAD,
    SHAPE,
    TEXT_SIZE,
    Box,
    CardPlace,
    ChipPlace,
    Layout,
    LinePlace,
    name_lines,
    units_text,
)
from pushjuju.services.pictures.looks import (
    COLOURS,
    SHAPES,
    Look,
    cut_end,
    cut_middle,
    in_order,
    look_of,
    plain,
    width,
)

Address = Callable[[str, str], str]
"""(kind, name) of an entity -> the address of its page; the kinds: application, unit, machine, run."""
Looks = Sequence[tuple[Look, str]]
"""The looks in a picture with their words."""

_MOST_RELATIONS = 12
_TITLE_SIZE = 17.0
_STYLE = regex("<style>[^<]*</style>")
_BUSY = regex('<path( class="i busy")( transform="[^"]*")( d="[^"]*"/>)')
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_FONT = 'system-ui,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif'
_LIGHT = {
    "ground": "#ffffff", "card": "#ffffff", "panel": "#f6f8fa", "edge": "#afb8c1", "text": "#1f2328",
    "quiet": "#57606a", "line": "#6e7781", "hub": "#dfe3e8",
}  # fmt: skip
_DARK = {
    "ground": "#0d1117", "card": "#161b22", "panel": "#11161d", "edge": "#3d444d", "text": "#e6edf3",
    "quiet": "#9da7b3", "line": "#8b949e", "hub": "#262c34",
}  # fmt: skip
_THEMES = (
    {**_LIGHT, **{look.value: found.light for look, found in COLOURS.items()}},
    {**_DARK, **{look.value: found.dark for look, found in COLOURS.items()}},
)
_VARIABLE = regex(r"var\(--(\w+)\)")
_FORMS = (
    f"text{{font-family:{_FONT};font-size:{TEXT_SIZE:g}px}}"
    f".n{{font-size:{NAME_SIZE:g}px;font-weight:600}}.t{{font-size:{_TITLE_SIZE:g}px;font-weight:600}}"
    f".s{{font-size:{CHIP_SIZE:g}px}}.e,.l,.h,.w,.i{{fill:none}}.l,.h{{stroke-width:1.4}}"
    ".consumed>.c{stroke-dasharray:5 3}.error>.c{stroke-width:3}.blocked>.c{stroke-width:2}"
    ".w{stroke-width:4}.b{stroke-dasharray:6 4}"
    ".i{stroke-width:2;stroke-linecap:round;stroke-linejoin:round}.m{paint-order:stroke;stroke-width:4px}"
)
_PAINT = (
    "svg{color:var(--text)}.z{fill:var(--ground)}text{fill:var(--text)}.q{fill:var(--quiet)}.p{fill:var(--panel)}"
    ".c{fill:var(--card);stroke:var(--edge)}.e{stroke:var(--edge)}.error>.c{stroke:var(--error)}"
    ".blocked>.c{stroke:var(--blocked)}g:hover>.c{stroke:var(--text)}"
    ".l{stroke:var(--line)}.h{stroke:var(--hub)}.w,.m{stroke:var(--ground)}"
    + "".join(f".i.{look}{{stroke:var(--{look})}}.f.{look}{{fill:var(--{look})}}" for look in Look)
)


def escaped(text: str) -> str:
    """Return a text for an element or an attribute of XML; control characters are shown as their codes."""
    return plain(text).translate(_ENTITIES)


def draw(layout: Layout, address: Address | None = None) -> str:
    """Return the whole SVG of a layout; with addresses, the applications are links."""
    name, told, looks = layout.graph.name, summary(layout), _looks(layout)
    parts = [
        *heading(with_texts(layout.width, name, told, looks), layout.height, name, told),
        *(_panel(box) for box in layout.panels),
        *_lines(layout),
        *(_card(place, number, address) for number, place in enumerate(layout.cards)),
        *_numbers(layout.lines),
        *legend(looks, MARGIN, layout.height - LEGEND / 2),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def summary(layout: Layout) -> str:
    """Return the line below the title: how many there are of what, and how many are not well."""
    graph = layout.graph
    counts: Counter[str] = Counter()
    for card in graph.cards.values():
        for status, number in card.counts if card.kind == "group" else [(card.status, 1)]:
            counts[status] += number if look_of(status) in (Look.ERROR, Look.BLOCKED) else 0
    words = [
        many(graph.applications, "application"),
        many(graph.units, "unit"),
        many(graph.machines, "machine"),
        *(f"{number} {status}" for status, number in counts.most_common() if number),
    ]
    return ", ".join(words)


def many(number: int, noun: str) -> str:
    """Return `1 unit` or `2 units`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def heading(width: float, height: float, name: str, told: str) -> Iterator[str]:
    """Yield the start of an SVG: sizes, title, description, style."""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-labelledby="title about">'
    )
    yield f'<title id="title">{escaped(name)}</title>'
    yield f'<desc id="about">{escaped(told)}</desc>'
    yield f"<style>{style()}</style>"
    yield '<rect class="z" width="100%" height="100%"/>'
    yield f'<text class="t" x="{MARGIN:g}" y="{HEADING / 2:g}">{escaped(name)}</text>'
    yield f'<text class="q" x="{MARGIN:g}" y="{HEADING / 2 + 18:g}">{escaped(told)}</text>'


def with_texts(least: float, name: str, told: str, looks: Looks) -> float:
    """Return the width of a picture in which title, summary and legend have room, too."""
    title, line = width(plain(name), _TITLE_SIZE, bold=True), width(plain(told), TEXT_SIZE)
    return max(least, MARGIN * 2 + max(title, line, fsum(_legend_step(words) for _, words in looks)))


def of_page(text: str) -> str:
    """Return an SVG as an element of a page whose style sheet has `style`; its links are read aloud.

    The shapes of busy statuses are in groups, so that the style sheet can turn them around their middle.
    """
    text = _BUSY.sub(r"<g\2><path\1\3</g>", text)
    return _STYLE.sub("", text).replace('role="img"', 'role="group"', 1)


def open_group(to: str, attributes: str, label: str) -> tuple[str, str]:
    """Return the start and the end of a group with a title; with an address it is a link of that name."""
    if to:
        return f'<a href="{escaped(to)}" {attributes}><title>{label}</title>', "</a>"
    return f'<g {attributes} role="group" aria-label="{label}"><title>{label}</title>', "</g>"


def style() -> str:
    """Return the style sheet: colours for a light and a dark ground, chosen by the viewer.

    Many viewers know neither variables nor `@media`: they show the light colours.
    """
    return f":root{{color-scheme:light dark}}{_FORMS}{themed(_PAINT)}"


def themed(rules: str) -> str:
    """Return rules with the light colours in place of variables, and with the dark ones for dark grounds."""
    light, dark = (_VARIABLE.sub(partial(_colour, theme), rules) for theme in _THEMES)
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _colour(theme: Mapping[str, str], found: re.Match[str]) -> str:
    return theme[found[1]]


def variables() -> str:
    """Return the colours as variables, for the style sheet of pages."""
    light, dark = (";".join(f"--{name}:{value}" for name, value in theme.items()) for theme in _THEMES)
    return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"


def shape(status: str, x: float, y: float, size: float = SHAPE) -> str:
    """Return the shape of a status with its left upper corner at a point."""
    look = look_of(status)
    scale = f" scale({size / 16:g})" if size != SHAPE else ""
    return f'<path class="i {look}" transform="{_moved(x, y)}{scale}" d="{SHAPES[look]}"/>'


def _moved(x: float, y: float) -> str:
    return f"translate({_short(x)} {_short(y)})"


def legend(looks: Looks, x: float, y: float) -> Iterator[str]:
    """Yield the shapes in the picture with their words."""
    for look, words in looks:
        yield f'<path class="i {look}" transform="translate({x:.1f} {y - 12:.1f})" d="{SHAPES[look]}"/>'
        yield f'<text class="q" x="{x + 22:.1f}" y="{y:.1f}">{escaped(words)}</text>'
        x += _legend_step(words)


def _legend_step(words: str) -> float:
    return 22 + 7.5 * len(words) + 22


def _looks(layout: Layout) -> Looks:
    return by_look({word for card in layout.graph.cards.values() for word in _words(card)})


def _words(card: Card) -> Iterator[str]:
    """Yield the statuses that a card shows: its own, those of its chips, and those of the bar."""
    yield card.status
    yield from (chip.status for chip in card.chips)
    yield from (status for status, _ in card.counts if card.units)


def by_look(words: Collection[str]) -> Looks:
    """Return (look, its words) for the statuses in a picture, the worst first."""
    return [
        (look, ", ".join(sorted(word for word in words if look_of(word) is look)))
        for look in in_order(look_of(word) for word in words)
    ]


# --- lines ------------------------------------------------------------------------------------------------


def _panel(box: Box) -> str:
    return f'<rect class="p" {rectangle(box)} rx="12"/>'


def rectangle(box: Box) -> str:
    x, y, wide, high = (_short(value) for value in (box.x, box.y, box.width, box.height))
    return f'x="{x}" y="{y}" width="{wide}" height="{high}"'


def _short(pixels: float) -> str:
    """Return a number with one digit after the point, or none when that digit is 0."""
    return f"{pixels:.1f}".removesuffix(".0")


def _lines(layout: Layout) -> Iterator[str]:
    """Yield the lines; a line is strong while the pointer is on a card at one of its ends."""
    numbers = {place.card.name: number for number, place in enumerate(layout.cards)}
    yield f"<style>{strong_lines(len(numbers))}</style>" if layout.lines else ""
    for line in layout.lines:
        ends = f"k{numbers[line.link.requirer]} k{numbers[line.link.provider]}"
        words = f"{'h' if line.hub else 'l'} {ends}{' b' if line.link.broken else ''}"
        told = escaped(_relations(line.link))
        yield f'<path class="{words}" d="{_path(line)}"><title>{told}</title></path>'


def strong_lines(cards: int, when: str = "hover") -> str:
    """Return the rule for the lines of a card in a state: `hover`, `focus`."""
    marked = ",".join(f"svg:has(#c{number}:{when}) .k{number}" for number in range(cards))
    return f"{marked}{{stroke:currentColor;stroke-width:2.2}}"


def _relations(link: Link) -> str:
    left = len(link.relations) - _MOST_RELATIONS
    return "; ".join(link.relations[:_MOST_RELATIONS]) + (f"; {left} more" if left > 0 else "")


def _path(line: LinePlace) -> str:
    """Return the curve of a line in whole pixels; each part counts from the end of the part before."""
    points = [(round(x), round(y)) for x, y in line.points]
    (x, y), rest = points[0], points[1:]
    words = [f"M{x} {y}"]
    for at in range(0, len(rest), 3):
        part = rest[at : at + 3]
        if all(point[1] == y for point in part):
            words.append(f"h{part[-1][0] - x}")
        else:
            words.append("c" + " ".join(f"{right - x} {down - y}" for right, down in part))
        x, y = part[-1]
    return "".join(words)


def _numbers(lines: Iterable[LinePlace]) -> Iterator[str]:
    """Yield the number of relations beside the right end of a line that stands for several."""
    for line in lines:
        if len(line.link.relations) > 1 and not line.hub:
            (x, y), (before, _) = line.points[-1], line.points[-2]
            number = len(line.link.relations)
            x += 4 if before > x else -6 - 7 * len(str(number))
            yield f'<text class="q s m" x="{x:.1f}" y="{y + 4:.1f}">{number}</text>'


# --- cards ------------------------------------------------------------------------------------------------


def _card(place: CardPlace, number: int, address: Address | None) -> str:
    """Return a card: what is on the card is placed from its corner, so cards of one size are alike."""
    card, at = place.card, place.box
    box = Box(0, 0, at.width, at.height)
    label, room = escaped(_label(card)), box.width - 2 * PAD
    lines = name_lines(card, box.width)
    second = escaped(cut_end(_second_line(card), room, TEXT_SIZE))
    to = address(card.kind, card.name) if address else ""
    about = f'class="{card.kind} {look_of(card.status)}" id="c{number}" transform="{_moved(at.x, at.y)}"'
    start, end = open_group(to, about, label)
    parts = [
        start,
        *_frame(card, box),
        shape(card.status, PAD, 9),
        *(
            f'<text class="n" x="{PAD + SHAPE + 8:g}" y="{22 + NAME_LINE * at:g}">{escaped(line)}</text>'
            for at, line in enumerate(lines)
        ),
        *_marks(card, box),
        f'<text class="q" x="{PAD:g}" y="{24 + NAME_LINE * len(lines):g}">{second}</text>',
        *(part for chip in place.chips for part in _chip(chip, at)),
        *_bar(card, box),
        end,
    ]
    return "".join(parts)


def _label(card: Card) -> str:
    """Return the whole card as a text, with every name in full."""
    words = [card.name, card.status, many(card.units, "unit") if card.kind == "application" else card.kind]
    words += [card.reason] if card.reason else []
    words += [card.about] if card.about else []
    words += [f"with {', '.join(chip.name for chip in card.chips)}"] if card.chips else []
    return ", ".join(words)


def _second_line(card: Card) -> str:
    if card.kind == "group":
        return card.reason
    if card.reason:
        return f"{card.status}: {card.reason}"
    return f"{card.status}, {card.about}" if card.about else card.status


def _frame(card: Card, box: Box) -> Iterator[str]:
    if card.offered:
        outer = Box(box.x - 4, box.y - 4, box.width + 8, box.height + 8)
        yield f'<rect class="e" {rectangle(outer)} rx="10"/>'
    if card.kind == "group":
        behind = Box(box.x + 5, box.y - 5, box.width, box.height)
        yield f'<rect class="c" {rectangle(behind)} rx="7"/>'
    yield f'<rect class="c" {rectangle(box)} rx="7"/>'


def _marks(card: Card, box: Box) -> Iterator[str]:
    """Yield the number of units, and two linked rings when the units have a peer relation."""
    right = box.width - PAD
    if told := units_text(card):
        yield f'<text class="q" text-anchor="end" x="{_short(right)}" y="22">{told}</text>'
        right -= 8 * len(told) + 4
    if card.peers:
        yield (
            f'<path class="e" d="M{_short(right - 14)} 18a3.5 3.5 0 1 1 7 0a3.5 3.5 0 1 1-7 0'
            f'm5 0a3.5 3.5 0 1 1 7 0a3.5 3.5 0 1 1-7 0"/>'
        )


def _chip(chip: ChipPlace, card: Box) -> Iterator[str]:
    box = Box(chip.box.x - card.x, chip.box.y - card.y, chip.box.width, chip.box.height)
    if chip.status:
        yield f'<rect class="e" {rectangle(box)} rx="8.5"/>'
        yield shape(chip.status, box.x + 6, box.y + 4, 9)
    shown = cut_middle(chip.text, box.width - 24, CHIP_SIZE)
    yield f'<text class="q s" x="{_short(box.x + 19)}" y="{_short(box.y + 12.5)}">{escaped(shown)}</text>'


def _bar(card: Card, box: Box) -> Iterator[str]:
    """Yield the bar at the lower edge: a segment for each status of units."""
    total = sum(number for _, number in card.counts)
    x, room = 7.0, box.width - 14
    for status, number in card.counts if card.units else ():
        part = room * number / total
        where = rectangle(Box(x, box.height - 4.5, max(part - 1, 1), 3))
        yield f'<rect class="f {look_of(status)}" {where}/>'
        x += part
