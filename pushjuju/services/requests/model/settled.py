"""Tells of a command that has done its work on a model."""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.core.problems import Problem, Subject
from pushjuju.services.entities.basis import notices
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Model


def tell(ctx: Context, model: str, seconds: float, problems: Sequence[Problem]) -> bool:
    """Record that a command's work on a model has ended; return False when nobody wants to know.

    Args:
        seconds: How long the work took.
        problems: What failed.
    """
    with ctx.read(model) as tx:
        if not notices.wanted(tx, notices.SETTLED):
            return False
    command = ctx.caller.command
    with ctx.write(model) as tx:
        found = tx.find(Model, "model_by_uuid", uuid=model)
        if found is None:
            return False
        ended = f'"{command}" has done its work on model {found.name} in {seconds:.0f} s'
        failed = "; ".join(problem.text for problem in problems)
        text = f"{ended}; failed: {failed}" if failed else ended
        data = {
            "command": command,
            "seconds": round(seconds, 1),
            "problems": [item.text for item in problems],
        }
        notices.record(tx, notices.SETTLED, Subject("model", found.qualified), text, data)
    return True
