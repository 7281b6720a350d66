"""Decisions of units for users: what a unit wants now and why, and a recorded decision taken again."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.views import explain
from pushjuju.services.views.explain_basis import Reason
from pushjuju.uniter.decide.decision import Decision
from pushjuju.uniter.replay import Replayed, decision_text, replayed
from pushjuju.uniter.wanted import wanted

__all__ = ["Decision", "Replayed", "decision_text", "explained", "replayed"]


def explained(ctx: Context, model: str, names: Sequence[str]) -> Sequence[Reason]:
    """Return why entities of a model are in their state, for all units and machines without names."""
    return explain.explain(ctx, model, wanted, names)
