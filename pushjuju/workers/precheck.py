"""What a cloud can never start is refused before anything is recorded. Layer: workers.

Mirrors: juju state/prechecker.go (3.6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pushjuju.core import constraint_rules
from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.placement import Placement, PlacementKind
from pushjuju.plugins.types import Constrained
from pushjuju.services import constraints as of_machines
from pushjuju.services import machines
from pushjuju.services.context import Context
from pushjuju.workers.answers import CALL_S, within
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
    found = (_directive(target) for target in targets)
    directives = sorted({text for text in found if text is not None})
    precheck(ctx, model, base=base, constraints=constraints, directives=directives, warn=warn)


def _directive(target: Placement | None) -> str | None:
    """Return what the cloud is asked for a new machine; None where it makes none."""
    if target is None or (target.kind is PlacementKind.CONTAINER and target.parent is None):
        return ""
    return target.value if target.kind is PlacementKind.PROVIDER else None


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
        NotValid: They shall be containers of a kind that is not made.
        PushjujuError: The cloud refuses one of them.
    """
    if not directives:
        return
    with ctx.store.read() as tx:
        asked = of_machines.for_machine(tx, model, constraints)
    if asked.get("container") == "kvm":
        raise NotValid(machines.KVM)
    wanted = rules.of_host(asked)
    import asyncio

    provider = Workshop(ctx, warn=warn).provider(model)

    async def check() -> None:
        rules = await within(CALL_S, provider.rules()) if isinstance(provider, Constrained) else None
        if rules:
            constraint_rules.check(constraints, rules)  # what a person typed, before the model's joins it
            _tell(constraint_rules.check(wanted, rules), warn)
        for directive in directives:
            await within(CALL_S, provider.precheck(base, wanted, directive))

    asyncio.run(check())


def check_constraints(
    ctx: Context, model: str, constraints: Mapping[str, Any], *, what: str, warn: Callable[[str], None]
) -> None:
    """Check constraints that future machines shall have; a cloud that does not answer is no reason to refuse.

    Mirrors: juju state/policy.go validateConstraints (3.6)

    Args:
        what: Whose they are: `model "shop"`.

    Raises:
        NotValid: The cloud has no such value, or two names exclude each other; the message is Juju's.
    """
    if all(value is None for value in constraints.values()):
        return
    import asyncio

    provider = Workshop(ctx, warn=warn).provider(model)
    if not isinstance(provider, Constrained):
        return
    try:
        ignored = constraint_rules.check(constraints, asyncio.run(within(CALL_S, provider.rules())))
        _tell(ignored, warn, f"setting constraints on {what}: ")
    except ProviderError as error:
        detail = f": {error.detail}" if error.detail else ""
        warn(f"the constraints of {what} could not be checked: {error.message}{detail}")


def _tell(ignored: Sequence[str], warn: Callable[[str], None], head: str = "") -> None:
    if ignored:
        warn(f"{head}unsupported constraints: {','.join(ignored)}")
