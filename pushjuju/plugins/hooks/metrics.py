"""The tool add-metric, which refuses: pushjuju collects no metrics.

Mirrors: juju worker/uniter/runner/jujuc/add-metric.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import Args, Flag, Tool, ToolContext, ToolError, key_values, usage_error


def _add_metric(_: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("no metrics specified")
    for what, words in (("metrics", args.positional), ("labels", args["labels"].split(","))):
        try:
            key_values(words, allow_empty=False)
        except ToolError as error:
            raise usage_error("invalid %s: %s" % (what, error)) from None
    raise ToolError("cannot record metric: metrics not allowed in this context")


TOOLS = {
    "add-metric": Tool(
        "add-metric",
        _add_metric,
        usage="<key>=<value> [...]",
        summary="Add metrics.",
        details="Deprecated: metrics are not collected.",
        flags=[Flag("l", "labels", help="Labels to be associated with metric values")],
    )
}
