"""help-hook-commands: show help on a hook command, or the list of them."""

from __future__ import annotations

from pushjuju.cli.commands.program.hook_tools import hook_tools
from pushjuju.cli.syntax.command import Cli, command


@command(
    "help-hook-commands",
    usage="[<hook command>]",
    summary="Show help on a hook command, or the list of them.",
    at_most=1,
    see_also=("help-action-commands",),
)
def help_hook_commands(cli: Cli, args: tuple[str, ...]) -> None:
    hook_tools(cli, args, of_actions=False)
