"""help-tool: show help on a hook tool, or the list of them."""

from __future__ import annotations

from pushjuju.cli.commands.program.hook_tools import hook_tools
from pushjuju.cli.syntax.command import Cli, command


@command(
    "help-tool",
    usage="[<tool>]",
    summary="Show help on a hook tool, or the list of them.",
    at_most=1,
    see_also=("help-hook-commands", "help-action-commands"),
)
def help_tool(cli: Cli, args: tuple[str, ...]) -> None:
    hook_tools(cli, args, of_actions=None)
