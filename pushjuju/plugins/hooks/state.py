"""The tools state-get, state-set and state-delete: values that the controller stores for a unit.

The snapshot contains the state; a large state is fetched when a tool first reads it. Writes are buffered, and
the hook that made them sees them.

Mirrors: juju worker/uniter/runner/jujuc/state-*.go, core/quota (3.6)
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
    file_flag,
    key_values,
    quote,
    read_settings,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_KEY = 256  # bytes
MAX_VALUE = 65536  # bytes


def _state(ctx: ToolContext) -> dict[str, str]:
    """Return the stored state with the buffered changes of this hook."""
    stored = ctx.context.get("state")
    if stored is None:
        stored = ctx.reads.get("state") or ctx.ask_data("state-get", [])
        ctx.reads["state"] = stored
    merged = dict(stored)
    for key, value in ctx.writes.get("state", {}).items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged


def _state_get(ctx: ToolContext, args: Args) -> Any:
    key = args.take()
    check_empty(args.positional)
    state = _state(ctx)
    if key in ("", "-"):
        return state
    if key not in state and args["strict"]:
        raise ToolError("%s not found" % quote(key))
    return state.get(key, "")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _state_set(ctx: ToolContext, args: Args) -> None:
    overrides = key_values(args.positional)
    settings = read_settings(ctx, args["file"])
    settings.update(overrides)
    for key, value in settings.items():
        if _size(key) > MAX_KEY:
            raise ToolError("max allowed key length (%d) exceeded" % MAX_KEY)
        if _size(value) > MAX_VALUE:
            raise ToolError("max allowed value length (%d) exceeded" % MAX_VALUE)
    if settings:
        ctx.pending("state").update(settings)


def _state_delete(ctx: ToolContext, args: Args) -> None:
    key = args.take()
    check_empty(args.positional)
    if key:
        ctx.pending("state")[key] = None


TOOLS = {
    "state-get": Tool(
        "state-get",
        _state_get,
        usage="[<key>]",
        summary="Print server-side-state value.",
        details='Print one value, or all when no key, or "-", is given.',
        flags=[Flag("strict", help="Return an error if the requested key does not exist", boolean=True)],
        formats=SMART,
    ),
    "state-set": Tool(
        "state-set",
        _state_set,
        usage="<key>=<value> [...]",
        summary="Set server-side-state values.",
        details="The values are stored when the hook succeeds. Arguments override the file.",
        flags=[file_flag()],
    ),
    "state-delete": Tool(
        "state-delete", _state_delete, usage="<key>", summary="Delete server-side-state key value pairs."
    ),
}
