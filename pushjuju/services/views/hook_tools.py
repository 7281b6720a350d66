"""Collects the hook tools from the plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from pushjuju.plugins.manager import PluginHost
from pushjuju.runner.remote.toolkit import Tool

__all__ = ["Tool", "tools"]


def tools(environ: Mapping[str, str], warn: Callable[[str], None]) -> dict[str, Tool]:
    """Return the hook tools of all plugins: name -> tool; of equal names, the first counts."""
    found: dict[str, Tool] = {}
    for family in PluginHost(environ=environ, warn=warn).hook_tool_families():
        try:
            known = dict(import_module(family.module).TOOLS)
        except Exception as error:  # noqa: BLE001 (code of a plugin may raise anything)
            warn(f"hook tools {family.name}: not used: {type(error).__name__}: {error}")
            continue
        for name, tool in known.items():
            found.setdefault(name, tool)
    return found
