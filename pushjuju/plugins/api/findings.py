"""The findings of `doctor`, and how to mend them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """How a finding of doctor is put right: Debian packages to install, then one command to type."""

    packages: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A check of doctor, and its result.

    Attributes:
        required: Without it the provider does not work at all; else something is slower or missing.
    """

    name: str
    ok: bool
    message: str
    fix: Fix | None = None
    required: bool = True
