"""The deprecated tools payload-register, payload-unregister and payload-status-set.

The controller answers each call.

Mirrors: juju worker/uniter/runner/jujuc/payload-*.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import Args, Tool, ToolContext, ToolError, check_empty, quote, usage_error

STATUSES = ("running", "starting", "stopped", "stopping")


def _need(args: Args, count: int) -> list[str]:
    if len(args.positional) < count:
        raise usage_error("missing required arguments")
    return [args.take() for _ in range(count)]


def _register(ctx: ToolContext, args: Args) -> None:
    kind, name, number = _need(args, 3)
    classes = ctx.context.get("payload_classes") or {}
    if name not in classes:
        raise ToolError("payload %s not found in metadata.yaml" % quote(name))
    if classes[name] != kind:
        text = "incorrect type %s for payload %s, expected %s"
        raise ToolError(text % (quote(kind), quote(name), quote(classes[name])))
    ctx.ask("payload-register", ["--", kind, name, number, *args.positional])


def _unregister(ctx: ToolContext, args: Args) -> None:
    name, number = _need(args, 2)
    check_empty(args.positional)
    ctx.ask("payload-unregister", ["--", name, number])


def _status_set(ctx: ToolContext, args: Args) -> None:
    name, number, status = _need(args, 3)
    check_empty(args.positional)
    if status not in STATUSES:
        listed = ", ".join(quote(word) for word in STATUSES)
        raise ToolError("status %s not supported; expected one of [%s]" % (quote(status), listed))
    ctx.ask("payload-status-set", ["--", name, number, status])


TOOLS = {
    "payload-register": Tool(
        "payload-register",
        _register,
        usage="<type> <class> <id> [tags...]",
        summary="Register a charm payload with Juju.",
    ),
    "payload-unregister": Tool(
        "payload-unregister", _unregister, usage="<class> <id>", summary="Stop tracking a payload."
    ),
    "payload-status-set": Tool(
        "payload-status-set",
        _status_set,
        usage="<class> <id> <status>",
        summary="Update the status of a payload.",
    ),
}
