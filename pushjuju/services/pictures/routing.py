"""Finds the way of each line through the grid: beside cards and between rows, never through a card. Pure.

The grid has a gutter at the right of each column and a gap below each row; gap -1 is above the first row. A
line leaves a card into a gutter, crosses columns in a gap or in free cells of a row, and enters a card from a
gutter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from pushjuju.core.values import dataclass
from pushjuju.services.pictures.graph import Link
from pushjuju.services.pictures.layering import Cell


class Way(StrEnum):
    """How a line comes from its left card to its right card."""

    BOW = "bow"  # both cards are in one column: around through the gutter
    NEAR = "near"  # the columns are neighbours: one curve in the gutter between them
    ROW = "row"  # through free cells of a row
    GAP = "gap"  # through the gap between two rows


@dataclass(frozen=True, slots=True)
class Tracks:
    """The number of tracks in a gap: for lines between cards, then one for each hub."""

    lines: int = 0
    hubs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The way of a line in the grid."""

    link: Link
    left: str  # the card at the left end; of a bow, the upper card
    right: str  # the card at the right end; of a bow, the lower card
    way: Way
    hub: str = ""  # the hub at one end, or empty
    at: int = 0  # the number of the row or gap of the ways that have one
    track: int = 0  # the place among the lines of the gap, from the top; the tracks of hubs are the last


def courses(
    links: Iterable[Link], cells: Mapping[str, Cell], hubs: Sequence[str]
) -> tuple[list[Course], dict[int, Tracks]]:
    """Return the courses of all links, and gap -> its tracks."""
    taken, known = set(cells.values()), frozenset(hubs)
    found = [_course(link, cells, known, taken) for link in links]
    tracks: dict[int, Tracks] = {}
    done = [course for course in found if course.way is not Way.GAP]
    gaps: dict[int, list[Course]] = {}
    for course in found:
        if course.way is Way.GAP:
            gaps.setdefault(course.at, []).append(course)
    for _, inside in sorted(gaps.items()):
        done += _on_tracks(inside, cells, hubs, tracks)
    return done, tracks


def _course(link: Link, cells: Mapping[str, Cell], hubs: Collection[str], taken: Collection[Cell]) -> Course:
    left, right = sorted((link.requirer, link.provider), key=lambda name: (cells[name], name))
    hub = right if right in hubs else left if left in hubs else ""
    found = Course(link=link, left=left, right=right, way=Way.NEAR, hub=hub)
    (start, upper), (end, lower) = cells[left], cells[right]
    if start == end:
        return replace(found, way=Way.BOW)
    if end == start + 1:
        return found
    for row in () if hub else dict.fromkeys((upper, lower)):
        if not any((column, row) in taken for column in range(start + 1, end)):
            return replace(found, way=Way.ROW, at=row)
    near = upper if hub else lower
    above = (upper > lower) if hub else (upper < lower)
    return replace(found, way=Way.GAP, at=near - 1 if above else near)


def _on_tracks(
    inside: Iterable[Course], cells: Mapping[str, Cell], hubs: Sequence[str], tracks: dict[int, Tracks]
) -> list[Course]:
    """Give the lines of one gap their tracks: lines to one hub share a track, other lines do not overlap."""
    ends: list[int] = []  # the last gutter that each track uses
    found = []
    order = sorted(inside, key=lambda one: (cells[one.left][0], -cells[one.right][0], one.left, one.right))
    for course in order:
        if course.hub:
            continue
        start, end = cells[course.left][0], cells[course.right][0] - 1
        track = next((at for at, last in enumerate(ends) if last < start), len(ends))
        ends[track : track + 1] = [end]
        found.append(replace(course, track=track))
    ended = {course.hub for course in order}
    place = {hub: len(ends) + at for at, hub in enumerate(hub for hub in hubs if hub in ended)}
    found += [replace(one, track=place[one.hub]) for one in order if one.hub]
    tracks[order[0].at] = Tracks(len(ends), len(place))
    return found
