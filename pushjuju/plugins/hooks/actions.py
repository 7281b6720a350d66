"""action-get, action-set, action-fail and action-log, as they answer outside an action.

Mirrors: juju worker/uniter/runner/jujuc/action-*.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import SMART, Args, Tool, ToolContext, ToolError, usage_error

_NOT_IN_ACTION = "not running an action"


def _refuse(_: ToolContext, __: Args) -> None:
    raise ToolError(_NOT_IN_ACTION)


def _action_log(_: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("no message specified")
    raise ToolError(_NOT_IN_ACTION)


TOOLS = {
    "action-get": Tool(
        "action-get", _refuse, usage="[<key>[.<key>...]]", summary="Get action parameters.", formats=SMART
    ),
    "action-set": Tool("action-set", _refuse, usage="<key>=<value> [...]", summary="Set action results."),
    "action-fail": Tool(
        "action-fail", _refuse, usage='["<failure message>"]', summary="Set action fail status with message."
    ),
    "action-log": Tool(
        "action-log",
        _action_log,
        usage="<message>",
        summary="Record a progress message for the current action.",
    ),
}
