"""action-get, action-set, action-fail and action-log.

Results and a failure are buffered, and kept whatever the action's outcome is; messages are sent at once.

Mirrors: juju worker/uniter/runner/jujuc/action-*.go, context/context.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    SMART,
    Args,
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

_RESERVED = ("stdout", "stdout-encoding", "stderr", "stderr-encoding")
MAX_LEVELS = 64
_NO_REASON = "action failed without reason given, check action for errors"


def _action(ctx: ToolContext) -> dict[str, object]:
    found: dict[str, object] | None = ctx.context.get("action")
    if not found:
        raise ToolError("not running an action")
    return found


def _action_get(ctx: ToolContext, args: Args) -> Any:
    key = args.take()
    check_empty(args.positional)
    value: Any = _action(ctx).get("params") or {}
    for part in key.split(".") if key else ():
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _is_key(text: str) -> bool:
    """Return True when one part of a key is lowercase letters and digits, with hyphens inside."""
    plain = text.replace("-", "a")
    outer = text[:1] + text[-1:]
    return plain.isascii() and plain.isalnum() and plain == plain.lower() and "-" not in outer


def _parse(word: str) -> tuple[list[str], str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise usage_error("argument %s must be of the form key...=value" % quote(word))
    keys = name.split(".")
    if len(keys) > MAX_LEVELS:
        raise usage_error("key %s has more than %d levels" % (quote(name[:64] + "..."), MAX_LEVELS))
    for key in keys:
        if not _is_key(key):
            text = (
                "key %s must start and end with lowercase alphanumeric, "
                "and contain only lowercase alphanumeric, hyphens and periods"
            )
            raise usage_error(text % quote(key))
        if key in _RESERVED:
            raise usage_error("cannot set reserved action key %s" % quote(key))
    return keys, value


def _action_set(ctx: ToolContext, args: Args) -> None:
    changes = [_parse(word) for word in args.positional]
    for keys, value in changes:
        _action(ctx)
        node = ctx.pending("action", "results", *keys[:-1])
        node[keys[-1]] = value


def _action_fail(ctx: ToolContext, args: Args) -> None:
    message = args.take(_NO_REASON)
    check_empty(args.positional)
    _action(ctx)
    ctx.pending("action").update(failed=True, message=message)


def _action_log(ctx: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("no message specified")
    _action(ctx)
    ctx.emit({"k": "action-log", "message": " ".join(args.positional)})


TOOLS = {
    "action-get": Tool(
        "action-get",
        _action_get,
        usage="[<key>[.<key>...]]",
        summary="Get action parameters.",
        details="Without a key all parameters are printed. A dot in a key selects an entry of a map.",
        formats=SMART,
    ),
    "action-set": Tool(
        "action-set",
        _action_set,
        usage="<key>=<value> [...]",
        summary="Set action results.",
        details="A dot in a key makes a nested map. When a key is given twice, the last value wins.",
    ),
    "action-fail": Tool(
        "action-fail",
        _action_fail,
        usage='["<failure message>"]',
        summary="Set action fail status with message.",
        details="The action's script continues, and its results are kept.",
    ),
    "action-log": Tool(
        "action-log",
        _action_log,
        usage="<message>",
        summary="Record a progress message for the current action.",
    ),
}
