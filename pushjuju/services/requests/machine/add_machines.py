"""The request of add-machine: machines without units. Mirrors: juju cmd/juju/machine/add.go (3.6)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from pushjuju.core.base import Base
from pushjuju.core.model.placement import Placement
from pushjuju.core.storage import Directive
from pushjuju.core.values import dataclass
from pushjuju.services.entities.basis.callbacks import SILENT, Notices, unchecked
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model.constraints import default_base


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMachinesOptions:
    """New machines, all with the same options."""

    base: Base | None = None  # the base of the machines, or None for the model's default
    constraints: Mapping[str, Any] = field(default_factory=dict)
    placement: str = ""  # the provider's directive where to start the machines, such as `zone=a`; or empty
    container: Placement | None = None  # the placement of a container to add instead of a machine, or None
    disks: Sequence[Directive] = ()  # volumes that belong to each machine itself; ignored for containers
    count: int = 1


class Precheck(Protocol):
    """Asks the cloud whether it can start the machines; raises its refusal before anything is recorded."""

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
        NotValid: The model is being destroyed, or the placement or a disk is wrong.
        NotFound: The host of a container, or the pool of a disk does not exist.
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
    """Return the (host, port) of the SSH logins of all machines in a model."""
    with ctx.read(model) as tx:
        return {(machine.ssh.get("host"), machine.ssh.get("port")) for machine in machines.list_machines(tx)}
