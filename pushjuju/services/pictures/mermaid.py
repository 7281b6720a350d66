"""Writes a graph as a Mermaid flowchart, for hosts of Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pushjuju.core.values import regex
from pushjuju.services.pictures.graph import Card, Graph, Link
from pushjuju.services.pictures.looks import COLOURS, SIGNS, Look, look_of, plain
from pushjuju.services.pictures.machine_tree import Machine
from pushjuju.services.pictures.placing import find_hubs

MOST_EDGES, MOST_CHARACTERS = 500, 50_000
"""What hosts of Markdown draw by default."""

_SPECIAL = regex(r"[^\w .,:/×✓✗□◷–+-]")
_OPEN, _CLOSE = '["', '"]'


def quoted(text: str) -> str:
    """Return a text for a quoted label: each sign that Mermaid could interpret is written as its code."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", plain(text))


def topology(graph: Graph) -> str:
    """Return the applications and relations of a model as a flowchart.

    When the chart is too large for hosts of Markdown, it has no lines to hubs, and a comment says so.
    """
    ids = {name: f"n{number}" for number, name in enumerate(graph.cards, 1)}
    nodes = [line for card in graph.cards.values() for line in _node(card, ids[card.name])]
    whole = _chart([*nodes, *(_edge(link, ids) for link in graph.links)])
    if len(graph.links) <= MOST_EDGES and len(whole) <= MOST_CHARACTERS:
        return whole
    hubs = frozenset(find_hubs(graph.neighbours()))
    kept = [link for link in graph.links if not hubs & {link.requirer, link.provider}]
    note = f"  %% {len(graph.links) - len(kept)} lines to the most related applications are left out"
    return _chart([note, *nodes, *(_edge(link, ids) for link in kept)])


def _chart(lines: Iterable[str]) -> str:
    return "\n".join(["flowchart LR", *lines, *_classes()]) + "\n"


def _classes() -> Iterator[str]:
    for look, colours in COLOURS.items():
        width = {Look.ERROR: 3, Look.BLOCKED: 2}.get(look, 1)
        yield f"  classDef {look} stroke:{colours.light},stroke-width:{width}px"
    yield "  classDef consumed stroke-dasharray:5 3"


def _node(card: Card, key: str) -> Iterator[str]:
    words = [f"{SIGNS[look_of(card.status)]} {card.name}" + (f" ×{card.units}" if card.units > 1 else "")]
    words.append(f"{card.status}: {card.reason}" if card.reason else card.status)
    words += [f"+ {chip.name}" for chip in card.chips]
    yield f"  {key}{_OPEN}{'<br/>'.join(quoted(word) for word in words)}{_CLOSE}:::{look_of(card.status)}"
    if card.kind == "consumed":
        yield f"  class {key} consumed"


def _edge(link: Link, ids: Mapping[str, str]) -> str:
    arrow = "-.->" if link.broken else "-->"
    number = f"|{len(link.relations)}|" if len(link.relations) > 1 else ""
    return f"  {ids[link.requirer]} {arrow}{number} {ids[link.provider]}"


def machines(found: Iterable[Machine]) -> str:
    """Return the machines of a model, with containers and units inside, as a flowchart."""
    lines = [line for number, machine in enumerate(found) for line in _machine(machine, f"m{number}")]
    return _chart(lines)


def _machine(machine: Machine, key: str) -> Iterator[str]:
    label = quoted(f"{SIGNS[look_of(machine.status)]} {machine.name} {machine.status}")
    yield f"  subgraph {key}{_OPEN}{label}{_CLOSE}"
    for number, unit in enumerate(machine.units):
        look = look_of(unit.status)
        yield f"  {key}_u{number}{_OPEN}{quoted(f'{SIGNS[look]} {unit.name}')}{_CLOSE}:::{look}"
    for number, container in enumerate(machine.containers):
        yield from _machine(container, f"{key}_{number}")
    yield "  end"
