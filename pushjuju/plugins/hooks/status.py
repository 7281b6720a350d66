"""The tools status-get and status-set: the workload status of the unit and of its application.

Mirrors: juju worker/uniter/runner/jujuc/{status-get,status-set}.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    SMART,
    Args,
    Flag,
    Tool,
    ToolContext,
    ToolError,
    check_empty,
    quote,
    usage_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_VALID = ("maintenance", "blocked", "waiting", "active")
_NOT_LEADER = "this unit is not the leader"


def _current(ctx: ToolContext) -> dict[str, object]:
    """Return the unit's status, with the changes of this hook."""
    found: dict[str, object] = ctx.reads.get("status_set", {}).get("unit") or ctx.context["status"]["unit"]
    return found


def _render(status: dict[str, object], with_data: bool) -> dict[str, object]:
    if not with_data:
        return {"status": status["status"]}
    return {
        "status": status["status"],
        "message": status.get("message") or "",
        "status-data": status.get("data") or {},
    }


def _unit_status(ctx: ToolContext) -> dict[str, object]:
    """Return the unit's status as the hook first read it, even after a later status-set."""
    if "unit_status" not in ctx.reads:
        ctx.reads["unit_status"] = _current(ctx)
    known: dict[str, object] = ctx.reads["unit_status"]
    return known


def _application_status(ctx: ToolContext, with_data: bool) -> dict[str, object]:
    known = ctx.reads.get("application_status") or ctx.ask_data("status-get", ["--application"])
    ctx.reads["application_status"] = known
    units = dict(known["units"])
    units[ctx.unit] = _current(ctx)
    own = ctx.reads.get("status_set", {}).get("app") or known["app"]
    answer = _render(own, with_data)
    answer["units"] = {name: _render(status, with_data) for name, status in units.items()}
    return answer


def _status_get(ctx: ToolContext, args: Args) -> Any:
    check_empty(args.positional)
    with_data = args["include-data"]
    if args["application"]:
        if not ctx.is_leader():
            raise ToolError("finding application status: " + _NOT_LEADER)
        answer = _application_status(ctx, with_data)
        if args.format == "smart" and not with_data:
            return answer["status"]
        return {"application-status": answer}
    status = _unit_status(ctx)
    if args.format == "smart" and not with_data:
        return status["status"]
    return _render(status, with_data)


def _status_set(ctx: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("invalid args, require <status> [message]")
    status = args.take()
    if status not in _VALID:
        text = "invalid status %s, expected one of [%s]" % (quote(status), " ".join(_VALID))
        raise usage_error(text)
    message = args.take()
    check_empty(args.positional)
    scope = "app" if args["application"] else "unit"
    if scope == "app" and not ctx.is_leader():
        raise ToolError(_NOT_LEADER)
    ctx.writes["status_set"] = True
    ctx.reads.setdefault("status_set", {})[scope] = {"status": status, "message": message, "data": {}}
    ctx.emit({"k": "status", "scope": scope, "status": status, "message": message})


TOOLS = {
    "status-get": Tool(
        "status-get",
        _status_get,
        summary="Print status information.",
        details="The unit's workload status; with --application, that of the application and its units.",
        flags=[
            Flag(
                "application",
                help="Print the status of the application and all its units; only the leader may",
                boolean=True,
            ),
            Flag("include-data", help="Print all status data", boolean=True),
        ],
        formats=SMART,
    ),
    "status-set": Tool(
        "status-set",
        _status_set,
        usage="<maintenance | blocked | waiting | active> [message]",
        summary="Set status information.",
        details="Takes effect at once, and stays even when the hook fails.",
        flags=[
            Flag("application", help="Set the status of the application; only the leader may", boolean=True)
        ],
    ),
}
