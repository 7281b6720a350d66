"""Formats the result of `replay`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.cli.commands.hook.run_table import struct
from pushjuju.cli.terminal.paint import GREEN, RED, paint
from pushjuju.cli.terminal.table import heads
from pushjuju.cli.terminal.tabwriter import TabWriter
from pushjuju.portable.gotypes import Struct
from pushjuju.services.views import decisions
from pushjuju.workers import deciding


def document(found: decisions.Decided, again: deciding.Replayed) -> Struct:
    """Return the document of a repeated decision."""
    return Struct(
        {
            **struct(subject=found.subject, unit=found.unit, operation=found.operation, hook=found.title),
            "recorded": _decision(again.kept),
            "now": _decision(again.now),
            "same": not again.differences,
            **struct(differences=list(again.differences)),
            "resolvers": [Struct(resolver=item.resolver, says=item.text) for item in again.said],
            "record": dict(found.record),
        }
    )


def _decision(decision: deciding.Decision) -> Struct:
    effects = [effect.kind.value for effect in decision.effects]
    return struct(
        answer=decision.answer.value,
        doing=deciding.decision_text(decision),
        reason=decision.reason,
        resolver=decision.badge,
        effects=effects,
    )


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
