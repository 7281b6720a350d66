"""Families of hook tools."""

from __future__ import annotations

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HookToolFamily:
    """Hook tools in one module, which exports them as `TOOLS`.

    Attributes:
        name: The family: `config`, `relation`...
        module: Import path of the module. When `pushable`, the module runs on machines (Python 3.8, with only
            the standard library and the tool interface); otherwise the controller answers each call.
    """

    name: str
    module: str
    pushable: bool = True
