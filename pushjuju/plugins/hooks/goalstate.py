"""The tool goal-state: the units and relations that the model wants, also those that have not joined yet.

Mirrors: juju worker/uniter/runner/jujuc/goal-state.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import YAML_FIRST, Args, Struct, Tool, ToolContext, check_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _statuses(known: dict[str, Any]) -> dict[str, Struct]:
    return {
        name: Struct((key, status[key]) for key in ("status", "since") if status.get(key))
        for name, status in known.items()
    }


def _goal_state(ctx: ToolContext, args: Args) -> Struct:
    check_empty(args.positional)
    goal = ctx.reads.get("goal_state") or ctx.ask_data("goal-state", [])
    ctx.reads["goal_state"] = goal
    relations = {name: _statuses(known) for name, known in (goal.get("relations") or {}).items()}
    return Struct([("units", _statuses(goal.get("units") or {})), ("relations", relations)])


TOOLS = {
    "goal-state": Tool(
        "goal-state",
        _goal_state,
        summary="Print the status of the charm's peers and related units.",
        formats=YAML_FIRST,
    )
}
