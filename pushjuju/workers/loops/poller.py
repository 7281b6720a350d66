"""Asks clouds regularly for the instances of a model's machines.

The intervals are short at first, then grow, and are long once all is well; one call asks for all instances.
Mirrors: juju worker/instancepoller (3.6)
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from datetime import timedelta

from pushjuju.core.errors import InstanceGone, NotFound, PushjujuError
from pushjuju.core.names import parent_machine
from pushjuju.core.status import InstanceStatus, StatusInfo, StatusKind
from pushjuju.plugins.api.providers import Instance, Provider
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import Machine
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.provision.hostkeys import moved
from pushjuju.workers.runtime import MANUAL, Runtime, target_document
from pushjuju.workers.timeouts import CALL_S

SHORT_S = 3.0  # the first interval, doubled each time
SHORT_MOST_S = 60.0
LONG_S = 900.0  # when every machine has answered and has an address
GONE = "the cloud has no such instance any more"
_YOUNG = (InstanceStatus.ALLOCATING, InstanceStatus.PENDING)


async def poll(runtime: Runtime, model: str, attempts: int = 0) -> Outcome:
    """Ask the cloud for a model's instances, after `attempts` polls without a change, and record changes."""
    try:
        kind = runtime.host.provider_type(runtime.cloud_type(model))
    except NotFound:
        return Outcome()
    ctx = runtime.ctx
    with ctx.read(model) as tx:
        if credential_validity.reason(tx, models.get(tx)):
            return Outcome(reason=credential_validity.MESSAGE)
        listed = [
            item
            for item in machines.list_machines(tx)
            if item.instance_id and item.provider != MANUAL and parent_machine(item.id) is None
        ]
    if "poll" not in kind.features or not listed:
        return Outcome()
    try:
        provider = runtime.provider(model)
        found = await runtime.within(CALL_S, provider.get([item.instance_id for item in listed]))
        targets = await _targets(provider, zip(listed, found, strict=True))
    except PushjujuError as error:
        with ctx.write(model, whole=True) as tx:
            if credential_validity.note(tx, error):
                return Outcome(reason=f"instances: {error.full_text}")
        due = ctx.clock.now() + timedelta(seconds=SHORT_MOST_S)
        return Outcome(due=due, attempts=attempts + 1, reason=f"instances: {error.full_text}")
    changed = _note(ctx, model, listed, found, targets)
    delay, attempts = _interval(listed, found, changed=changed, attempts=attempts)
    return Outcome(due=ctx.clock.now() + timedelta(seconds=delay), attempts=attempts)


async def _targets(
    provider: Provider, seen: Iterable[tuple[Machine, Instance | None]]
) -> dict[str, dict[str, object]]:
    """Return the SSH targets of machines whose address was not known before."""
    targets: dict[str, dict[str, object]] = {}
    for machine, instance in seen:
        if instance is not None and not machine.ssh.get("host") and instance.addresses:
            with contextlib.suppress(NotFound):  # the instance was deleted meanwhile: the next poll sees it
                targets[machine.id] = target_document(await provider.ssh_target(instance))
    return targets


def _interval(
    listed: Sequence[Machine], found: Sequence[Instance | None], *, changed: bool, attempts: int
) -> tuple[float, int]:
    """Return the seconds until the next poll, and the number of polls in a row without a change."""
    pairs = list(zip(listed, found, strict=True))
    young = any(item is not None and item.status in _YOUNG for _, item in pairs)
    settled = all(item is None or _is_well(machine, item) for machine, item in pairs)
    if settled and not changed:
        return LONG_S, 0
    attempts = 0 if changed else attempts + 1
    delay = min(SHORT_S * 2 ** min(attempts, 10), SHORT_MOST_S)
    return (min(delay, SHORT_S) if young and changed else delay), attempts


def _is_well(machine: Machine, instance: Instance) -> bool:
    found = machine.addresses or instance.addresses
    return bool(machine.last_seen and found and instance.status is InstanceStatus.RUNNING)


def _note(
    ctx: Context,
    model: str,
    listed: Sequence[Machine],
    found: Sequence[Instance | None],
    targets: dict[str, dict[str, object]],
) -> bool:
    """Record the statuses and addresses that have changed; return True when any has."""
    _now, changed = ctx.clock.now(), False
    found_again: list[tuple[Machine, Machine]] = []
    with ctx.write(model) as tx:
        for machine, instance in zip(listed, found, strict=True):
            status, message = (
                (instance.status, instance.message) if instance else (InstanceStatus.UNKNOWN, GONE)
            )
            if machine.id in targets:
                found_again.append((machine, machines.set_ssh(tx, machine, targets[machine.id])))
                wake.machine(tx, machine.id, "it has an address")
                changed = True
            data = {} if instance else {"code": InstanceGone.code}
            told = StatusInfo(status=status, message=message, data=data)
            changed |= statuses.set_once(tx, StatusKind.INSTANCE, machine.id, told)
    for before, after in found_again:
        moved(ctx, before, after)
    return changed
