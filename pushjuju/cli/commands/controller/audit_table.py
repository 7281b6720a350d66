"""Formats the lines of the audit log for `audit`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter
from pushjuju.cli.terminal.times import since_text
from pushjuju.core.clock import from_iso
from pushjuju.portable.gotypes import Struct
from pushjuju.services.views.listings import audit_lines
from pushjuju.services.views.listings.audit_lines import Verified

_MOST_NAMES = 4


def table(lines: Iterable[Mapping[str, Any]], *, utc: bool) -> str:
    """Return lines as a table."""
    made = TabWriter()
    made.row(*heads("Time", "User", "From", "Model", "Command", "Changed"))
    for line in lines:
        command = " ".join((line["command"], *line.get("arguments", ())))
        when = since_text(from_iso(line["time"]), utc=utc)
        made.row(when, line["user"], _from(line), line.get("model", ""), command, _changed(line))
    return made.text()


def _from(line: Mapping[str, Any]) -> str:
    """Return the door of a line, with the login name or the address behind it."""
    who, door = line.get("login") or line.get("host", ""), line["door"] or "pushjuju"
    return f"{door} {who}".strip()


def _changed(line: Mapping[str, Any]) -> str:
    names = list(line.get("changed", ()))
    if pruned := line.get("pruned"):
        return f"lines up to {pruned['number']} deleted"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    ended = audit_lines.failed(line)
    return "; ".join(text for text in (", ".join(names[:_MOST_NAMES]) + more, ended) if text)


def verified(found: Verified) -> Struct:
    """Return the result of a check as a document."""
    document = Struct(lines=found.lines, last=found.last, hash=found.hash, intact=not found.problems)
    if found.problems:
        document["problems"] = list(found.problems)
    return document


def verdict(found: Verified) -> str:
    """Return the result of a check as text."""
    if found.problems:
        return "".join(f"{problem}\n" for problem in found.problems)
    if not found.lines:
        return "The audit log has no lines.\n"
    return f"{found.lines} lines are intact; the newest is {found.last}, {found.hash}\n"
