"""Summarises what a hook changed, for the record of its run: names, never values. Pure.

Each hook's commit calls this, so that a hook without writes must cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MOST_NAMES = 20  # names of each kind that are kept; a count stands for the others
LONGEST_NAME = 64


def summary(writes: Mapping[str, Any]) -> dict[str, object]:
    """Return the summary of a hook's writes; empty when the hook wrote nothing but statuses.

    Args:
        writes: The writes that changed a value, as `uniter.apply.flush` returns them.
    """
    found: dict[str, object] = {}
    for kind, told in _TOLD.items():
        if (value := writes.get(kind)) and (said := told(value)):
            found[kind] = said
    return found


def statuses(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the workload statuses that a hook set, in order, without immediate repetitions.

    Args:
        events: As `runner.trust.intake.read_events` gives them, without the values of secrets.
    """
    found: list[str] = []
    for event in events:
        word = f"{event['status']}: {event['message']}" if event["message"] else str(event["status"])
        if found[-1:] != [word]:
            found.append(word)
    return found if len(found) <= MOST_NAMES else [*found[:MOST_NAMES], f"and {len(found) - MOST_NAMES} more"]


def _names(names: Iterable[str]) -> list[str]:
    """Return names sorted and shortened, because a machine may send thousands of any length."""
    listed = sorted(names)
    shown = [name[:LONGEST_NAME] for name in listed[:MOST_NAMES]]
    return shown if len(listed) <= MOST_NAMES else [*shown, f"and {len(listed) - MOST_NAMES} more"]


def _relations(bags: Mapping[str, Any]) -> dict[str, object]:
    """Return relation id -> `unit` and `app` -> keys that were written."""
    return {
        number: {side: _names(sides[side]) for side in ("unit", "app") if sides.get(side)}
        for number, sides in list(bags.items())[:MOST_NAMES]
    }


def _ports(ports: Mapping[str, Any]) -> dict[str, list[str]]:
    return {what: _names(map(_port, listed)) for what, listed in ports.items() if listed}


def _port(item: Mapping[str, Any]) -> str:
    if item["protocol"] == "icmp":
        return "icmp"
    first, last = item["from"], item["to"]
    return f"{first}/{item['protocol']}" if first == last else f"{first}-{last}/{item['protocol']}"


def _storage(asked: Mapping[str, int]) -> dict[str, int]:
    return {name: asked[name] for name in _names(asked) if name in asked}


def _secrets(writes: Mapping[str, Any]) -> dict[str, int]:
    """Return verb -> number of secrets; the summary does not even name secrets."""
    return {verb: len(listed) for verb, listed in writes.items() if listed}


_TOLD = {"relations": _relations, "ports": _ports, "state": _names, "storage": _storage, "secrets": _secrets}
