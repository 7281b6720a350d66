"""Folds a large graph: hubs stay cards, and each group of related applications becomes one card. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil

from pushjuju.services.pictures.graph import Card, Chip, Graph, Link
from pushjuju.services.pictures.looks import Look, look_of, rank
from pushjuju.services.pictures.placing import components, find_hubs

MOST_CARDS = 150
_LARGE, _GROUP, _MOST_CENTRES, _MOST_GROUPS = 40, 20, 60, 100
_Near = Mapping[str, Collection[str]]


def fold(graph: Graph, unfolded: Collection[str] = ()) -> Graph:
    """Return a graph of at most some 200 cards, or the same graph when the graph has at most 150.

    Args:
        unfolded: Names of groups whose applications stay cards; one of the applications names its group, too.
    """
    if len(graph.cards) <= MOST_CARDS:
        return graph
    near = graph.neighbours()
    groups = [names for names in _groups(near) if len(names) > 1]
    folded = [
        (names, group)
        for names, group in ((names, _name(names, near)) for names in groups)
        if not {group, *names}.intersection(unfolded)
    ]
    group_of = {name: group for names, group in folded for name in names}
    cards = {name: card for name, card in graph.cards.items() if name not in group_of}
    for names, group in folded:
        cards[group] = _group_card(group, [graph.cards[name] for name in names])
    return replace(graph, cards=cards, links=tuple(_links(graph.links, group_of)))


def _groups(near: _Near) -> Iterator[list[str]]:
    """Yield the groups of cards that are no hubs; single cards, and groups after the hundredth, are one."""
    parts = [
        part
        for names in components(near, find_hubs(near))
        for part in (_parts(names, near) if len(names) > _LARGE else [names])
    ]
    parts.sort(key=lambda names: (-len(names), names[0]))
    kept = [part for part in parts[:_MOST_GROUPS] if len(part) > 1]
    yield from kept
    yield sorted(name for part in parts[len(kept) :] for name in part)


def _parts(names: Sequence[str], near: _Near) -> list[list[str]]:
    """Split a large component: each card joins the nearest of the cards with the most neighbours."""
    inside = set(names)
    order = sorted(names, key=lambda name: (-len(inside.intersection(near[name])), name))
    centre_of = {name: name for name in order[: min(ceil(len(names) / _GROUP), _MOST_CENTRES)]}
    reached = list(centre_of)
    for name in reached:  # grows as neighbours are reached
        for other in sorted(inside.intersection(near[name]) - centre_of.keys()):
            centre_of[other] = centre_of[name]
            reached.append(other)
    found: dict[str, list[str]] = {}
    for name, centre in sorted(centre_of.items()):
        found.setdefault(centre, []).append(name)
    return list(found.values())


def _name(names: Sequence[str], near: _Near) -> str:
    """Return the name of a group: the card with the most neighbours, and the number of the others."""
    first = min(names, key=lambda name: (-len(near[name]), name))
    return f"{first} and {len(names) - 1} more"


def _group_card(name: str, cards: Sequence[Card]) -> Card:
    counts = Counter(card.status for card in cards)
    bad = [card for card in cards if look_of(card.status) is not Look.OK]
    return Card(
        name=name,
        kind="group",
        status=min((card.status for card in cards), key=lambda word: (rank(word), word)),
        reason=", ".join(_told(len(cards), counts)),
        units=len(cards),
        counts=tuple(sorted(counts.items(), key=lambda pair: (rank(pair[0]), pair[0]))),
        chips=tuple(
            Chip(name=card.name, status=card.status)
            for card in sorted(bad, key=lambda card: (rank(card.status), card.name))
        ),
        about=", ".join(card.name for card in cards),
    )


def _told(number: int, counts: Mapping[str, int]) -> Iterator[str]:
    yield f"{number} applications"
    for status, found in sorted(counts.items(), key=lambda pair: (rank(pair[0]), pair[0])):
        if look_of(status) is not Look.OK:
            yield f"{found} {status}"


def _links(links: Iterable[Link], group_of: Mapping[str, str]) -> Iterator[Link]:
    """Yield one link for each pair of cards after folding."""
    pairs: dict[tuple[str, str], list[Link]] = {}
    for link in links:
        pair = (group_of.get(link.requirer, link.requirer), group_of.get(link.provider, link.provider))
        if pair[0] != pair[1]:
            pairs.setdefault(pair if pair[::-1] not in pairs else pair[::-1], []).append(link)
    for (requirer, provider), joined in pairs.items():
        yield Link(
            requirer=requirer,
            provider=provider,
            relations=tuple(relation for link in joined for relation in link.relations),
            broken=any(link.broken for link in joined),
        )
