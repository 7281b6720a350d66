"""The tools is-leader, leader-get and leader-set.

The controller changes no leader while a hook runs, so the answer in the snapshot stays true.

Mirrors: juju worker/uniter/runner/jujuc/{is-leader,leader-get,leader-set}.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    SMART,
    Args,
    Tool,
    ToolContext,
    ToolError,
    check_empty,
    key_values,
    quote,
    usage_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _is_leader(ctx: ToolContext, args: Args) -> bool:
    check_empty(args.positional)
    return ctx.is_leader()


def _settings(ctx: ToolContext) -> dict[str, str]:
    """Return the leader settings, with the changes that this hook has made."""
    settings = dict(ctx.context.get("leader_settings") or {})
    for key, value in ctx.reads.get("leader_set", {}).items():
        if value:
            settings[key] = value
        else:
            settings.pop(key, None)
    return settings


def _leader_get(ctx: ToolContext, args: Args) -> Any:
    key = args.take()
    if "=" in key:
        raise usage_error("invalid key %s" % quote(key))
    check_empty(args.positional)
    settings = _settings(ctx)
    return settings if key in ("", "-") else settings.get(key)


def _leader_set(ctx: ToolContext, args: Args) -> None:
    changes = key_values(args.positional)
    if not changes:
        return
    if not ctx.is_leader():
        raise ToolError("cannot write leadership settings: cannot write settings: not the leader")
    words = ["%s=%s" % item for item in changes.items()]
    ctx.ask("leader-set", ["--", *words])
    ctx.reads.setdefault("leader_set", {}).update(changes)


TOOLS = {
    "is-leader": Tool(
        "is-leader",
        _is_leader,
        summary="Print application leadership status.",
        details="When it prints true, the unit stays the leader for at least 30 seconds.",
        formats=SMART,
    ),
    "leader-get": Tool(
        "leader-get",
        _leader_get,
        usage="[<key>]",
        summary="Print application leadership settings.",
        details='Print one value, or all when no key, or "-", is given.\nDeprecated: use relation data.',
        formats=SMART,
    ),
    "leader-set": Tool(
        "leader-set",
        _leader_set,
        usage="<key>=<value> [...]",
        summary="Write application leadership settings.",
        details="Takes effect at once; an empty value deletes the key. Only the leader may write.",
    ),
}
