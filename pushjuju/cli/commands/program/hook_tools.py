"""Prints the help of hook tools."""

from __future__ import annotations

from pushjuju.cli.help import hooktoolhelp
from pushjuju.cli.syntax.command import Cli
from pushjuju.services.views import hook_tools as view


def hook_tools(cli: Cli, args: tuple[str, ...], *, of_actions: bool | None) -> None:
    """Print the help of one tool, or a list: all tools, those for actions only, or the others."""
    found = view.tools(cli.env, cli.console.warn)
    if of_actions is not None:
        found = {
            name: tool for name, tool in found.items() if (name in hooktoolhelp.ACTION_TOOLS) is of_actions
        }
    cli.output.text(hooktoolhelp.help_of(found, args[0]) if args else hooktoolhelp.listing(found))
