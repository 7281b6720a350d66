"""The facts about one plugin that `pushjuju plugins` shows."""

from __future__ import annotations

from collections.abc import Callable

from pushjuju.core.values import dataclass

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """One plugin in the list of `pushjuju plugins`."""

    name: str
    version: str
    # the version of the plugin API that the plugin was made for, `1.0`; empty when it declares none
    api: str = ""
    hooks: tuple[str, ...] = ()  # the hooks that it implements
    source: str = "built-in"  # `built-in`, or the package that contains the plugin
    error: str = ""  # why the plugin is not used; empty when it is used
