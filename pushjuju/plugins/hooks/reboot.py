"""The tool juju-reboot: reboots the machine after the hook, or now.

Mirrors: juju worker/uniter/runner/jujuc/reboot.go (3.6)
"""

from __future__ import annotations

from pushjuju.runner.remote.toolkit import Args, Flag, Tool, ToolContext, ToolError, check_empty


def _juju_reboot(ctx: ToolContext, args: Args) -> None:
    check_empty(args.positional)
    if ctx.context.get("kind") == "action":
        raise ToolError("juju-reboot is not supported when running an action.")
    # With "now", the runner kills the hook as soon as this call returns, and runs it again after the reboot.
    ctx.writes["reboot"] = "now" if args["now"] else "after"


TOOLS = {
    "juju-reboot": Tool(
        "juju-reboot",
        _juju_reboot,
        summary="Reboot the host machine.",
        details="Without --now the machine reboots when the hook has succeeded.",
        flags=[Flag("now", help="Reboot immediately, killing the invoking process", boolean=True)],
    )
}
