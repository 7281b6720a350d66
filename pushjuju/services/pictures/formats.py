"""The formats of `status` that are pictures: SVG, DOT and Mermaid. Juju has none of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pushjuju.core.values import regex
from pushjuju.services.pictures import folding, graph, layout, machine_tree, machines_svg, svg
from pushjuju.services.pictures.graph import Card, Graph, Link
from pushjuju.services.pictures.looks import COLOURS, SIGNS, Look, look_of, plain
from pushjuju.services.pictures.machine_tree import Machine, UnitOnMachine
from pushjuju.services.pictures.placing import Place, components, find_hubs

_HEAD = (
    "  rankdir=LR;",
    '  graph [fontname="sans-serif", style="rounded", color="#d0d7de", ranksep=1];',
    '  node [shape=box, style="rounded", fontname="sans-serif", fontsize=11, color="#57606a"];',
    '  edge [color="#6e7781", fontname="sans-serif", fontsize=9, arrowsize=0.6];',
)
MOST_EDGES, MOST_CHARACTERS = 500, 50_000
"""What hosts of Markdown draw by default."""
_SPECIAL = regex(r"[^\w .,:/×✓✗□◷–+-]")
_OPEN, _CLOSE = '["', '"]'


def formatters(
    relations: Sequence[Mapping[str, Any]], places: Mapping[str, Place], *, of_machines: bool
) -> dict[str, Callable[[Any], str]]:
    """Return format name -> function that draws the status document.

    Args:
        relations: The rows of the relation section of the table.
        places: application -> the place that people chose.
        of_machines: Whether the picture shows machines with their units, instead of applications.
    """
    if of_machines:
        return {"svg": _machines_svg, "dot": _machines_dot, "mermaid": _machines_mermaid}

    def svg_text(document: Any) -> str:
        return svg.draw(layout.lay_out(folding.fold(graph.of_status(document, relations, places))))

    def dot_text(document: Any) -> str:
        return dot_topology(graph.of_status(document, relations))

    def mermaid_text(document: Any) -> str:
        return mermaid_topology(graph.of_status(document, relations))

    return {"svg": svg_text, "dot": dot_text, "mermaid": mermaid_text}


def _machines_svg(document: Any) -> str:
    return machines_svg.draw(document["model"]["name"], machine_tree.of_status(document))


def _machines_dot(document: Any) -> str:
    return dot_machines(document["model"]["name"], machine_tree.of_status(document))


def _machines_mermaid(document: Any) -> str:
    return mermaid_machines(machine_tree.of_status(document))


def dot_quoted(text: str) -> str:
    """Return a text as a quoted string of DOT, with no sequence that Graphviz would interpret."""
    shown = plain(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{shown}"'


def dot_topology(graph: Graph) -> str:
    """Return the applications and relations of a model as DOT."""
    near = graph.neighbours()
    hubs = frozenset(find_hubs(near))
    ids = {name: f"n{number}" for number, name in enumerate(graph.cards, 1)}
    lines = [f"digraph {dot_quoted(graph.name)} {{", *_HEAD]
    for number, names in enumerate(components(near, hubs)):
        inside = [_dot_node(graph.cards[name], ids[name]) for name in names]
        lines += _cluster(f"cluster_{number}", "", inside) if len(names) > 1 else inside
    lines += [_dot_node(graph.cards[name], ids[name]) for name in graph.cards if name in hubs]
    lines += [_dot_edge(link, ids, faint=bool(hubs & {link.requirer, link.provider})) for link in graph.links]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_node(card: Card, key: str) -> str:
    words = [f"{SIGNS[look_of(card.status)]} {card.name}" + (f" ×{card.units}" if card.units > 1 else "")]
    words.append(f"{card.status}: {card.reason}" if card.reason else card.status)
    words += [f"+ {chip.name}" + _unwell(chip.status) for chip in card.chips]
    label = "\\n".join(dot_quoted(line)[1:-1] for line in words)
    styles = "rounded,dashed" if card.kind == "consumed" else "rounded"
    double = ", peripheries=2" if card.offered else ""
    return f'  {key} [label="{label}", style="{styles}"{double}{_colour(card.status)}];'


def _unwell(status: str) -> str:
    return "" if look_of(status) is Look.OK else f" ({status})"


def _colour(status: str) -> str:
    look = look_of(status)
    width = ", penwidth=3" if look is Look.ERROR else ", penwidth=2" if look is Look.BLOCKED else ""
    return f', color="{COLOURS[look].light}"{width}'


def _dot_edge(link: Link, ids: Mapping[str, str], *, faint: bool) -> str:
    words = [f"tooltip={dot_quoted('; '.join(link.relations))}"]
    words += [f'label="{len(link.relations)}"'] if len(link.relations) > 1 else []
    words += ["style=dashed"] if link.broken else []
    words += ["constraint=false", 'color="#d0d7de"'] if faint else []
    return f"  {ids[link.requirer]} -> {ids[link.provider]} [{', '.join(words)}];"


def _cluster(key: str, label: str, inside: list[str], colour: str = "") -> list[str]:
    head = f"  subgraph {key} {{ label={dot_quoted(label)};{colour}"
    return [head, *(f"  {line}" for line in inside), "  }"]


def dot_machines(name: str, found: tuple[Machine, ...]) -> str:
    """Return the machines of a model, with containers and units inside, as DOT."""
    lines = [f"digraph {dot_quoted(name)} {{", *_HEAD]
    for number, machine in enumerate(found):
        lines += _dot_machine(machine, f"m{number}")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_machine(machine: Machine, key: str) -> list[str]:
    inside = [
        f'  {key}_e [label="", shape=point, style=invis];',
        *(_unit(unit, f"{key}_u{number}") for number, unit in enumerate(machine.units)),
        *_inner(machine, key),
    ]
    label = f"{SIGNS[look_of(machine.status)]} {machine.name} {machine.status} {machine.about}"
    return _cluster(
        f"cluster_{key}", label.strip(), inside, f' color="{COLOURS[look_of(machine.status)].light}";'
    )


def _inner(machine: Machine, key: str) -> Iterator[str]:
    for number, container in enumerate(machine.containers):
        yield from _dot_machine(container, f"{key}_{number}")


def _unit(unit: UnitOnMachine, key: str) -> str:
    label = dot_quoted(f"{SIGNS[look_of(unit.status)]} {unit.name}{_unwell(unit.status)}")
    return f"  {key} [label={label}{_colour(unit.status)}];"


def mermaid_quoted(text: str) -> str:
    """Return a text for a quoted label: each sign that Mermaid could interpret is written as its code."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", plain(text))


def mermaid_topology(graph: Graph) -> str:
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
    text = "<br/>".join(mermaid_quoted(word) for word in words)
    yield f"  {key}{_OPEN}{text}{_CLOSE}:::{look_of(card.status)}"
    if card.kind == "consumed":
        yield f"  class {key} consumed"


def _edge(link: Link, ids: Mapping[str, str]) -> str:
    arrow = "-.->" if link.broken else "-->"
    number = f"|{len(link.relations)}|" if len(link.relations) > 1 else ""
    return f"  {ids[link.requirer]} {arrow}{number} {ids[link.provider]}"


def mermaid_machines(found: Iterable[Machine]) -> str:
    """Return the machines of a model, with containers and units inside, as a flowchart."""
    lines = [line for number, machine in enumerate(found) for line in _machine(machine, f"m{number}")]
    return _chart(lines)


def _machine(machine: Machine, key: str) -> Iterator[str]:
    label = mermaid_quoted(f"{SIGNS[look_of(machine.status)]} {machine.name} {machine.status}")
    yield f"  subgraph {key}{_OPEN}{label}{_CLOSE}"
    for number, unit in enumerate(machine.units):
        look = look_of(unit.status)
        yield f"  {key}_u{number}{_OPEN}{mermaid_quoted(f'{SIGNS[look]} {unit.name}')}{_CLOSE}:::{look}"
    for number, container in enumerate(machine.containers):
        yield from _machine(container, f"{key}_{number}")
    yield "  end"
