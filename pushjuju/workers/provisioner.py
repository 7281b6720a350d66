"""Making and ending machines. Layer: workers. Mirrors: juju worker/provisioner (3.6)."""

from __future__ import annotations

import json

from pushjuju.core.base import Base
from pushjuju.core.errors import ProviderError, PushjujuError
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.plugins.types import Hardware, Started, StartRequest
from pushjuju.runner.hostkeys import HostKeyFile, entry_name
from pushjuju.services import firewall, machines, statuses
from pushjuju.services.context import Context
from pushjuju.state.records import Machine
from pushjuju.state.store import Tx
from pushjuju.workers.events import Event
from pushjuju.workers.workshop import MANUAL, Workshop, target_document

DEFAULT_PORT = 22
RETRIES = 10  # after the first try, as in Juju
RETRY_DELAY_S = 10.0


class StartFailed(PushjujuError):
    """A machine could not be made; tried again at `retry_s`, or never (None).

    Attributes:
        retry_s: Seconds until the next try.
    """

    message = "the machine could not be started"
    code = "start-failed"

    def __init__(self, message: str, *, detail: str, retry_s: float | None, hint: str = "") -> None:
        super().__init__(message, detail=detail, hint=hint, retryable=retry_s is not None)
        self.retry_s = retry_s


async def start(shop: Workshop, machine: Machine) -> Machine:
    """Make the instance of a machine and record it.

    Raises:
        StartFailed: It could not be made now.
    """
    ctx = shop.ctx
    _report(ctx, machine, InstanceStatus.ALLOCATING, "starting")
    try:
        async with shop.starts:
            provider = shop.provider(machine.model)
            started = await provider.start(_request(shop, machine))
            target = await provider.ssh_target(started.instance)
    except PushjujuError as error:
        raise _failed(ctx, machine, error) from error
    except Exception as bug:  # of a plugin that is not ours: told and tried again like any failure of a cloud
        raise _failed(ctx, machine, ProviderError(f"the provider failed: {bug!r}")) from bug
    return record(ctx, machine, started, shop.cloud_type(machine.model), target_document(target))


def _request(shop: Workshop, machine: Machine) -> StartRequest:
    def progress(status: str, message: str) -> None:
        shop.tell(Event(entity=f"machine {machine.id}", text=message or status))

    return StartRequest(
        machine_id=machine.id,
        base=Base.parse(machine.base),
        nonce=f"machine-0:{machine.nonce}",
        hostname=f"juju-{machine.model[-6:]}-{machine.id.replace('/', '-')}",
        authorized_keys=(shop.ctx.controller.public_key.read_text().strip(),),
        constraints=machine.constraints,
        placement=machine.placement,
        progress=progress,
    )


def host_key_file(ctx: Context, machine: Machine) -> tuple[HostKeyFile, str]:
    """Return the model's known_hosts file and the name of a machine in it."""
    name = entry_name(str(machine.ssh.get("host", "")), int(machine.ssh.get("port") or DEFAULT_PORT))
    return HostKeyFile(ctx.controller.known_hosts(machine.model)), name


def remember_keys(ctx: Context, machine: Machine) -> None:
    """Keep the host keys that the provider told, for the person's own `ssh` too."""
    file, name = host_key_file(ctx, machine)
    keys = machine.ssh.get("host_keys") or ()
    if keys:
        file.remove(name)
    for key in keys:
        file.add(name, key)


def record(
    ctx: Context, machine: Machine, started: Started, provider: str, ssh: dict[str, object]
) -> Machine:
    """Record an instance that was made, and return the machine as it is now."""
    instance = started.instance
    with ctx.store.write() as tx:
        tx.run(
            "machine_set_instance",
            model=machine.model,
            id=machine.id,
            provider=provider,
            instance_id=instance.id,
            display_name=instance.display_name,
            hardware=json.dumps(hardware_document(instance.hardware)),
            ssh=json.dumps(ssh),
            base=machine.base,
            nonce=machine.nonce,
        )
        _set(ctx, tx, machine, instance.status, instance.message)
        firewall.changed_everywhere(tx, machine.model, ctx.clock.now(), f"machine {machine.id} is there")
        recorded = machines.get(tx, machine.model, machine.id)
    remember_keys(ctx, recorded)
    return recorded


def hardware_document(hardware: Hardware) -> dict[str, object]:
    """Return hardware as the machine's row keeps it: Juju's words -> values, only what is known."""
    pairs = (word.partition("=") for word in str(hardware).split())
    return {key: value for key, _, value in pairs}


def _report(ctx: Context, machine: Machine, status: InstanceStatus, message: str) -> None:
    with ctx.store.write() as tx:
        _set(ctx, tx, machine, status, message)


def _set(ctx: Context, tx: Tx, machine: Machine, status: InstanceStatus, message: str) -> None:
    statuses.set_status(
        tx, machine.model, StatusKind.INSTANCE, machine.id, status, message, now=ctx.clock.now()
    )


def _failed(ctx: Context, machine: Machine, error: PushjujuError) -> StartFailed:
    """Record a failed start: tried again some times, then left for a person."""
    attempts = machine.attempts + 1
    left = RETRIES - attempts + 1
    again = error.retryable and left > 0
    cause = error.message + (f": {error.detail}" if error.detail else "")
    with ctx.store.write() as tx:
        tx.run("machine_set_attempts", model=machine.model, id=machine.id, attempts=attempts)
        if again:
            text = f"failed to start machine {machine.id} ({cause}), retrying in 10s ({left} more attempts)"
            _set(ctx, tx, machine, InstanceStatus.ALLOCATING, text)
        else:
            _set(ctx, tx, machine, InstanceStatus.PROVISIONING_ERROR, cause)
    return StartFailed(
        f"failed to start machine {machine.id}: {error.message}",
        detail=error.detail,
        hint=error.hint,
        retry_s=RETRY_DELAY_S if again else None,
    )


async def stop(shop: Workshop, machine: Machine) -> None:
    """End the instance of a machine, unless it is to be kept.

    Raises:
        PushjujuError: The cloud could not do it; try again later.
    """
    if machine.instance_id and not machine.keep_instance:
        await shop.provider_of(machine).stop([machine.instance_id])
    file, name = host_key_file(shop.ctx, machine)
    file.remove(name)


async def stop_unrecorded(shop: Workshop, machine: Machine) -> None:
    """End the instances that the cloud has for a machine without one.

    Raises:
        PushjujuError: The cloud could not do it; try again later.
    """
    provider = shop.provider(machine.model)
    found = [instance.id for instance in await provider.list() if instance.machine_id == machine.id]
    if found:
        await provider.stop(found)


def given(machine: Machine) -> bool:
    """Tell whether a machine was given to us, not made by us."""
    return machine.provider == MANUAL
