"""Formats plans. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pushjuju.cli.terminal.paint import GRAY, GREEN, RED, YELLOW, paint
from pushjuju.cli.terminal.table import TabWriter
from pushjuju.portable.gotypes import Struct

if TYPE_CHECKING:
    from pushjuju.cli.commands.plan.planned import Plan
    from pushjuju.services.views.inventory import Change

_SIGNS = {"add": paint("+", GREEN), "change": paint("~", YELLOW), "remove": paint("-", RED)}


def document(plan: Plan) -> Struct:
    return Struct(
        {
            "command": list(plan.command),
            "changed": plan.changed,
            "changes": [_change(change) for change in plan.changes],
            "hooks": [
                Struct(
                    {
                        "machine": step.machine,
                        "unit": step.unit,
                        "hook": step.title,
                        "kind": step.kind,
                        "anyway": anyway,
                        **({"parallel": True} if step.parallel else {}),
                    }
                )
                for step, anyway in plan.steps
            ],
            "unknown": list(plan.unknown),
            **({"blocked": list(plan.blocked)} if plan.blocked else {}),
            **({"not-in-bundle": list(plan.left)} if plan.left else {}),
        }
    )


def _change(change: Change) -> Struct:
    fields: dict[str, Any] = dict(change.fields)
    if change.action == "change":
        fields = {name: Struct({"from": was, "to": now}) for name, (was, now) in fields.items()}
    told = {"action": change.action, "kind": change.kind, "name": change.name, "model": change.model}
    return Struct({**told, **({"fields": fields} if fields else {})})


def table(plan: Plan, *, colour: bool = False) -> str:
    if not plan.changed:
        return "Nothing would change.\n" + _left(plan)
    parts = (_changes(plan, colour), _hooks(plan, colour), _blocked(plan), _unknown(plan), _left(plan))
    return "".join(parts) + _summary(plan)


def _changes(plan: Plan, colour: bool) -> str:
    models = {change.model for change in plan.changes}
    writer = TabWriter(colour=colour)
    for change in plan.changes:
        where = f"{change.model}: " if len(models) > 1 and change.model else ""
        writer.row(_SIGNS[change.action], f"{where}{change.kind} {change.name}", _fields(change))
    return writer.text()


def _fields(change: Change) -> str:
    if change.action == "change":
        return ", ".join(f"{name} {_word(was)} -> {_word(now)}" for name, (was, now) in change.fields.items())
    return ", ".join(f"{name} {value}" for name, value in change.fields.items() if value != change.name)


def _word(value: Any) -> str:
    return "(none)" if value in (None, "") else str(value)


def _hooks(plan: Plan, colour: bool) -> str:
    if not plan.steps:
        return ""
    writer = TabWriter("Machine", "Unit", "Runs", "", colour=colour)
    for step, anyway in plan.steps:
        title = step.title if step.kind in ("hook", "charm") else f"{step.kind} {step.title}"
        told = (anyway and "(also without the command)") or (step.parallel and "(beside the others)") or ""
        writer.row(step.machine, step.unit, title, paint(told, GRAY) if told else "")
    return f"\n{writer.text()}"


def _blocked(plan: Plan) -> str:
    """Return the obstacles of a removal."""
    return "".join(("\nIn the way:\n", *(f"  {line}\n" for line in plan.blocked))) if plan.blocked else ""


def _unknown(plan: Plan) -> str:
    lines = [*plan.unknown, *(["whether each hook succeeds, and what it writes"] if plan.steps else [])]
    return "".join(("\nNot known:\n", *(f"  {line}\n" for line in lines))) if lines else ""


def _left(plan: Plan) -> str:
    """Return what only `apply --prune` removes."""
    head = "\nNot in the bundle, and left alone (`apply --prune` does this):\n"
    return "".join((head, *(f"  {line}\n" for line in plan.left))) if plan.left else ""


def _summary(plan: Plan) -> str:
    counts = {
        action: sum(change.action == action for change in plan.changes)
        for action in ("add", "change", "remove")
    }
    hooks = [step for step, anyway in plan.steps if not anyway]
    units = len({step.unit for step in hooks})
    told = ", ".join(f"{count} to {action}" for action, count in counts.items())
    return f"\nPlan: {told}; {_many(len(hooks), 'hook')} on {_many(units, 'unit')}.\n"


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
