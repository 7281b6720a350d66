"""The flags of refresh."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshFlags:
    """The flags of refresh, as they were written."""

    model: str
    force: bool
    force_units: bool
    force_base: bool
    base: str
    channel: str
    switch: str
    path: str
    allow_build_scripts: bool
    revision: int
    resource: dict[str, str]
    storage: tuple[str, ...]
    config: tuple[str, ...]
    bind: str
    trust: bool | None
    no_wait: bool
