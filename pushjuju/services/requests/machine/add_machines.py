"""add-machine: machines without units, made by a provider. Mirrors: juju cmd/juju/machine/add.go (3.6)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.model.placement import Placement
from pushjuju.core.storage import Directive
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMachinesOptions:
    """New machines, all alike.

    Attributes:
        placement: Where the provider makes them, in its own words.
        container: The type of container to make, at that placement.
        disks: Volumes that each machine gets for its own; not for containers.
    """

    base: Base
    constraints: Mapping[str, Any] = field(default_factory=dict)
    placement: str = ""
    container: Placement | None = None
    disks: Sequence[Directive] = ()
    count: int = 1


def add_machines(ctx: Context, model: str, options: AddMachinesOptions) -> list[str]:
    """Add machines, and return their ids.

    Raises:
        NotValid: The model dies, or the placement makes no sense here, or a disk.
        NotFound: The machine that a container goes to is not there, or the pool of a disk.
    """
    return [
        machines.add_machine(
            ctx,
            model,
            base=options.base,
            constraints=options.constraints,
            placement=options.placement,
            container=options.container,
            disks=options.disks,
        ).id
        for _ in range(options.count)
    ]
