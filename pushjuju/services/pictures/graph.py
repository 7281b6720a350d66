"""The graph of a model: a card for each application, a link for each pair of related applications. Pure.

Subordinates are chips on the cards of their principals. A subordinate has a card only when no principal has
one, or when several principals share the subordinate and other applications are related to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any

from pushjuju.core.values import dataclass
from pushjuju.portable.natural import natural_key
from pushjuju.services.pictures.looks import Look, look_of, plain, rank

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A subordinate on a card, or an application that is not well on the card of a group."""

    name: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An application, a consumed application or a group of applications."""

    name: str  # the name, unique among the cards
    kind: str = "application"  # `application`, `consumed` or `group`
    status: str = "unknown"  # the worst status of the application and its units
    reason: str = ""  # why the status is not active; the unit's name comes first when the status is a unit's
    units: int = 0  # the number of units; of a group, the number of applications
    counts: tuple[tuple[str, int], ...] = ()  # (status, number of units) for the bar, the worst first
    chips: tuple[Chip, ...] = ()  # what the card shows by name, the worst first
    about: str = ""  # the charm, or the address of the offer that is consumed
    offered: bool = False
    exposed: bool = False
    peers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The relations between two cards."""

    requirer: str  # the card whose applications require
    provider: str  # the card whose applications provide
    relations: tuple[str, ...] = ()  # the relations as text: `web:db - pg:server`
    broken: bool = False  # whether a relation is suspended or in error


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The cards of a model in the order of the document, and their links."""

    name: str
    cards: Mapping[str, Card]
    links: tuple[Link, ...] = ()
    applications: int = 0
    units: int = 0
    machines: int = 0
    # card -> the place that people chose for the card
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def neighbours(self) -> dict[str, set[str]]:
        """Return card -> cards that are linked to the card."""
        found: dict[str, set[str]] = {name: set() for name in self.cards}
        for link in self.links:
            found[link.requirer].add(link.provider)
            found[link.provider].add(link.requirer)
        return found


@dataclass(slots=True)
class _Found:
    """What the graph is made from: units and chips by application, and where an application is drawn."""

    units: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    chips: dict[str, list[str]] = field(default_factory=dict)
    drawn_at: dict[str, str] = field(default_factory=dict)


def of_status(
    document: Document,
    relations: Sequence[Document],
    places: Mapping[str, tuple[float, float]] = MappingProxyType({}),
) -> Graph:
    """Return the graph of a status document.

    Args:
        document: The document of `status`, whole or filtered.
        relations: The rows of the relation section, with `provider`, `requirer`, `type` and `status`.
        places: application -> the place that people chose; see `chosen`.
    """
    applications: Document = document.get("applications", {})
    consumed: Document = document.get("application-endpoints", {})
    found = _Found(units=_units_by_application(applications))
    _place_subordinates(applications, relations, found)
    for name in (*applications, *consumed):
        found.drawn_at.setdefault(name, name)
    offered = {str(offer["application"]) for offer in document.get("offers", {}).values()}
    peers = {_application(row["provider"]) for row in relations if row["type"] == "peer"}
    cards = [
        replace(_card(name, item, found, applications), offered=name in offered, peers=name in peers)
        for name, item in applications.items()
        if found.drawn_at[name] == name
    ]
    cards += [_consumed(name, item) for name, item in consumed.items()]
    return Graph(
        name=str(document.get("model", {}).get("name", "")),
        cards={card.name: card for card in cards},
        links=tuple(_links(relations, found.drawn_at)),
        applications=len(applications),
        units=sum(len(units) for units in found.units.values()),
        machines=sum(1 for _ in _machines(document.get("machines", {}))),
        places=places,
    )


def _machines(machines: Document) -> Iterator[str]:
    for name, machine in machines.items():
        yield name
        yield from _machines(machine.get("containers", {}))


def _units_by_application(applications: Document) -> dict[str, dict[str, tuple[str, str]]]:
    """Return application -> unit -> its status and message, subordinates too."""
    found: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in applications}
    for application in applications.values():
        for name, unit in application.get("units", {}).items():
            found.setdefault(name.partition("/")[0], {})[name] = unit_status(unit)
            for other, inner in unit.get("subordinates", {}).items():
                found.setdefault(other.partition("/")[0], {})[other] = unit_status(inner)
    return found


def _application(endpoint: str) -> str:
    return endpoint.partition(":")[0]


def _place_subordinates(applications: Document, relations: Sequence[Document], found: _Found) -> None:
    """Decide which subordinates are chips only, and where the lines of their other relations end."""
    related = {
        _application(row[side])
        for row in relations
        if row["type"] == "regular"
        for side in ("provider", "requirer")
    }
    for name, item in applications.items():
        principals = [
            other
            for other in item.get("subordinate-to", ())
            if other in applications and not applications[other].get("subordinate-to")
        ]
        for principal in principals:
            found.chips.setdefault(principal, []).append(name)
        if len(principals) == 1 or (principals and name not in related):
            found.drawn_at[name] = principals[0]


def _card(name: str, item: Document, found: _Found, applications: Document) -> Card:
    units = found.units.get(name, {})
    status, reason = _worst(item, units)
    chips = [
        Chip(name=other, status=_worst(applications[other], found.units.get(other, {}))[0])
        for other in found.chips.get(name, ())
    ]
    counts = Counter(shown for shown, _ in units.values())
    return Card(
        name=name,
        status=status,
        reason=reason,
        units=len(units),
        counts=tuple(sorted(counts.items(), key=lambda pair: (rank(pair[0]), pair[0]))),
        chips=tuple(sorted(chips, key=lambda chip: (rank(chip.status), natural_key(chip.name)))),
        about=_about(name, item),
        exposed=bool(item.get("exposed")),
    )


def _about(name: str, item: Document) -> str:
    """Return what an application is, when its name does not say so: its charm, or a subordinate."""
    if principals := item.get("subordinate-to"):
        return f"subordinate of {len(principals)}"
    charm = str(item.get("charm-name", ""))
    return "" if charm == name else plain(charm)


def _worst(item: Document, units: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Return the worst status of an application and its units, and its reason."""
    own = item.get("application-status", {})
    worst, reason = str(own.get("current", "unknown")), plain(str(own.get("message", "")))
    for name, (status, message) in units.items():
        if rank(status) < rank(worst):
            worst, reason = status, f"{name}: {message}" if message else name
    return worst, "" if look_of(worst) is Look.OK else reason


def status_of_unit(unit: Document) -> Document:
    """Return the status that counts: the agent's when the agent is lost or failed, else the workload's."""
    workload, agent = unit.get("workload-status", {}), unit.get("juju-status", {})
    found: Document = agent if agent.get("current") in ("lost", "failed") else workload
    return found


def unit_status(unit: Document) -> tuple[str, str]:
    """Return the status of a unit and its message; see `status_of_unit`."""
    shown = status_of_unit(unit)
    return str(shown.get("current", "unknown")), plain(str(shown.get("message", "")))


def _consumed(name: str, item: Document) -> Card:
    status = item.get("application-status", {})
    return Card(
        name=name,
        kind="consumed",
        status=str(status.get("current", "unknown")),
        reason=plain(str(status.get("message", ""))),
        about=plain(str(item.get("url", ""))),
    )


def _links(relations: Iterable[Document], drawn_at: Mapping[str, str]) -> Iterator[Link]:
    """Yield one link for each pair of cards."""
    pairs: dict[tuple[str, str], list[Document]] = {}
    for row in relations:
        provider = drawn_at.get(_application(row["provider"]), "")
        requirer = drawn_at.get(_application(row["requirer"]), "")
        if row["type"] != "regular" or provider == requirer or not provider or not requirer:
            continue
        pair = (requirer, provider)
        pairs.setdefault(pair if pair[::-1] not in pairs else pair[::-1], []).append(row)
    for (requirer, provider), rows in pairs.items():
        yield Link(
            requirer=requirer,
            provider=provider,
            relations=tuple(f"{row['requirer']} - {row['provider']}" for row in rows),
            broken=any(row["status"] in ("suspended", "error") for row in rows),
        )
