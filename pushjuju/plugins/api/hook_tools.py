"""Families of hook tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HookToolFamily:
    """Some hook tools in one module that exports `TOOLS`.

    Attributes:
        name: The family: `config`, `relation`...
        module: Import path; must run on machines (Python 3.8, standard library and the tool interface only)
            when `pushable`, else the controller answers each call.
    """

    name: str
    module: str
    pushable: bool = True
