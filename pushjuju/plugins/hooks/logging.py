"""The tool juju-log: sends a message to the model's log at once, and waits for no answer.

Mirrors: juju worker/uniter/runner/jujuc/juju-log.go (3.6)
"""

from __future__ import annotations

from pushjuju.portable.loglevels import level_of
from pushjuju.runner.remote.toolkit import (
    Args,
    Flag,
    Tool,
    ToolContext,
    deprecated_format_flag,
    quote,
    usage_error,
    warn_format,
)


def _log(ctx: ToolContext, level: str, message: str) -> None:
    ctx.emit({"k": "log", "level": level, "module": "unit.%s.juju-log" % ctx.unit, "message": message})


def _juju_log(ctx: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("no message specified")
    warn_format(ctx, args, "juju-log")
    level = "DEBUG" if args["debug"] else level_of(args["log-level"])
    if not level:
        _log(ctx, "WARNING", "Specified log level of %s is not valid" % quote(args["log-level"]))
        level = "INFO"
    relation = ctx.hook_relation
    prefix = "%s:%d: " % (relation["endpoint"], relation["id"]) if relation else ""
    _log(ctx, level, prefix + " ".join(args.positional))


TOOLS = {
    "juju-log": Tool(
        "juju-log",
        _juju_log,
        usage="<message>",
        summary="Write a message to the model's log.",
        flags=[
            Flag("debug", help="Log at debug level", boolean=True),
            Flag("l", "log-level", help="Send log message at the given level", default="INFO"),
            deprecated_format_flag(),
        ],
    )
}
