"""The results of `doctor`, and the commands that fix them."""

from __future__ import annotations

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """The way to fix a finding: Debian packages to install, then one command for the user to type."""

    packages: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check of `doctor`.

    Attributes:
        required: True when the provider does not work at all without it; else something is slower or missing.
    """

    name: str
    ok: bool
    message: str
    fix: Fix | None = None
    required: bool = True
