"""Chooses a part of a graph: what is not well, or what is near an application, each with neighbours. Pure."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from pushjuju.services.pictures.graph import Card, Graph
from pushjuju.services.pictures.looks import Look, look_of
from pushjuju.services.pictures.placing import find_hubs

_WELL = (Look.OK, Look.UNKNOWN)


def not_well(graph: Graph) -> Graph:
    """Return the cards that are not well, or have a subordinate that is not, their links and neighbours."""
    near = graph.neighbours()
    bad = {card.name for card in graph.cards.values() if not _is_well(card)}
    return _only(graph, bad.union(*(near[name] for name in bad)), bad)


def _is_well(card: Card) -> bool:
    return all(look_of(status) in _WELL for status in (card.status, *(chip.status for chip in card.chips)))


def near(graph: Graph, application: str, depth: int = 2) -> Graph:
    """Return the cards that a number of lines leads to from the card of an application.

    No way goes through one of the most related applications, which would lead to nearly all cards.
    """
    beside = graph.neighbours()
    found = {
        card.name
        for card in graph.cards.values()
        if application in (card.name, *(chip.name for chip in card.chips))
    }
    closed = frozenset(find_hubs(beside)) - found
    for _ in range(depth):
        found = found.union(*(beside[name] for name in found - closed))
    return _only(graph, found, found - closed)


def _only(graph: Graph, names: AbstractSet[str], ends: AbstractSet[str]) -> Graph:
    """Return a graph with some of the cards, and the links between them that have an end among `ends`."""
    return replace(
        graph,
        cards={name: card for name, card in graph.cards.items() if name in names},
        links=tuple(
            link
            for link in graph.links
            if {link.requirer, link.provider} <= names and not ends.isdisjoint((link.requirer, link.provider))
        ),
        places={name: place for name, place in graph.places.items() if name in names},
    )
