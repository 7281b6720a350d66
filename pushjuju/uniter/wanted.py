"""Return a unit's decision at this moment, without running an operation."""

from __future__ import annotations

import json

from pushjuju.core.errors import NotFound, NotValid
from pushjuju.services.views.explain_basis import Wanted
from pushjuju.store.rows.records import Unit
from pushjuju.store.tx import ModelTx
from pushjuju.uniter.decide.decision import Decision
from pushjuju.uniter.decide.loop import decide
from pushjuju.uniter.decide.wire import from_wire
from pushjuju.uniter.input.snapshot import read_view
from pushjuju.uniter.replay import decision_text


def wanted(tx: ModelTx, unit: Unit, anew: bool) -> Wanted | None:
    """Return what a unit decided to do next, or None when the unit has decided nothing yet.

    Args:
        anew: Decide from the present state; when this is not possible, return the last recorded decision.
    """
    kept = json.loads(unit.decision).get("decision")
    decision = _now(tx, unit) if anew and kept else None
    if decision is None and kept:
        decision = _kept(kept)
    if decision is None:
        return None
    return Wanted(
        answer=decision.answer.value,
        text=decision_text(decision),
        reason=decision.reason,
        badge=decision.badge,
    )


def _now(tx: ModelTx, unit: Unit) -> Decision | None:
    try:
        view = read_view(tx, unit.name)
    except (NotFound, NotValid):
        return None
    return decide(view.local, view.remote) if view is not None else None


def _kept(document: object) -> Decision | None:
    try:
        return from_wire(Decision, document)
    except NotValid:
        return None
