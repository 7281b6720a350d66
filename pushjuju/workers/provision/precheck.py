"""Lets clouds refuse machines that they can never start, before anything is recorded.

Mirrors: juju state/prechecker.go (3.6)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pushjuju.core import constraints as rules
from pushjuju.core.base import Base
from pushjuju.core.constraints import ConstraintRules
from pushjuju.core.errors import NotFound, NotPermitted, NotValid, ProviderError
from pushjuju.core.model.placement import Placement, PlacementKind
from pushjuju.core.problems import Subject
from pushjuju.core.status import Life
from pushjuju.plugins.api.providers import Constrained, Provider, Zoned
from pushjuju.services.entities.basis import network
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines, spaces
from pushjuju.services.entities.model import constraints as of_machines
from pushjuju.workers.runtime import Runtime
from pushjuju.workers.timeouts import CALL_S, within


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
    """Check the machines that units will get, except machines that exist already."""
    targets = [*placements[:count], *[None] * (count - len(placements))]
    found = (_directive(target) for target in targets)
    directives = sorted({text for text in found if text is not None})
    try:
        precheck(ctx, model, base=base, constraints=constraints, directives=directives, warn=warn)
    except NotPermitted as error:  # the cloud makes no machines, but existing machines can be used
        error.hint = error.hint or _to_machines(ctx, model)
        raise


def _to_machines(ctx: Context, model: str) -> str:
    """Return a hint that places a unit on an existing machine, preferably a machine without units."""
    with ctx.read(model) as tx:
        there = [item.id for item in machines.list_machines(tx) if item.life == Life.ALIVE]
        free = [name for name in there if not machines.units_on(tx, name)]
    chosen = next(iter([*free, *there]), "")
    return f"--to {chosen} puts a unit on machine {chosen}" if chosen else ""


def _directive(target: Placement | None) -> str | None:
    """Return the placement directive for a new machine, or None when no machine is made."""
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
    """Check new machines, one for each placement directive; "" stands for a machine without directive."""
    runtime = Runtime(ctx, warn=warn)
    with ctx.read(model) as tx:
        asked = of_machines.for_machine(tx, constraints)
    _check_own(runtime, model, asked)
    if not directives:
        return
    wanted = rules.of_host(asked)

    provider = runtime.provider(model)

    async def check() -> None:
        found = await within(CALL_S, provider.rules()) if isinstance(provider, Constrained) else None
        if found:
            rules.check(constraints, found)  # only the user's, without the model's constraints
            ignored = rules.check(wanted, _without_spaces(runtime, model, wanted, found))
            _tell(ignored, warn)
        for directive in directives:
            await _precheck_one(provider, base, wanted, directive)

    asyncio.run(check())


def _check_own(runtime: Runtime, model: str, wanted: Mapping[str, Any]) -> None:
    """Refuse constraints that no cloud can meet: an unknown container type, unknown spaces."""
    if rules.container_of(wanted) == "kvm":
        raise NotValid(machines.KVM, hint="known types of containers: none, lxd")
    named = [str(word) for word in wanted.get("spaces") or ()]
    if both := sorted({word for word in named if f"^{word}" in named}):
        raise NotValid(f'bad "spaces" constraint: "{both[0]}" is both wanted and excluded')
    if not named or "spaces" in runtime.features(runtime.cloud_type(model)):
        return
    with runtime.ctx.read(model) as tx:
        known = sorted(spaces.names(tx).values())
    if unknown := [word.removeprefix("^") for word in named if word.removeprefix("^") not in known]:
        raise NotFound(
            f'bad "spaces" constraint: space "{unknown[0]}" not found',
            hint=f"known spaces: {', '.join(known)}",
            subject=Subject("space", unknown[0]),
        )


async def _precheck_one(provider: Provider, base: Base, wanted: Mapping[str, Any], directive: str) -> None:
    """Let the cloud refuse a machine; for an unknown placement directive, add the known ones to the error."""
    try:
        await within(CALL_S, provider.precheck(base, wanted, directive))
    except NotValid as error:
        if error.hint or error.subject is None or error.subject.kind != "placement":
            raise
        listed = await within(CALL_S, provider.zones()) if isinstance(provider, Zoned) else ()
        places = ", ".join(["lxd", "lxd:ID", *(f"zone={zone.name}" for zone in listed)])
        hint = f"known places: {places}; --to also takes the id of a machine"
        raise NotValid(error.message, detail=error.detail, hint=hint) from error


def check_constraints(
    ctx: Context, model: str, constraints: Mapping[str, Any], *, what: str, warn: Callable[[str], None]
) -> None:
    """Check constraints of future machines; a cloud that does not answer refuses nothing.

    Mirrors: juju state/policy.go validateConstraints (3.6)

    Args:
        what: The owner of the constraints: `model "dev"`.
    """
    if all(value is None for value in constraints.values()):
        return

    runtime = Runtime(ctx, warn=warn)
    _check_own(runtime, model, constraints)
    provider = runtime.provider(model)
    if not isinstance(provider, Constrained):
        return
    try:
        found = asyncio.run(within(CALL_S, provider.rules()))
        ignored = rules.check(constraints, _without_spaces(runtime, model, constraints, found))
        _tell(ignored, warn, f"setting constraints on {what}: ")
    except ProviderError as error:
        detail = f": {error.detail}" if error.detail else ""
        warn(f"the constraints of {what} could not be checked: {error.message}{detail}")


def _without_spaces(
    runtime: Runtime, model: str, wanted: Mapping[str, Any], found: ConstraintRules
) -> ConstraintRules:
    """Return a cloud's rules; in clouds that cannot choose networks, `spaces` is unsupported.

    `alpha` alone is always supported: networks in no other space are in `alpha`.
    """
    plain = all(str(word) == network.ALPHA for word in wanted.get("spaces") or ())
    if plain or "spaces" in runtime.features(runtime.cloud_type(model)):
        return found
    return replace(found, unsupported=found.unsupported | {"spaces"})


def _tell(ignored: Sequence[str], warn: Callable[[str], None], head: str = "") -> None:
    if ignored:
        warn(f"{head}unsupported constraints: {','.join(ignored)}")
