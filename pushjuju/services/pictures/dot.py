"""Writes a graph as DOT, for Graphviz. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pushjuju.services.pictures.graph import Card, Graph, Link
from pushjuju.services.pictures.looks import COLOURS, SIGNS, Look, look_of, plain
from pushjuju.services.pictures.machine_tree import Machine, UnitOnMachine
from pushjuju.services.pictures.placing import components, find_hubs

_HEAD = (
    "  rankdir=LR;",
    '  graph [fontname="sans-serif", style="rounded", color="#d0d7de", ranksep=1];',
    '  node [shape=box, style="rounded", fontname="sans-serif", fontsize=11, color="#57606a"];',
    '  edge [color="#6e7781", fontname="sans-serif", fontsize=9, arrowsize=0.6];',
)


def quoted(text: str) -> str:
    """Return a text as a quoted string of DOT, with no sequence that Graphviz would interpret."""
    shown = plain(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{shown}"'


def topology(graph: Graph) -> str:
    """Return the applications and relations of a model as DOT."""
    near = graph.neighbours()
    hubs = frozenset(find_hubs(near))
    ids = {name: f"n{number}" for number, name in enumerate(graph.cards, 1)}
    lines = [f"digraph {quoted(graph.name)} {{", *_HEAD]
    for number, names in enumerate(components(near, hubs)):
        inside = [_node(graph.cards[name], ids[name]) for name in names]
        lines += _cluster(f"cluster_{number}", "", inside) if len(names) > 1 else inside
    lines += [_node(graph.cards[name], ids[name]) for name in graph.cards if name in hubs]
    lines += [_edge(link, ids, faint=bool(hubs & {link.requirer, link.provider})) for link in graph.links]
    return "\n".join([*lines, "}"]) + "\n"


def _node(card: Card, key: str) -> str:
    words = [f"{SIGNS[look_of(card.status)]} {card.name}" + (f" ×{card.units}" if card.units > 1 else "")]
    words.append(f"{card.status}: {card.reason}" if card.reason else card.status)
    words += [f"+ {chip.name}" + _unwell(chip.status) for chip in card.chips]
    label = "\\n".join(quoted(line)[1:-1] for line in words)
    styles = "rounded,dashed" if card.kind == "consumed" else "rounded"
    double = ", peripheries=2" if card.offered else ""
    return f'  {key} [label="{label}", style="{styles}"{double}{_colour(card.status)}];'


def _unwell(status: str) -> str:
    return "" if look_of(status) is Look.OK else f" ({status})"


def _colour(status: str) -> str:
    look = look_of(status)
    width = ", penwidth=3" if look is Look.ERROR else ", penwidth=2" if look is Look.BLOCKED else ""
    return f', color="{COLOURS[look].light}"{width}'


def _edge(link: Link, ids: Mapping[str, str], *, faint: bool) -> str:
    words = [f"tooltip={quoted('; '.join(link.relations))}"]
    words += [f'label="{len(link.relations)}"'] if len(link.relations) > 1 else []
    words += ["style=dashed"] if link.broken else []
    words += ["constraint=false", 'color="#d0d7de"'] if faint else []
    return f"  {ids[link.requirer]} -> {ids[link.provider]} [{', '.join(words)}];"


def _cluster(key: str, label: str, inside: list[str], colour: str = "") -> list[str]:
    head = f"  subgraph {key} {{ label={quoted(label)};{colour}"
    return [head, *(f"  {line}" for line in inside), "  }"]


def machines(name: str, found: tuple[Machine, ...]) -> str:
    """Return the machines of a model, with containers and units inside, as DOT."""
    lines = [f"digraph {quoted(name)} {{", *_HEAD]
    for number, machine in enumerate(found):
        lines += _machine(machine, f"m{number}")
    return "\n".join([*lines, "}"]) + "\n"


def _machine(machine: Machine, key: str) -> list[str]:
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
        yield from _machine(container, f"{key}_{number}")


def _unit(unit: UnitOnMachine, key: str) -> str:
    label = quoted(f"{SIGNS[look_of(unit.status)]} {unit.name}{_unwell(unit.status)}")
    return f"  {key} [label={label}{_colour(unit.status)}];"
