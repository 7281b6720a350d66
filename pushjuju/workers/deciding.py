"""Decisions of units for users: what a unit does next and why, and a recorded decision repeated."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pushjuju.portable.gotypes import Struct
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views import decisions, explain
from pushjuju.services.views.explain_basis import Reason
from pushjuju.services.views.listings.run_documents import struct
from pushjuju.uniter.decide.decision import Decision
from pushjuju.uniter.replay import Replayed, decision_text, replayed
from pushjuju.uniter.wanted import wanted

__all__ = ["Decision", "Replayed", "decision_text", "document", "explained", "of_overview", "replayed"]


def explained(ctx: Context, model: str, names: Sequence[str], most: int = sys.maxsize) -> Sequence[Reason]:
    """Return the reasons for the state of some entities; without names, of all units and machines.

    Args:
        most: Of an application, the reasons of so many units that are not idle.
    """
    return explain.explain(ctx, model, wanted, names, most=most)


def of_overview(ctx: Context, model: str, units: Sequence[str]) -> Sequence[Reason]:
    """Return the reasons of some units, of all that is worked on or failed, and of the model's loops."""
    return explain.explain(ctx, model, wanted, units, busy=True)


def document(found: decisions.Decided, again: Replayed) -> Struct:
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


def _decision(decision: Decision) -> Struct:
    effects = [effect.kind.value for effect in decision.effects]
    return struct(
        answer=decision.answer.value,
        doing=decision_text(decision),
        reason=decision.reason,
        resolver=decision.badge,
        effects=effects,
    )
