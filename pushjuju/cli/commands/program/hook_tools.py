"""Prints the help of hook tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pushjuju.cli.syntax.command import Cli
from pushjuju.core.errors import NotFound
from pushjuju.services.views import hook_tools as view

if TYPE_CHECKING:
    from pushjuju.services.views.hook_tools import Tool

# These tools exist only in actions.
_ACTION_TOOLS = ("action-fail", "action-get", "action-log", "action-set")


def hook_tools(cli: Cli, args: tuple[str, ...], *, of_actions: bool | None) -> None:
    """Print the help of one tool, or a list: all tools, those for actions only, or the others."""
    found = view.tools(cli.env, cli.console.warn)
    if of_actions is not None:
        found = {name: tool for name, tool in found.items() if (name in _ACTION_TOOLS) is of_actions}
    cli.output.text(_help_of(found, args[0]) if args else _listing(found))


def _listing(found: Mapping[str, Tool]) -> str:
    """Return the list of the hook tools, one a line."""
    width = max(map(len, found), default=0)
    return "".join(f"{name:{width}}  {found[name].summary}\n" for name in sorted(found))


def _help_of(found: Mapping[str, Tool], name: str) -> str:
    if name not in found:
        raise NotFound(f"unknown hook command: {name}")
    return found[name].help()
