"""The layout of a model: no card over another, no line through a card, names whole, little moves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pushjuju.services.pictures import folding, graph, layout, placing, svg
from pushjuju.services.pictures.layout import NAME_SIZE, Box, Layout, Point, name_lines
from pushjuju.services.pictures.looks import cut_middle
from tests.world import known_models

KNOWN = {
    "openstack": known_models.openstack,
    "kubernetes": known_models.kubernetes,
    "cos": known_models.cos,
    "50": lambda: known_models.random_model(50, hubs=5),
    "150": lambda: known_models.random_model(150, hubs=8),
}
_STEPS = 12


def laid_out(found: tuple[dict[str, Any], list[dict[str, Any]]]) -> Layout:
    return layout.lay_out(folding.fold(graph.of_status(*found)))


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def on_the_way(points: tuple[Point, ...]) -> Iterator[Point]:
    """Yield points of a line, close to each other."""
    start = points[0]
    for at in range(1, len(points), 3):
        one, two, end = points[at : at + 3]
        for step in range(1, _STEPS + 1):
            t = step / _STEPS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            corners = (start, one, two, end)
            x, y = (sum(w * p[axis] for w, p in zip(weights, corners, strict=True)) for axis in (0, 1))
            yield x, y
        start = end


def hulls(points: tuple[Point, ...]) -> Iterator[Box]:
    """Yield a box around each curve of a line: the box of a curve's corners holds the whole curve."""
    start = points[0]
    for at in range(1, len(points), 3):
        corners = (start, *points[at : at + 3])
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        yield Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
        start = corners[-1]


def faults(found: Layout) -> list[str]:
    """Return what is wrong with a layout."""
    wrong = [
        f"{one.card.name} over {other.card.name}"
        for one, other in combinations(found.cards, 2)
        if overlap(one.box, other.box)
    ]
    for line in found.lines:
        for hull in hulls(line.points):
            wrong += [
                f"{line.link.requirer}-{line.link.provider} through {place.card.name}"
                for place in found.cards
                if overlap(hull, place.box)
            ]
    for place in found.cards:
        box = place.box
        if box.x < 0 or box.y < 0 or box.x + box.width > found.width or box.y + box.height > found.height:
            wrong.append(f"{place.card.name} is outside")
        for chip in place.chips:
            inner = chip.box
            if inner.x + inner.width > box.x + box.width or inner.y + inner.height > box.y + box.height:
                wrong.append(f"{chip.text} leaves {place.card.name}")
        wrong += [
            f"{one.text} over {two.text}"
            for one, two in combinations(place.chips, 2)
            if overlap(one.box, two.box)
        ]
    return wrong


@pytest.mark.parametrize("name", KNOWN)
def test_no_card_is_over_another_and_no_line_crosses_a_card(name: str) -> None:
    assert not faults(laid_out(KNOWN[name]()))


@pytest.mark.parametrize("name", KNOWN)
def test_the_ground_of_a_component_has_its_lines_and_no_other_ground(name: str) -> None:
    found = laid_out(KNOWN[name]())
    assert not [1 for one, other in combinations(found.panels, 2) if overlap(one, other)]
    boxes = {place.card.name: place.box for place in found.cards}
    inside = 0
    for line in found.lines:
        start = boxes[line.link.requirer]
        for ground in (ground for ground in found.panels if not line.hub and overlap(ground, start)):
            right, below = ground.x + ground.width, ground.y + ground.height
            assert all(ground.x <= x <= right and ground.y <= y <= below for x, y in line.points)
            inside += 1
    assert inside


@pytest.mark.parametrize("name", KNOWN)
def test_names_are_whole(name: str) -> None:
    found = laid_out(KNOWN[name]())
    drawn = svg.draw(found)
    for place in found.cards:
        assert f">{place.card.name}</text>" in drawn


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("prometheus-scrape-config", 1),
        ("prometheus-scrape-config-for-the-cluster", 3),
        ("x" * 75, 3),
        ("a-first-part-of-a-name-and-the-second-part-of-it", 3),
    ],
)
def test_a_long_name_is_whole_in_few_lines_and_makes_no_card_broad(name: str, lines: int) -> None:
    found = laid_out(known_models.model("m", f"{name}=3 web=1 db=1", "web:db>db:db"))
    (place,) = (place for place in found.cards if place.card.name == name)
    shown = name_lines(place.card, place.box.width)
    assert ("".join(shown), len(shown)) == (name, lines)
    assert max(place.box.width for place in found.cards) <= 320
    drawn = svg.draw(found)
    assert all(f">{line}</text>" in drawn for line in shown)


def test_a_very_long_name_keeps_its_start_and_its_end() -> None:
    shown = cut_middle("a-very-long-name-" * 9 + "the-end", 200, NAME_SIZE, bold=True)
    assert shown.startswith("a-very")
    assert shown.endswith("end")
    assert "…" in shown


@st.composite
def small_models(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    number = draw(st.integers(0, 45))
    names = [f"a{at}" + "x" * draw(st.sampled_from((0, 3, 20))) for at in range(number)]
    subordinate = [draw(st.integers(0, 9)) == 0 for _ in names]
    pairs = draw(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=120)) if names else []
    lines = []
    for one, other in pairs:
        first, second = one % number, other % number
        sign = "~" if subordinate[second] and not subordinate[first] and one % 2 else ">"
        lines.append(f"{names[first]}:r{one}{sign}{names[second]}:p{other}")
    units = [
        f"{name}={'sub' if sub else draw(st.integers(0, 4))}"
        for name, sub in zip(names, subordinate, strict=True)
    ]
    return known_models.model("m", " ".join(units), " ".join(lines))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=small_models())
def test_any_model_has_a_layout_without_faults(found: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    assert not faults(laid_out(found))


@pytest.mark.parametrize("number", [200, 400])
def test_a_folded_model_has_a_layout_without_faults(number: int) -> None:
    found = laid_out(known_models.random_model(number, hubs=number // 25))
    assert len(found.cards) < folding.MOST_CARDS
    assert not faults(found)


def test_the_heading_counts_each_application_of_a_group() -> None:
    found = laid_out(known_models.random_model(300, hubs=0, links=False))
    (group,) = found.graph.cards.values()
    assert dict(group.counts)["error"] == 5
    assert svg.summary(found).endswith(", 5 error")


@pytest.mark.parametrize("name", KNOWN)
def test_the_same_model_gives_the_same_picture(name: str) -> None:
    document, rows = KNOWN[name]()
    turned = {**document, "applications": dict(reversed(document["applications"].items()))}
    first, second = laid_out((document, rows)), laid_out((turned, rows[::-1]))
    assert svg.draw(first) == svg.draw(laid_out(KNOWN[name]()))
    assert {p.card.name: p.box for p in first.cards} == {p.card.name: p.box for p in second.cards}


def with_one_more(document: dict[str, Any], rows: list[dict[str, Any]], near: str) -> graph.Graph:
    """Return the graph of a model with one application more, which requires a card."""
    more, _ = known_models.model("m", "zz-new=1", "")
    grown = {**document, "applications": {**document["applications"], **more["applications"]}}
    link = {**rows[0], "type": "regular", "requirer": "zz-new:db", "provider": f"{near}:db"}
    return graph.of_status(grown, [*rows, link])


@pytest.mark.parametrize("name", ["openstack", "kubernetes", "cos", "50"])
def test_one_application_more_moves_little(name: str) -> None:
    document, rows = KNOWN[name]()
    before = placing.place(graph.of_status(document, rows)).cells
    kept = near = 0
    for card in before:
        after = placing.place(with_one_more(document, rows, card)).cells
        kept += sum(after[other] == cell for other, cell in before.items())
        near += sum(
            abs(after[other][0] - column) <= 1 and abs(after[other][1] - row) <= 1
            for other, (column, row) in before.items()
        )
    assert kept >= len(before) ** 2 * 0.5
    assert near >= len(before) ** 2 * 0.8


def test_cards_stand_as_people_placed_them() -> None:
    document, relations = known_models.openstack()
    names = sorted(document["applications"])
    wide = {name: (200.0 * (at % 6), 100.0 * (at // 6)) for at, name in enumerate(names)}
    whole = graph.of_status(document, relations, wide)
    found = layout.lay_out(whole)
    assert not faults(found)
    boxes = {place.card.name: place.box for place in found.cards if not place.hub}
    for one, other in combinations(boxes, 2):
        block = placing.place(whole).blocks
        if any(one in names and other in names for names in (each.names for each in block)):
            (x, y), (u, v) = wide[one], wide[other]
            assert (boxes[one].x < boxes[other].x) == (x < u) or x == u
            assert (boxes[one].y < boxes[other].y) == (y < v) or y == v


def test_cards_at_one_place_stand_below_each_other() -> None:
    assert placing.cells({"a": (0, 0), "b": (30, 10), "c": (400, 0)}) == {
        "a": (0, 0),
        "b": (0, 1),
        "c": (1, 0),
    }


def test_places_count_only_when_all_cards_of_a_component_have_one() -> None:
    document, relations = known_models.openstack()
    some = dict.fromkeys(sorted(document["applications"])[:5], (0.0, 0.0))
    assert (
        layout.lay_out(graph.of_status(document, relations, some)).cards
        == laid_out((document, relations)).cards
    )


def test_a_viewer_that_knows_no_variables_shows_the_colours() -> None:
    drawn = svg.draw(laid_out(known_models.openstack()))
    assert "var(" not in drawn
    plain_rules = drawn.partition("@media")[0]
    assert ".c{fill:#ffffff;stroke:#afb8c1}" in plain_rules
