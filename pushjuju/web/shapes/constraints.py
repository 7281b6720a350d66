"""Constraints on the wire. Mirrors: juju core/constraints Value (3.6)"""

from __future__ import annotations

from dataclasses import dataclass, fields

from pushjuju.web.decoding import Count, wire_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """Constraints; None stands for a constraint that is not set. Sizes are in MiB."""

    allocate_public_ip: bool | None = None
    arch: str | None = None
    container: str | None = None
    cores: Count | None = None
    cpu_power: Count | None = None
    image_id: str | None = None
    instance_role: str | None = None
    instance_type: str | None = None
    mem: Count | None = None
    root_disk: Count | None = None
    root_disk_source: str | None = None
    spaces: list[str] | None = None
    tags: list[str] | None = None
    virt_type: str | None = None
    zones: list[str] | None = None


def known(value: Value) -> dict[str, object]:
    """Return the constraints that are set, under the names that services use."""
    found = {wire_name(item): getattr(value, item.name) for item in fields(value)}
    return {key: item for key, item in found.items() if item is not None}
