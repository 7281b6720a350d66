"""Help of the hook tools, out of the plugins that bring them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from pushjuju.core.errors import NotFound

if TYPE_CHECKING:
    from pushjuju.runner.remote.toolkit import Tool

# These exist inside actions only.
ACTION_TOOLS = ("action-fail", "action-get", "action-log", "action-set")


def tools(environ: Mapping[str, str], warn: Callable[[str], None]) -> dict[str, Tool]:
    """Return the hook tools of all plugins; a name belongs to the first that has it."""
    from pushjuju.plugins.manager import PluginHost  # other help needs no plugins

    found: dict[str, Tool] = {}
    for family in PluginHost(environ=environ, warn=warn).hook_tool_families():
        try:
            known = dict(import_module(family.module).TOOLS)
        except Exception as error:  # noqa: BLE001 (whatever a foreign module does)
            warn(f"hook tools {family.name}: not used: {type(error).__name__}: {error}")
            continue
        for name, tool in known.items():
            found.setdefault(name, tool)
    return found


def listing(found: Mapping[str, Tool]) -> str:
    """Return one line for each tool."""
    width = max(map(len, found), default=0)
    return "".join(f"{name:{width}}  {found[name].summary}\n" for name in sorted(found))


def help_of(found: Mapping[str, Tool], name: str) -> str:
    """Return the help of a tool.

    Raises:
        NotFound: There is no hook tool of that name.
    """
    if name not in found:
        raise NotFound(f"unknown hook command: {name}")
    return found[name].help()
