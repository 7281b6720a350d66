"""Starts and stops the instances of machines. Mirrors: juju worker/provisioner (3.6)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.errors import NotFound, ProviderError, PushjujuError, ZoneIndependent
from pushjuju.core.names import parent_machine
from pushjuju.core.status import InstanceStatus, Life, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.providers import Hardware, Provider, Started, StartRequest
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charm_profiles
from pushjuju.services.entities.machine import credential_validity, machines
from pushjuju.services.entities.model import firewall, model_config, models
from pushjuju.services.entities.storage import storage_work
from pushjuju.store.rows.records import Machine, Model
from pushjuju.store.tx import ModelTx
from pushjuju.workers.events import Event
from pushjuju.workers.provision import hostkeys, inherit, userdata, zones
from pushjuju.workers.runtime import MANUAL, Runtime, target_document
from pushjuju.workers.timeouts import CALL_S, START_S

RETRIES = 10  # after the first attempt, as in Juju
RETRY_DELAY_S = 10.0
FIRST_LOOK_S = 3.0  # until the poller first asks for the status of a new instance, as in Juju


class StartFailed(PushjujuError, message="the machine could not be started", code="start-failed"):
    """The start of a machine failed."""

    def __init__(self, message: str, *, detail: str, retry_s: float | None, hint: str = "") -> None:
        super().__init__(message, detail=detail, hint=hint, retryable=retry_s is not None)
        self.retry_s = retry_s  # seconds until the next attempt, or None when a user must act


async def start(runtime: Runtime, machine: Machine) -> Machine:
    """Start the instance of a machine and record the instance; after a failed zone, try the next at once."""
    ctx = runtime.ctx
    _report(ctx, machine, InstanceStatus.ALLOCATING, "starting")
    try:
        async with runtime.starts(machine):
            if parent_machine(machine.id) is None:
                with ctx.read(machine.model) as tx:
                    credential_validity.require(tx)
            provider = runtime.provider_of(machine)
            request = request_for(runtime, machine, await inherit.from_host(runtime, machine))
            while (made := await _in_one_zone(runtime, machine, provider, request)) is None:
                runtime.checkpoint("zone-left")
    except StartFailed:
        raise
    except PushjujuError as error:
        raise _failed(ctx, machine, error) from error
    except Exception as bug:  # a fault of a plugin counts as a failure of the cloud
        raise _failed(ctx, machine, _bug(bug)) from bug
    if made.target.host_keys is None and request.host_keys:
        made = replace(made, target=replace(made.target, host_keys=request.host_keys))
    kind = runtime.kind_of(machine)
    polled = "poll" in runtime.host.provider_type(kind).features and parent_machine(machine.id) is None
    return record(ctx, machine, made.started, kind, target_document(made.target), made.zone, polled=polled)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """The result of a start."""

    started: Started
    target: SSHTarget
    zone: str


async def _in_one_zone(
    runtime: Runtime, machine: Machine, provider: Provider, request: StartRequest
) -> _Made | None:
    """Try one zone; return None when the zone failed and another zone can be tried.

    Raises:
        StartFailed: This was the last zone of the round, or the error has nothing to do with zones.
        PushjujuError: No zone could be chosen.
    """
    choice = await runtime.within(CALL_S, zones.choose(runtime.ctx, machine, provider, request))
    runtime.checkpoint("zone-chosen")
    try:
        started = await runtime.within(START_S, provider.start(replace(request, zone=choice.zone)))
        runtime.checkpoint("instance-made")
        target = await _target(runtime, provider, started)
    except Exception as caught:  # plugins may raise anything
        error = caught if isinstance(caught, PushjujuError) else _bug(caught)
        if _left_for_another(runtime, machine, error, choice):
            return None
        raise _failed(runtime.ctx, machine, error) from caught
    return _Made(started=started, target=target, zone=choice.zone)


async def _target(runtime: Runtime, provider: Provider, started: Started) -> SSHTarget:
    """Return the SSH target of a new instance.

    Raises:
        ProviderError: The instance has ended already; the next attempt starts another one.
    """
    try:
        return await runtime.within(CALL_S, provider.ssh_target(started.instance))
    except NotFound as gone:
        text = f"instance {started.instance.id} ended while it started"
        raise ProviderError(text, detail=gone.message) from gone


def _bug(bug: Exception) -> ProviderError:
    return ProviderError(f"the provider failed: {bug!r}")


def _left_for_another(runtime: Runtime, machine: Machine, error: PushjujuError, choice: zones.Choice) -> bool:
    """Exclude a failed zone; return True when another zone can be tried, which is no new attempt.

    Mirrors: juju worker/provisioner/provisioner_task.go doStartMachine (3.6), which waits before each zone.
    """
    if not choice.zone or not error.retryable or isinstance(error, ZoneIndependent):
        return False
    text = (
        f'failed to start machine {machine.id} in zone "{choice.zone}", '
        f"retrying with new availability zone: {error.full_text}"
    )
    with runtime.ctx.write(machine.model) as tx:
        if not zones.crossed_out(tx, machine, choice) or machines.get(tx, machine.id).life != (Life.ALIVE):
            return False
        _set(tx, machine, InstanceStatus.ALLOCATING, text)
    runtime.tell(Event(entity=f"machine {machine.id}", text=text))
    return True


def request_for(
    runtime: Runtime, machine: Machine, inherited: Mapping[str, Any] | None = None
) -> StartRequest:
    """Return the request to a provider, which may inherit keys of cloud-config; `script` has no user data."""

    def progress(status: str, message: str) -> None:
        runtime.tell(Event(entity=f"machine {machine.id}", text=message or status))

    ctx, maker = runtime.ctx, runtime.kind_of(machine)
    with ctx.read(machine.model) as tx:
        model = models.get(tx)
        stream = "container-image-stream" if "/" in machine.id else "image-stream"
        config = model_config.several(tx, (*userdata.KEYS, "resource-tags", stream))
        units = sorted(unit.name for unit in machines.units_on(tx, machine.id) if unit.principal is None)
        attached = storage_work.made_for(tx, machine)
        volumes = _volumes(runtime, tx, machine, maker)
        wanted = charm_profiles.as_plugin_sees(tx, machine.id)
    kind = runtime.host.provider_type(maker)
    request = StartRequest(
        machine_id=machine.id,
        base=Base.parse(machine.base),
        nonce=f"machine-0:{machine.nonce}",
        hostname=f"juju-{machine.model[-6:]}-{machine.id.replace('/', '-')}",
        authorized_keys=(ctx.controller.public_key.read_text().strip(),),
        constraints=machine.constraints,
        placement=machine.placement,
        attached=attached,
        volumes=volumes,
        profiles=wanted,
        daily_images=config[stream] == "daily",
        tags=instance_tags(
            model,
            machine.id,
            units,
            str(config["resource-tags"]),
            str(ctx.controller.settings().get("uuid", "")),
        ),
        progress=progress,
    )
    if "user-data" in kind.features:
        identity = userdata.host_identity(ctx.controller, request.nonce)
        document = userdata.whole(request, config, identity, ctx.datadir.root / "templates", inherited)
    elif "script" in kind.features:
        document = {}
    else:
        document = userdata.wanted(config)
    if document:
        document = runtime.host.user_data(request, document)
    keys = userdata.host_keys(document) if "user-data" in kind.features else ()
    return replace(request, user_data=document, host_keys=keys)


def _volumes(runtime: Runtime, tx: ModelTx, machine: Machine, maker: str) -> tuple[StorageItem, ...]:
    """Return the volumes that must be created together with a machine."""
    if not machine.storage:
        return ()
    types = runtime.host.storage_types(maker)
    return storage_work.to_come_with(tx, machine, [name for name, item in types.items() if item.with_machine])


def instance_tags(
    model: Model, machine_id: str, units: Sequence[str], resource_tags: str, controller: str
) -> dict[str, str]:
    """Return the tags of an instance. Mirrors: juju environs/tags, cloudconfig/instancecfg (3.6).

    Args:
        resource_tags: The model's `resource-tags`: `key=value`, blank-separated.
    """
    pairs = (word.partition("=") for word in resource_tags.replace(",", " ").split())
    own = {key: value for key, _, value in pairs if not key.startswith("juju-")}
    return {
        **own,
        "juju-model-uuid": model.uuid,
        "juju-controller-uuid": controller,
        "juju-machine-id": f"{model.name}-machine-{machine_id.replace('/', '-')}",
        **({"juju-units-deployed": " ".join(units)} if units else {}),
    }


def record(
    ctx: Context,
    machine: Machine,
    started: Started,
    provider: str,
    ssh: dict[str, object],
    zone: str = "",
    *,
    polled: bool = False,
) -> Machine:
    """Record a started instance; return the machine's new row. `polled`: let the poller ask for it soon."""
    instance = started.instance
    zone = instance.hardware.availability_zone or zone
    with ctx.write(machine.model) as tx:
        tx.run(
            "machine_set_instance",
            id=machine.id,
            provider=provider,
            instance_id=instance.id,
            display_name=instance.display_name,
            hardware=json.dumps(hardware_document(instance.hardware)),
            ssh=json.dumps(ssh),
            base=machine.base,
            nonce=machine.nonce,
        )
        _set(tx, machine, instance.status, instance.message)
        if zone:
            zones.settled(tx, machine, zone)
        if polled:
            soon = ctx.clock.now() + timedelta(seconds=FIRST_LOOK_S)
            wake.poller(tx, soon, "a machine started")
        firewall.let_in(tx)
        recorded = machines.get(tx, machine.id)
    hostkeys.remember(ctx, recorded)
    return recorded


def hardware_document(hardware: Hardware) -> dict[str, object]:
    """Return the known hardware as a document for the machine's row: Juju's names -> values."""
    pairs = (word.partition("=") for word in str(hardware).split())
    return {key: value for key, _, value in pairs}


def _report(ctx: Context, machine: Machine, status: InstanceStatus, message: str) -> None:
    with ctx.write(machine.model) as tx:
        _set(tx, machine, status, message)


def _set(
    tx: ModelTx, machine: Machine, status: InstanceStatus, message: str, data: Mapping[str, str] | None = None
) -> None:
    statuses.set_status(tx, StatusKind.INSTANCE, machine.id, status, message, data=data)


def _failed(ctx: Context, machine: Machine, error: PushjujuError) -> StartFailed:
    """Record a failed start, and whether it is tried again or left to a user."""
    cause = error.full_text
    with ctx.write(machine.model, whole=True) as tx:
        credential_validity.note(tx, error)
        attempts = machine.attempts + 1
        left = RETRIES - attempts + 1
        again = error.retryable and left > 0
        tx.run("machine_set_attempts", id=machine.id, attempts=attempts)
        if again:
            text = f"failed to start machine {machine.id} ({cause}), retrying in 10s ({left} more attempts)"
            _set(tx, machine, InstanceStatus.ALLOCATING, text)
        else:
            data = {"code": error.code}
            _set(tx, machine, InstanceStatus.PROVISIONING_ERROR, cause, data)
    return StartFailed(
        f"failed to start machine {machine.id}: {error.message}",
        detail=error.detail,
        hint=error.hint,
        retry_s=RETRY_DELAY_S if again else None,
    )


async def stop(runtime: Runtime, machine: Machine) -> None:
    """Stop the instance of a machine unless it is kept; some harvest modes also stop unknown instances.

    Mirrors: juju worker/provisioner harvest modes (3.6)

    Raises:
        PushjujuError: The cloud failed; a later attempt may succeed.
    """
    with runtime.ctx.read(machine.model) as tx:
        if not is_manual(machine):
            credential_validity.require(tx)
        mode = str(model_config.get(tx, "provisioner-harvest-mode"))
    # A machine that the user named is released in any case, so that it can be added again.
    keep = not is_manual(machine) and (machine.keep_instance or mode in ("none", "unknown"))
    if machine.instance_id and not keep:
        await runtime.within(CALL_S, runtime.provider_of(machine).stop([machine.instance_id]))
    if mode in ("unknown", "all") and not is_manual(machine):
        await _stop_unknown(runtime, machine)
    hostkeys.forget(runtime.ctx, machine)


async def _stop_unknown(runtime: Runtime, machine: Machine) -> None:
    """Stop instances of the model that belong to no machine, or to a machine with another instance."""
    provider = runtime.provider_of(machine)
    found = await runtime.within(CALL_S, provider.list())
    with runtime.ctx.read(machine.model) as tx:
        known = {row["id"]: row["instance_id"] for row in tx.rows("machine_instances")}
    unknown = [
        item.id
        for item in found
        if item.id != machine.instance_id
        and item.machine_id
        and (item.machine_id not in known or known[item.machine_id] not in ("", item.id))
    ]
    if unknown:
        await runtime.within(CALL_S, provider.stop(unknown))


async def stop_unrecorded(runtime: Runtime, machine: Machine) -> None:
    """Stop the instances that the cloud has for a machine without recorded instance.

    Raises:
        PushjujuError: The cloud failed; a later attempt may succeed.
    """
    provider = runtime.provider_of(machine)
    found = [
        instance.id
        for instance in await runtime.within(CALL_S, provider.list())
        if instance.machine_id == machine.id
    ]
    if found:
        await runtime.within(CALL_S, provider.stop(found))


def is_manual(machine: Machine) -> bool:
    """Return True when the user named the machine by its address, so that pushjuju did not make it."""
    return machine.provider == MANUAL
