"""The flags of deploy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployFlags:
    """The flags of deploy, as they were written."""

    model: str
    to: str
    attach_storage: tuple[str, ...]
    num_units: int
    channel: str
    config: tuple[str, ...]
    trust: bool
    overlay: tuple[str, ...]
    constraints: tuple[str, ...]
    series: str
    base: str
    revision: int
    dry_run: bool
    force: bool
    storage: tuple[str, ...]
    device: dict[str, str]
    resource: dict[str, str]
    bind: str
    allow_build_scripts: bool
    map_machines: str
    no_wait: bool
