"""The tool application-version-set: sets the version of the workload, which status shows.

Mirrors: juju worker/uniter/runner/jujuc/application-version-set.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import Args, Tool, ToolContext, check_empty, usage_error


def _application_version_set(ctx: ToolContext, args: Args) -> None:
    if not args.positional:
        raise usage_error("no version specified")
    version = args.take()
    check_empty(args.positional)
    ctx.emit({"k": "version", "version": version})


TOOLS = {
    "application-version-set": Tool(
        "application-version-set",
        _application_version_set,
        usage="<new-version>",
        summary="Specify which version of the application is deployed.",
        details="The version last set by any unit is shown in the Version column of status.",
    )
}
