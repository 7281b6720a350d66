"""Iterates over the units of a status document, for all formats of `status`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pushjuju.cli.terminal.table import naturally
from pushjuju.core.values import regex

_RUNNING = regex(r"running (?:action (\S+)|(\S+) hook\b)")
_WORKING = ("idle", "executing", "running")


class UnitEntry(NamedTuple):
    """A unit, with `level` 0 for principals and 1 for their subordinates."""

    name: str
    unit: Mapping[str, Any]
    level: int


def walk(applications: Mapping[str, Any]) -> Iterator[UnitEntry]:
    """Yield every unit: principals in natural order of their names, each followed by its subordinates."""
    principals = {
        name: unit
        for application in applications.values()
        for name, unit in application.get("units", {}).items()
    }
    yield from _walk(principals, 0)


def _walk(units: Mapping[str, Any], level: int) -> Iterator[UnitEntry]:
    for name, unit in naturally(units):
        yield UnitEntry(name, unit, level)
        yield from _walk(unit.get("subordinates", {}), level + 1)


def workload_of(unit: Mapping[str, Any]) -> str:
    """Return the word of the workload status."""
    return str(unit.get("workload-status", {}).get("current", ""))


def agent_of(unit: Mapping[str, Any]) -> str:
    """Return the word of the agent status."""
    return str(unit.get("juju-status", {}).get("current", ""))


def works(unit: Mapping[str, Any]) -> bool:
    """Return True when a unit counts as working in the application's scale."""
    return agent_of(unit) in _WORKING and workload_of(unit) != "terminated"


def shown_message(unit: Mapping[str, Any]) -> str:
    """Return the message of a unit's row: the workload's message, after what the agent is doing."""
    if "status-error" in unit:
        return str(unit["status-error"])
    text = str(unit.get("workload-status", {}).get("message", ""))
    doing = str(unit.get("juju-status", {}).get("message", ""))
    if agent_of(unit) == "allocating" and not text:
        return doing
    found = _RUNNING.match(doing) if agent_of(unit) == "executing" else None
    return f"({found[1] or found[2]}) {text}".rstrip() if found else text
