"""Formats `offers`, `find-offers` and `show-offer`. Pure.

Mirrors: juju cmd/juju/crossmodel/{list,find,show}formatter.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pushjuju.cli.terminal.output import Formatter, render
from pushjuju.cli.terminal.shapes import struct
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.cli.terminal.times import friendly, with_texts

_LONGEST, _CUT, _WIDTH = 180, "...", 45
_ELSEWHERE = ("", "", "")
Document = Mapping[str, Any]


def _marked(
    table: Callable[[Any], str], told: Callable[[Any], Any] = lambda found: found
) -> dict[str, Formatter]:
    """Return the formats of a document of offers; `told` formats the times in the document."""
    return {
        "tabular": lambda document: table(told(document)),
        "yaml": lambda document: render("yaml", struct(told(document), "*offer")),
        "json": lambda document: render("json", struct(told(document), "*offer")),
    }


def listed(now: datetime) -> dict[str, Formatter]:
    """Return the formats of `offers`."""

    def told(document: Any) -> Any:
        return with_texts(document, lambda moment: friendly(moment, now))

    return {**_marked(connections, told), "summary": lambda document: summary(told(document))}


def found() -> dict[str, Formatter]:
    """Return the formats of `find-offers`."""
    return _marked(places)


def shown() -> dict[str, Formatter]:
    """Return the formats of `show-offer`."""
    return _marked(details)


# --- offers -----------------------------------------------------------------------------------------------


def connections(document: Document) -> str:
    """Return the table of the relations to each offer."""
    table = TabWriter()
    table.row("Offer", "User", "Relation ID", "Status", "Endpoint", "Interface", "Role", "Ingress subnets")
    for name, offer in sorted(document.items()):
        links = sorted(offer.get("connections", ()), key=lambda link: (link["username"], link["relation-id"]))
        if not links:
            table.row(name, "-", *[""] * 6)
        for number, link in enumerate(links):
            table.row("" if number else name, *_connection(offer, link))
    return table.text()


def _connection(offer: Document, link: Document) -> tuple[str, ...]:
    endpoint = offer["endpoints"].get(link["endpoint"], {})
    return (
        link["username"],
        str(link["relation-id"]),
        link["status"]["current"],
        link["endpoint"] if endpoint else "",
        endpoint.get("interface", ""),
        endpoint.get("role", ""),
        ",".join(link.get("ingress-subnets", ())),
    )


def summary(document: Document) -> str:
    """Return the table of offers, with a line for each endpoint."""
    table = TabWriter()
    table.row("Offer", "Application", "Charm", "Connected", "Store", "URL", "Endpoint", "Interface", "Role")
    for name, offer in sorted(document.items()):
        links = offer.get("connections", ())
        active = sum(1 for link in links if link["status"]["current"] == "joined")
        place = offer.get("store", ""), offer["offer-url"]
        lead = (name, offer["application"], offer.get("charm", ""), f"{active}/{len(links)}", *place)
        for endpoint, entry in sorted(offer["endpoints"].items()):
            table.row(*lead, endpoint, entry["interface"], entry["role"])
            lead = ("",) * 6
    return table.text()


# --- find-offers, show-offer ------------------------------------------------------------------------------


def places(document: Document) -> str:
    """Return the table of `find-offers`."""
    table = TabWriter()
    table.row("Store", "URL", "Access", "Interfaces")
    for url, offer in sorted(document.items()):
        store, _, place = url.partition(":")
        ends = sorted(f"{entry['interface']}:{name}" for name, entry in offer["endpoints"].items())
        table.row(store, place, offer["access"], ", ".join(ends))
    return table.text()


def details(document: Document) -> str:
    """Return the table of an offer: its description beside its endpoints."""
    table = TabWriter()
    table.row("Store", "URL", "Access", "Description", "Endpoint", "Interface", "Role")
    for url, offer in sorted(document.items()):
        store, _, place = url.partition(":")
        lead = store, place, offer["access"]
        for line, end in _beside(offer):
            table.row(*lead, line, *end)
            lead = "", "", ""
    return table.text()


def _beside(offer: Document) -> Iterator[tuple[str, Sequence[str]]]:
    ends = [(name, item["interface"], item["role"]) for name, item in sorted(offer["endpoints"].items())]
    lines = _lines(offer.get("description", ""))
    for number in range(max(len(lines), len(ends))):
        line = lines[number] if number < len(lines) else ""
        yield line, ends[number] if number < len(ends) else _ELSEWHERE


def _lines(text: str) -> list[str]:
    """Break a description into lines; the end of a long description is cut."""
    if len(text) > _LONGEST:
        text = text[: _LONGEST - len(_CUT)] + _CUT
    words = text.split()
    if len(words) == 1:
        return [words[0][start : start + _WIDTH] for start in range(0, len(words[0]), _WIDTH)]
    lines: list[str] = [""]
    for word in words:
        joined = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(joined) > _WIDTH:
            lines.append(word)
        else:
            lines[-1] = joined
    return lines
