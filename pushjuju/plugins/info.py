"""What is known of one plugin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """One plugin in the list of `pushjuju plugins`.

    Attributes:
        api: Version of the hooks that it was made for, `1.0`; empty if it does not say.
        hooks: The hooks that it implements.
        source: `built-in`, or the package that offers it.
        error: Why it is not used, or empty.
    """

    name: str
    version: str
    api: str = ""
    hooks: tuple[str, ...] = ()
    source: str = "built-in"
    error: str = ""
