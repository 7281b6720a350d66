"""help-action-commands: show help on a command that exists inside actions only, or the list of them."""

from __future__ import annotations

from pushjuju.cli.commands.program.hook_tools import hook_tools
from pushjuju.cli.syntax.command import Cli, command


@command(
    "help-action-commands",
    usage="[<action command>]",
    summary="Show help on a command that exists inside actions only, or the list of them.",
    at_most=1,
    see_also=("help-hook-commands",),
)
def help_action_commands(cli: Cli, args: tuple[str, ...]) -> None:
    hook_tools(cli, args, of_actions=True)
