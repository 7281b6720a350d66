"""Draws a timeline as SVG: a row for each unit, in groups by machine. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

from pushjuju.services.pictures.layout import CHIP_SIZE, HEADING, MARGIN, TEXT_SIZE, Box
from pushjuju.services.pictures.looks import cut_end, width
from pushjuju.services.pictures.svg import Address, escaped, heading, many, rectangle, themed
from pushjuju.services.pictures.timeline import UNDER_WAY, Bar, Row, Timeline

if TYPE_CHECKING:
    from pushjuju.services.views.hook_runs import Hour

_WIDTH, _ROW, _BAR, _GROUP = 1200.0, 24.0, 16.0, 26.0
_NARROWEST, _THIN = 1.5, 4.0
_HEAT = 24.0
_KINDS = {
    "life": ("#8250df", "#a371f7", "begin and end"),
    "config": ("#0969da", "#58a6ff", "config and upgrade"),
    "relation": ("#1a7f37", "#3fb950", "relations"),
    "action": ("#9a4b00", "#e3b341", "actions and commands"),
    "other": ("#57606a", "#9da7b3", "others"),
}
"""kind of run -> colour on light and dark ground, and what the legend says."""

_FAILED = (
    '<defs><pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect class="f error" width="3" height="6"/></pattern></defs>'
)
_LIFE = frozenset(("install", "start", "stop", "remove", "leader-elected"))
_CONFIG = frozenset(("config-changed", "upgrade-charm"))


def kind_of(bar: Bar) -> str:
    """Return the kind of a run, which gives the bar its colour."""
    if bar.run.kind in ("action", "commands"):
        return "action"
    if bar.run.kind == "charm" or bar.run.hook in _LIFE:
        return "life"
    if bar.run.hook in _CONFIG:
        return "config"
    return "relation" if "-relation-" in bar.run.hook else "other"


def draw(name: str, found: Timeline, address: Address | None = None) -> str:
    """Return the SVG of a timeline; with addresses, units and runs are links."""
    names = [width(row.unit, TEXT_SIZE) for row in found.rows]
    left = MARGIN + max(*names, *(width(f"machine {name}", CHIP_SIZE) for name in found.contacts), 0) + 16
    parts: list[str] = []
    y = HEADING + 20
    for machine, rows in groupby(found.rows, key=lambda row: row.machine):
        y += _GROUP
        label = f"machine {machine}" if machine else "no machine"
        parts.append(f'<text class="q s" x="{MARGIN:g}" y="{y - 8:.1f}">{escaped(label)}</text>')
        parts += _contacts(machine, found, (left, y - _GROUP + 8))
        for row in rows:
            parts += _row(row, found, (left, y), address)
            y += _ROW
    failed = sum(bar.failed for row in found.rows for bar in row.bars)
    runs = sum(len(row.bars) for row in found.rows)
    told = f"{many(runs, 'run')}, {many(len(found.rows), 'unit')}" + (f", {failed} failed" if failed else "")
    start = heading(left + _WIDTH + MARGIN, y + 50, f"{name}, timeline", told)
    styled = f"<style>{style()}</style>{_FAILED}"
    return (
        "\n".join(
            [
                *start,
                styled,
                *_axis(found, left, y),
                *parts,
                *([_window(found, left, y)] if address else []),
                *_legend(y + 34, contacts=bool(found.contacts)),
                "</svg>",
            ]
        )
        + "\n"
    )


def heat(found: Sequence[Hour], address: Callable[[Hour], str]) -> str:
    """Return the SVG of a heat line: a square for each hour or day with runs, the darker the more."""
    most = max(hour.runs for hour in found)
    parts = []
    for at, hour in enumerate(found):
        box, told = rectangle(Box(at * _HEAT, 0, _HEAT - 2, _HEAT - 2)), _counted(hour)
        mark = f'<rect class="f error" {rectangle(Box(at * _HEAT, _HEAT - 6, _HEAT - 2, 4))}/>'
        parts.append(
            f'<a href="{escaped(address(hour))}"><title>{told}</title>'
            f'<rect class="f busy" {box} fill-opacity="{0.15 + 0.85 * hour.runs / most:.2f}"/>'
            f"{mark if hour.failed else ''}</a>"
        )
    wide = _HEAT * len(found)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{_HEAT:g}"'
        f' viewBox="0 0 {wide:g} {_HEAT:g}" role="group" aria-label="Earlier runs">{"".join(parts)}</svg>'
    )


def _counted(hour: Hour) -> str:
    form = "%Y-%m-%d" if hour.hours > 1 else "%Y-%m-%d %H:00Z"
    failed = f", {hour.failed} failed" if hour.failed else ""
    return f"{hour.begin:{form}}: {many(hour.runs, 'run')}{failed}"


def style() -> str:
    """Return the rules for timelines, in addition to those of all pictures."""
    light = "".join(f".b-{kind}{{fill:{one}}}" for kind, (one, _, _) in _KINDS.items())
    dark = "".join(f".b-{kind}{{fill:{other}}}" for kind, (_, other, _) in _KINDS.items())
    return (
        f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
        ".x{fill:none;stroke-width:2.5}.in{pointer-events:none}.u{opacity:.55}"
        + themed(".x{stroke:var(--error)}.g{fill:var(--panel)}.in{fill:var(--ground)}")
    )


def _row(row: Row, found: Timeline, at: tuple[float, float], address: Address | None) -> Iterator[str]:
    left, y = at
    label = f'<text x="{MARGIN:g}" y="{y + 12:.1f}">{escaped(row.unit)}</text>'
    yield f'<a href="{escaped(address("unit", row.unit))}">{label}</a>' if address else label
    yield f'<path class="e" d="M{left:.1f} {y + _BAR:.1f}H{left + _WIDTH:.1f}"/>'
    for bar in row.bars:
        yield _bar(bar, found, at, address)


def _bar(bar: Bar, found: Timeline, at: tuple[float, float], address: Address | None) -> str:
    left, y = at
    x = left + _WIDTH * found.axis.place(bar.start)
    wide = max(left + _WIDTH * found.axis.place(bar.end) - x, _NARROWEST)
    box = rectangle(Box(x, y, wide, _BAR))
    run = bar.run
    told = f"{run.unit} {run.hook}: {run.result}, {_moment(bar.start)}, {bar.end - bar.start:.3f} s"
    told += f", {run.message}" if run.message else ""
    under_way, pace = "", ""
    if run.result in UNDER_WAY:
        under_way = " u"
        pace = f' data-pace="{_WIDTH / found.axis.seconds:.3f}" data-most="{left + _WIDTH - x:.1f}"'
    to = address("run", run.operation) if address else ""
    # the Tab key skips the bars: a table beside the picture has the same links
    start, end = (f'<a href="{escaped(to)}" tabindex="-1">', "</a>") if to else ("<g>", "</g>")
    parts = [f"{start}<title>{escaped(told)}</title>"]
    if bar.failed:
        parts.append(f'<rect class="g" {box}/><rect fill="url(#failed)" {box}/><rect class="x" {box}/>')
    else:
        parts.append(f'<rect class="b-{kind_of(bar)}{under_way}" {box}{pace if address else ""} rx="2"/>')
    if not bar.failed and width(run.hook, CHIP_SIZE) + 8 <= wide:
        shown = escaped(cut_end(run.hook, wide - 6, CHIP_SIZE))
        parts.append(f'<text class="s in" x="{x + 4:.1f}" y="{y + 12:.1f}">{shown}</text>')
    return "".join([*parts, end])


def _contacts(machine: str, found: Timeline, at: tuple[float, float]) -> Iterator[str]:
    """Yield a thin line for each contact with a machine, above the rows of the machine's units."""
    left, y = at
    for contact in found.contacts.get(machine, ()):
        start, end = contact.begun.timestamp(), contact.ended.timestamp()
        x = left + _WIDTH * found.axis.place(start)
        wide = max(left + _WIDTH * found.axis.place(end) - x, _NARROWEST)
        look, high = ("b-other", _THIN) if contact.result == "ok" else ("f error", 2 * _THIN)
        told = f"contact with machine {machine}: {contact.result}, {_moment(start)}, {end - start:.3f} s"
        box = rectangle(Box(x, y, wide, high))
        yield f'<rect class="{look}" {box}><title>{escaped(told)}</title></rect>'


def _axis(found: Timeline, left: float, bottom: float) -> Iterator[str]:
    """Yield the begin and end of each piece of the axis, and the cut rests between them."""
    top = HEADING + 18
    for start, end, seconds in found.axis.rests():
        x, wide = left + _WIDTH * start, _WIDTH * (end - start)
        box = rectangle(Box(x, top, wide, bottom - top))
        yield f'<rect class="g" {box}><title>nothing ran for {seconds:.0f} s</title></rect>'
    room = left
    for start, _ in found.axis.pieces:
        x, text = left + _WIDTH * found.axis.place(start), _moment(start)
        if room <= x <= left + _WIDTH + MARGIN - width(text, CHIP_SIZE):
            yield f'<text class="q s" x="{x:.1f}" y="{top - 4:.1f}">{text}</text>'
            room = x + width(text, CHIP_SIZE) + 8
    text, right = _moment(found.axis.pieces[-1][1]), left + _WIDTH
    if right - width(text, CHIP_SIZE) > room:
        yield f'<text class="q s" text-anchor="end" x="{right:.1f}" y="{top - 4:.1f}">{text}</text>'


def _window(found: Timeline, left: float, bottom: float) -> str:
    """Return the empty rectangle with which people choose times on a page, and the pieces of the axis."""
    places = [(left + _WIDTH * found.axis.place(start), start, end) for start, end in found.axis.pieces]
    scale = _WIDTH / found.axis.seconds
    pieces = " ".join(
        f"{x:.2f},{start:.3f},{x + scale * (end - start):.2f},{end:.3f}" for x, start, end in places
    )
    box = rectangle(Box(left, HEADING + 18, 0, bottom - HEADING - 18))
    return f'<rect class="f busy" fill-opacity="0.2" {box} data-axis="{pieces}"/>'


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%SZ}"


def _legend(y: float, *, contacts: bool) -> Iterator[str]:
    x = MARGIN
    for kind, (_, _, words) in _KINDS.items():
        yield f'<rect class="b-{kind}" {rectangle(Box(x, y - 10, 14, 12))} rx="2"/>'
        yield f'<text class="q" x="{x + 20:.1f}" y="{y:.1f}">{words}</text>'
        x += 44 + width(words, TEXT_SIZE)
    yield f'<rect fill="url(#failed)" {rectangle(Box(x, y - 10, 14, 12))}/>'
    yield f'<text class="q" x="{x + 20:.1f}" y="{y:.1f}">failed</text>'
    if contacts:
        x += 44 + width("failed", TEXT_SIZE)
        yield f'<rect class="b-other" {rectangle(Box(x, y - 6, 14, _THIN))}/>'
        yield f'<text class="q" x="{x + 20:.1f}" y="{y:.1f}">contact with the machine</text>'
