"""Formats `explain`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter
from pushjuju.services.entities.machine import machine_work


def reasons(
    entries: Sequence[Mapping[str, Any]],
    program: str = "pushjuju",
    *,
    wide: bool = False,
    colour: bool = False,
) -> str:
    """Return the output of `explain`.

    Args:
        entries: `subject`, `doing`, `reason`, `again` (text), `attempts`, and the keys of `explain.fields`.
        program: The name under which the user called pushjuju.
        wide: Whether to show, after the table, who works each entity and what to type next.
        colour: Whether the output has colours.
    """
    table = TabWriter(colour=colour)
    table.row(*heads("Subject", "Doing", "Again", "Failures", "Reason"))
    for entry in entries:
        failures = str(entry.get("attempts") or "")
        table.row(entry["subject"], entry["doing"], entry.get("again", ""), failures, entry.get("reason", ""))
    if wide:
        return table.text() + "".join(_more(entry, program) for entry in entries)
    left = ", ".join(dict.fromkeys(entry["subject"] for entry in entries if entry.get("unattended")))
    return table.text() + (f"\n{left}: {machine_work.Hands().text(program)}\n" if left else "")


def _more(entry: Mapping[str, Any], program: str) -> str:
    """Return which process works on an entity, and what the user can do next; may be empty."""
    lines = []
    if entry.get("running"):
        lines.append(f"running since {entry['since']}: {entry['running']} (has the machine's lock)")
    elif entry.get("since"):
        lines.append(f"since {entry['since']}")
    if entry.get("held-by"):
        lines.append(f"worked by process {entry['held-by']}")
    if entry.get("attended-by"):
        lines.append(machine_work.Hands(waiting=entry["attended-by"]).text(program, entry.get("again", "")))
    if entry.get("unattended"):
        lines.append(machine_work.Hands().text(program))
    if entry.get("leader"):
        lines.append(f"leader: {entry['leader']}")
    lines += [f"next: {program} {text}" for text in entry.get("next", ())]
    return "".join((f"\n{entry['subject']}\n", *(f"  {line}\n" for line in lines))) if lines else ""
