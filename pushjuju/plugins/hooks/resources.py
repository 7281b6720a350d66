"""The tool resource-get: prints the path of a resource's file on the machine.

Mirrors: juju worker/uniter/runner/jujuc/resource-get.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import Args, Tool, ToolContext, ToolError, check_empty, usage_error


def _resource_get(ctx: ToolContext, args: Args) -> str:
    name = args.take()
    if not name:
        raise usage_error("missing required resource name")
    check_empty(args.positional)
    files = ctx.files
    if files is None:
        raise ToolError("could not download resource: this unit has no directory for files")
    wanted = ctx.ask_data("resource-get", ["--", name])
    try:
        found = files.present(name, wanted)
        for attempt in ("fetch", "again"):
            if found:
                break
            wanted = ctx.ask_data("resource-get", ["--", name, attempt])
            found = files.take(name, wanted, last=attempt == "again")
        return str(found)
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or str(error)
        raise ToolError("could not download resource: %s" % text) from None


TOOLS = {
    "resource-get": Tool(
        "resource-get",
        _resource_get,
        usage="<resource name>",
        summary="Get the path to the locally cached resource file.",
        details="Downloads the file to the machine, unless the machine has the right file already, and\n"
        "prints its path.",
    )
}
