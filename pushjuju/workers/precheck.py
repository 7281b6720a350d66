"""What a cloud can never start is refused before anything is recorded. Layer: workers.

Mirrors: juju state/prechecker.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pushjuju.core import constraint_rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.placement import Placement, PlacementKind
from pushjuju.plugins.types import Constrained
from pushjuju.services import constraints as of_machines
from pushjuju.services.context import Context
from pushjuju.workers.workshop import Workshop


def precheck_units(
    ctx: Context,
    model: str,
    *,
    base: Base,
    constraints: Mapping[str, Any],
    count: int,
    placements: Sequence[Placement],
    warn: Callable[[str], None],
) -> None:
    """Check the machines that units will get; those placed on machines that are there need no check.

    Raises:
        PushjujuError: The cloud refuses one of them.
    """
    targets = [*placements[:count], *[None] * (count - len(placements))]
    new = [target for target in targets if target is None or target.kind is PlacementKind.PROVIDER]
    directives = sorted({target.value if target else "" for target in new})
    precheck(ctx, model, base=base, constraints=constraints, directives=directives, warn=warn)


def precheck(
    ctx: Context,
    model: str,
    *,
    base: Base,
    constraints: Mapping[str, Any],
    directives: Sequence[str],
    warn: Callable[[str], None],
) -> None:
    """Check new machines, one for each placement directive; an empty one stands for none.

    Raises:
        NotValid: They shall be containers.
        PushjujuError: The cloud refuses one of them.
    """
    if not directives:
        return
    with ctx.store.read() as tx:
        wanted = of_machines.for_machine(tx, model, constraints)
    container = wanted.get("container")
    if container and container != "none":
        raise NotValid(f'container constraint "{container}" is not supported: machines here have none')
    import asyncio

    provider = Workshop(ctx, warn=warn).provider(model)

    async def check() -> None:
        if isinstance(provider, Constrained):
            ignored = constraint_rules.check(wanted, await provider.rules())
            if ignored:
                warn(f"unsupported constraints: {','.join(ignored)}")
        for directive in directives:
            await provider.precheck(base, wanted, directive)

    asyncio.run(check())
