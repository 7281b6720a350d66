"""Formats the result of `replay`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.terminal.paint import GREEN, RED, paint
from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter


def text(document: Mapping[str, Any], *, colour: bool = False) -> str:
    """Return the text of a repeated decision."""
    table = TabWriter(colour=colour)
    about = " ".join(filter(None, (document.get("unit", ""), document.get("hook", ""))))
    table.row("Decision of", about or document["subject"])
    for title, key in (("Recorded", "recorded"), ("Now", "now")):
        decision = document[key]
        table.row(
            title, f"{decision['doing']}: {decision.get('reason', '')} ({decision.get('resolver', '')})"
        )
    same = paint("the same", GREEN) if document["same"] else paint("otherwise", RED)
    table.row("Result", same)
    return table.text() + _listed("Differences", document.get("differences", ())) + _said(document, colour)


def _listed(title: str, lines: Sequence[str]) -> str:
    return "".join((f"\n{title}:\n", *(f"  {line}\n" for line in lines))) if lines else ""


def _said(document: Mapping[str, Any], colour: bool) -> str:
    table = TabWriter(colour=colour)
    table.row(*heads("Resolver", "Says"))
    for item in document["resolvers"]:
        table.row(item["resolver"], item["says"])
    return f"\n{table.text()}"
