"""The tool config-get: options of the charm. Mirrors: juju worker/uniter/runner/jujuc/config-get.go (3.6)"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import (
    SMART,
    Args,
    Flag,
    Tool,
    ToolContext,
    check_empty,
    quote,
    usage_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _config_get(ctx: ToolContext, args: Args) -> Any:
    key = args.take()
    if key and args["all"]:
        raise usage_error("cannot use argument --all together with key %s" % quote(key))
    check_empty(args.positional)
    config = ctx.context.get("config", {})
    if key:
        return config.get(key)
    return {name: value for name, value in config.items() if args["all"] or value is not None}


TOOLS = {
    "config-get": Tool(
        "config-get",
        _config_get,
        usage="[<key>]",
        summary="Print application configuration.",
        details=(
            "Without a key, print all options that have a value; with --all, also options without a value.\n"
            "The values stay the same during the whole hook."
        ),
        flags=[Flag("a", "all", help="Print all keys, also those without a value", boolean=True)],
        formats=SMART,
    )
}
