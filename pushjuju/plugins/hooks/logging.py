"""juju-log and application-version-set: what goes to the controller at once, one way.

Mirrors: juju worker/uniter/runner/jujuc/{juju-log,application-version-set}.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    Args,
    Flag,
    Tool,
    ToolContext,
    check_empty,
    deprecated_format_flag,
    quote,
    usage_error,
    warn_format,
)

_LEVELS = {
    "TRACE": "TRACE",
    "DEBUG": "DEBUG",
    "INFO": "INFO",
    "WARN": "WARNING",
    "WARNING": "WARNING",
    "ERROR": "ERROR",
    "CRITICAL": "CRITICAL",
}


def _log(ctx: ToolContext, level: str, message: str) -> None:
    ctx.emit({"k": "log", "level": level, "module": "unit.%s.juju-log" % ctx.unit, "message": message})


def _juju_log(ctx: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("no message specified")
    warn_format(ctx, args, "juju-log")
    level = "DEBUG" if args["debug"] else _LEVELS.get(args["log-level"].upper(), "")
    if not level:
        _log(ctx, "WARNING", "Specified log level of %s is not valid" % quote(args["log-level"]))
        level = "INFO"
    relation = ctx.hook_relation
    prefix = "%s:%d: " % (relation["endpoint"], relation["id"]) if relation else ""
    _log(ctx, level, prefix + " ".join(args.positional))


def _application_version_set(ctx: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("no version specified")
    version = args.take()
    check_empty(args.positional)
    ctx.emit({"k": "version", "version": version})


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
    ),
    "application-version-set": Tool(
        "application-version-set",
        _application_version_set,
        usage="<new-version>",
        summary="Specify which version of the application is deployed.",
        details="The version last set by any unit is shown in the Version column of status.",
    ),
}
