"""Why units and machines do what they do, or wait: what `explain` tells. Layer: services.

Sources: the last decision kept with each unit, the removals that wait, and the reasons in the work queue.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pushjuju.core.clock import from_iso
from pushjuju.core.errors import NotFound
from pushjuju.core.natural import natural_key
from pushjuju.services import removal
from pushjuju.services.context import Context
from pushjuju.state.records import Cleanup, Unit
from pushjuju.state.work import SqliteWorkQueue, WorkItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why one thing is as it is.

    Attributes:
        subject: `web/0`, `machine 0`, `model`.
        doing: What was decided: `run config-changed`, `idle`, `waiting`.
        reason: Why, and who decided; may be empty.
        due: When it is looked at again; None: when something changes.
        attempts: Failures in a row.
    """

    subject: str
    doing: str
    reason: str
    due: datetime | None = None
    attempts: int = 0


def explain(ctx: Context, model: str, names: Sequence[str] = ()) -> list[Reason]:
    """Return the reasons of a model's units and of its work, in natural order.

    Args:
        ctx: The controller.
        model: UUID.
        names: Units or machine ids; all when empty.

    Raises:
        NotFound: There is no such unit or machine.
    """
    with ctx.store.read() as tx:
        units = tx.list(Unit, "unit_list", model=model)
    items = SqliteWorkQueue(ctx.store, "explain").items(model)
    found = [_of_unit(unit) for unit in sorted(units, key=lambda unit: natural_key(unit.name))]
    found += [_of_removal(end) for end in removal.forced_ends(ctx, model)]
    found += [_of_item(item) for item in items]
    if not names:
        return found
    wanted = {name if "/" in name else f"machine {name}" for name in names}
    missing = wanted - {reason.subject for reason in found}
    if missing:
        raise NotFound(f"{min(missing)} not found, or it has no work")
    return [reason for reason in found if reason.subject in wanted]


def _of_unit(unit: Unit) -> Reason:
    decision = json.loads(unit.decision).get("decision", {})
    operation = decision.get("operation") or {}
    # An operation is told by its own words: its kind and, for a hook, which.
    what = [str(value) for value in operation.values() if isinstance(value, str)]
    who, why = decision.get("badge", ""), decision.get("reason", "")
    due = [from_iso(text) for text in (unit.retry_due, unit.update_status_due) if text]
    return Reason(
        subject=unit.name,
        doing=" ".join((decision.get("answer", "not decided yet"), *what)),
        reason=f"{why} ({who})" if who else str(why),
        due=min(due) if due else None,
        attempts=unit.retry_count if unit.retry_due else 0,
    )


def _of_removal(end: Cleanup) -> Reason:
    subject = removal.forced_subject(end.kind, end.entity)
    return Reason(subject=subject, doing="waiting to be removed", reason=end.reason, due=from_iso(end.due))


def _of_item(item: WorkItem) -> Reason:
    _, kind, name = (*item.key.split("/", 2), "", "")[:3]
    return Reason(
        subject=f"machine {name}" if kind == "machine" else "model",
        doing=f"worked by {item.owner}" if item.owner else "waiting" if item.due else "at rest",
        reason=item.reason,
        due=item.due,
        attempts=item.attempts,
    )
