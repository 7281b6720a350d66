"""Help texts of the hook tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pushjuju.core.errors import NotFound

if TYPE_CHECKING:
    from pushjuju.services.views.hook_tools import Tool

# These tools exist only in actions.
ACTION_TOOLS = ("action-fail", "action-get", "action-log", "action-set")


def listing(found: Mapping[str, Tool]) -> str:
    """Return the list of the hook tools, one a line."""
    width = max(map(len, found), default=0)
    return "".join(f"{name:{width}}  {found[name].summary}\n" for name in sorted(found))


def help_of(found: Mapping[str, Tool], name: str) -> str:
    """Return the help of one hook tool."""
    if name not in found:
        raise NotFound(f"unknown hook command: {name}")
    return found[name].help()
