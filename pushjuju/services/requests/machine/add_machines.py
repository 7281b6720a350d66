"""add-machine: machines without units, made by a provider. Mirrors: juju cmd/juju/machine/add.go (3.6)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pushjuju.core.base import Base
from pushjuju.core.model.placement import Placement
from pushjuju.core.storage import Directive
from pushjuju.services.entities.basis.callbacks import SILENT, Notices, unchecked
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model.constraints import default_base


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMachinesOptions:
    """New machines, all alike.

    Attributes:
        base: By default the one that the model says.
        placement: Where the provider makes them, in its own words.
        container: The type of container to make, at that placement.
        disks: Volumes that each machine gets for its own; not for containers.
    """

    base: Base | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict)
    placement: str = ""
    container: Placement | None = None
    disks: Sequence[Directive] = ()
    count: int = 1


class Precheck(Protocol):
    """Asks the cloud of a model for new machines, before anything is recorded; may refuse them."""

    def __call__(
        self,
        ctx: Context,
        model: str,
        *,
        base: Base,
        constraints: Mapping[str, Any],
        directives: Sequence[str],
        warn: Callable[[str], None],
    ) -> None: ...


def add_machines(
    ctx: Context,
    model: str,
    options: AddMachinesOptions,
    *,
    notices: Notices = SILENT,
    precheck: Precheck = unchecked,
) -> list[str]:
    """Add machines, and return their ids.

    Raises:
        NotValid: The model dies, or the placement makes no sense here, or a disk.
        NotFound: The machine that a container goes to is not there, or the pool of a disk.
    """
    base, inside = options.base or default_base(ctx, model), options.container
    directives = [] if inside and inside.parent else [options.placement]
    precheck(ctx, model, base=base, constraints=options.constraints, directives=directives, warn=notices.warn)
    return [
        machines.add_machine(
            ctx,
            model,
            base=base,
            constraints=options.constraints,
            placement=options.placement,
            container=inside,
            disks=options.disks,
        ).id
        for _ in range(options.count)
    ]


def hosts(ctx: Context, model: str) -> set[tuple[Any, Any]]:
    """Return the host and the port at which each machine of a model is reached."""
    with ctx.read(model) as tx:
        return {(machine.ssh.get("host"), machine.ssh.get("port")) for machine in machines.list_machines(tx)}
