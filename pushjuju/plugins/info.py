"""The facts about one plugin that `pushjuju plugins` shows."""

from __future__ import annotations

from collections.abc import Callable

from pushjuju.core.values import dataclass

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """One plugin in the list of `pushjuju plugins`.

    Attributes:
        api: The version of the plugin API that the plugin was made for, `1.0`; empty when it declares none.
        hooks: The hooks that it implements.
        source: `built-in`, or the package that contains the plugin.
        error: Why the plugin is not used; empty when it is used.
    """

    name: str
    version: str
    api: str = ""
    hooks: tuple[str, ...] = ()
    source: str = "built-in"
    error: str = ""
