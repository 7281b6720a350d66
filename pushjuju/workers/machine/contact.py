"""Reaches a machine, and records its facts, or why it does not answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from pushjuju.core.base import Base
from pushjuju.core.errors import (
    BadAnswer,
    HeldElsewhere,
    HostKeyChanged,
    InstanceGone,
    InstanceStopped,
    ProviderError,
    PushjujuError,
    TransportError,
    Unreachable,
)
from pushjuju.core.holding import way_out
from pushjuju.core.names import parent_machine
from pushjuju.core.status import InstanceStatus, Life, MachineStatus, StatusInfo, StatusKind
from pushjuju.plugins.api.providers import Provider, Resumer
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis import leadership, logs, network, notices, statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import (
    credential_validity,
    lost_results,
    machines,
    spaces,
    upgrade_machine,
)
from pushjuju.services.entities.machine.machine_work import UNUSABLE
from pushjuju.services.entities.model import firewall, models
from pushjuju.services.lifecycle import removal
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx
from pushjuju.workers.events import Event
from pushjuju.workers.machine import standby
from pushjuju.workers.provision import firstboot
from pushjuju.workers.provision.hostkeys import moved
from pushjuju.workers.provision.provisioner import is_manual
from pushjuju.workers.runtime import Runtime, target_document
from pushjuju.workers.timeouts import CALL_S, START_S, login, lost

if TYPE_CHECKING:
    from pushjuju.portable.frames import Hello

T = TypeVar("T")

BOOT_WAIT_S = 120.0  # seconds that a new or rebooted machine may take to answer SSH
BOOT_TELL_S = 15.0  # seconds after which users see why the machine is awaited
BOOT_POLL_S = 0.05
NOTE_EVERY_S = 30.0  # age at which the recorded contact is renewed during work
LOGGER = "pushjuju.contact"
_FAILED = "failed"  # data of an instance's status: error of a machine that answered
RESUMING = "is stopped; starting it again"
_STARTING = (InstanceStatus.PENDING, InstanceStatus.ALLOCATING)


async def attach(runtime: Runtime, machine: Machine) -> MachineSession:
    """Open the session to a machine and record its facts.

    A machine that has never answered gets time to boot. When a cloud machine does not answer, its cloud is
    asked, which may know another address, or start the machine again after its host was down.
    """
    try:
        return await _attach(runtime, machine)
    except HeldElsewhere as error:
        controller = str(runtime.base_ctx.controller.settings().get("uuid", ""))
        host, port, user = str(machine.ssh["host"]), machine.ssh.get("port"), str(machine.ssh.get("user", ""))
        error.hint = way_out(error.detail, host, port, user, controller)
        raise


async def _attach(runtime: Runtime, machine: Machine) -> MachineSession:
    known, comes_up = runtime.attached(machine), not machine.last_seen
    if not machine.last_seen:
        await _patiently(
            runtime, machine, lambda: firstboot.apply(runtime, machine), patient=not is_manual(machine)
        )
    try:
        session = await _open(runtime, machine, patient=not machine.last_seen and not is_manual(machine))
    except Unreachable as error:
        # The address may be old, or the instance stopped: ask the cloud, unless the user named the machine.
        found = None if is_manual(machine) else await _look_up(runtime, machine)
        if found is None:
            if not (machine.last_seen or error.hint):
                error.hint = f"pushjuju remove-machine {machine.id} --force, if it will never answer"
            raise
        machine, comes_up = found, True
        session = await _open(runtime, machine, patient=True)
    if not machine.last_seen and not is_manual(machine):
        await firstboot.wait(runtime, machine, session)
    standby.listen(runtime, session, machine)
    if "recalled" in session.hello:
        lost_results.note(runtime.ctx, machine, session.hello.pop("recalled"))
    # The facts of an open session are those of its hello; addresses may have changed since.
    if session is known and _is_old(machine, runtime.ctx.clock.now()):
        await session.look_again()
    if session is known:
        session.hello.pop("charms", None)  # outdated: another process may have sent charms since
    if comes_up or _is_news(machine, session.hello, runtime.ctx.clock.now()):
        note_facts(runtime.ctx, machine, session.hello)
    if comes_up:
        text = f"started, {machine.ssh['host']}"
        runtime.tell(Event(entity=f"machine {machine.id}", text=text, state="done"))
    return session


async def _open(runtime: Runtime, machine: Machine, *, patient: bool) -> MachineSession:
    return await _patiently(runtime, machine, lambda: runtime.session(machine), patient=patient)


async def _patiently(
    runtime: Runtime, machine: Machine, reach: Callable[[], Awaitable[T]], *, patient: bool
) -> T:
    """Reach a machine; wait for a machine that boots, and report once why it is awaited."""
    begun, told = runtime.ctx.clock.monotonic(), False
    while True:
        try:
            reached = await reach()
            if told:
                runtime.tell(Event(entity=f"machine {machine.id}", text="answers"))
            return reached
        except TransportError as error:
            waited = runtime.ctx.clock.monotonic() - begun
            if not patient or not error.retryable or waited > BOOT_WAIT_S:
                raise
            if not told and (isinstance(error, HostKeyChanged) or waited > BOOT_TELL_S):
                told = True
                text = f"waits until it can be reached: {error.message}"
                runtime.tell(Event(entity=f"machine {machine.id}", text=text, state="waiting"))
            await asyncio.sleep(BOOT_POLL_S)


async def _look_up(runtime: Runtime, machine: Machine) -> Machine | None:
    """Ask the cloud for the address of a silent machine, or start it; None when waiting is useless."""
    with runtime.ctx.read(machine.model) as tx:
        if parent_machine(machine.id) is None and credential_validity.reason(tx, models.get(tx)):
            return None
        was_stopped = _was_stopped(tx, machine)
    provider = runtime.provider_of(machine)
    instance = (await runtime.within(CALL_S, provider.get([machine.instance_id])))[0]
    if instance is None:
        raise lost(machine)
    resumed = instance.status is InstanceStatus.STOPPED and await _resume(runtime, machine, provider)
    ssh = target_document(await login(machine, runtime.within(CALL_S, provider.ssh_target(instance))))
    seen = (await runtime.within(CALL_S, provider.get([machine.instance_id])))[0] or instance
    if seen.status is InstanceStatus.STOPPED and not resumed:
        raise InstanceStopped(
            f"machine {machine.id} is stopped in its cloud", hint=f"start instance {seen.id} in the cloud"
        )
    # A machine that was stopped and has not answered since boots: an ended process or the user started it.
    coming = resumed or was_stopped or seen.status != instance.status or seen.status in _STARTING
    if ssh == dict(machine.ssh) and not coming:
        return None
    with runtime.ctx.write(machine.model) as tx:
        found = machines.set_ssh(tx, machine, ssh)
    moved(runtime.ctx, machine, found)
    return found


async def _resume(runtime: Runtime, machine: Machine, provider: Provider) -> bool:
    """Start a stopped machine again if its provider can; return True when it was started."""
    if not isinstance(provider, Resumer):
        return False
    with runtime.ctx.write(machine.model) as tx:
        now = runtime.ctx.clock.now()
        statuses.set_once(
            tx, StatusKind.INSTANCE, machine.id, StatusInfo(status=InstanceStatus.STOPPED, message=RESUMING)
        )
        logs.append(tx, f"machine-{machine.id}", "WARNING", LOGGER, RESUMING, now=now)
    runtime.tell(Event(entity=f"machine {machine.id}", text=RESUMING))
    await runtime.within(START_S, provider.resume(machine.instance_id))
    runtime.checkpoint("machine-resumed")
    return True


async def can_resume(runtime: Runtime, machine: Machine) -> bool:
    """Return True when a silent machine is stopped, so that its provider can start it at the next contact."""
    if is_manual(machine) or not machine.instance_id:
        return False
    try:
        provider = runtime.provider_of(machine)
        if not isinstance(provider, Resumer):
            return False
        (instance,) = await runtime.within(CALL_S, provider.get([machine.instance_id]))
    except PushjujuError:
        return False  # unknown: the next contact asks the cloud again
    return instance is not None and instance.status is InstanceStatus.STOPPED


async def come_back(runtime: Runtime, machine: Machine, boot_id: str) -> MachineSession:
    """Wait until a machine that reboots answers from its new boot."""
    await runtime.drop(machine)
    deadline = runtime.ctx.clock.monotonic() + BOOT_WAIT_S
    while True:
        try:
            session = await runtime.session(machine)
            if session.hello["boot_id"] != boot_id:
                standby.listen(runtime, session, machine)
                note_facts(runtime.ctx, machine, session.hello)
                return session
            await runtime.drop(machine)
            error: TransportError = Unreachable(f"machine {machine.id} does not reboot")
        except TransportError as caught:
            error = caught
        if runtime.ctx.clock.monotonic() > deadline:
            raise error
        await asyncio.sleep(BOOT_POLL_S * 4)


# --- the facts of a machine -------------------------------------------------------------------------------


def _is_news(machine: Machine, hello: Hello, now: datetime) -> bool:
    """Return True when a contact must be recorded: the facts have changed, or the last record is old."""
    if _is_old(machine, now) or machine.unreachable_since or machine.boot_id != hello["boot_id"]:
        return True
    return machine.hostname != hello["hostname"] or not network.is_known(machine, _addresses(hello))


def _is_old(machine: Machine, now: datetime) -> bool:
    """Return True when the recorded facts are old, or a change demands new ones."""
    if machine.last_seen is None or machine.look_again:
        return True
    return abs((now - machine.last_seen).total_seconds()) > NOTE_EVERY_S


def _addresses(hello: Hello) -> list[dict[str, object]]:
    return network.addresses_from_nics(hello["nics"], hello.get("gateway", ""))


def note_facts(ctx: Context, machine: Machine, hello: Hello) -> None:
    """Record the facts that a machine has sent."""
    now = ctx.clock.now()
    with ctx.write(machine.model) as tx:
        addresses = spaces.note_addresses(tx, machine, _addresses(hello))
        _note_facts(tx, machine, hello, now)
        if machine.unreachable_since:
            notices.reachable(tx, machine.id)
        if not machine.last_seen:
            for container in machines.containers_on(tx, machine.id):
                wake.machine(tx, container.id, f"machine {machine.id} is there")
        if addresses != machine.addresses:
            _note_addresses(tx, machine, addresses)
        if machine.life == Life.ALIVE:
            kept = removal.kept_text(tx, machine)
            statuses.set_once(
                tx, StatusKind.MACHINE, machine.id, StatusInfo(status=MachineStatus.STARTED, message=kept)
            )
        if not _fails(tx, machine):
            _note_running(tx, machine, hello)


def _note_facts(tx: ModelTx, machine: Machine, hello: Hello, now: datetime) -> None:
    """Record new facts, or only the time of the contact, so that cached views of the units stay valid."""
    key = {"model": machine.model, "id": machine.id}
    hardware = {**_hardware(hello), **machine.hardware}
    present = machines.get(tx, machine.id)
    told: dict[str, object] = {
        "hostname": hello["hostname"],
        "boot_id": hello["boot_id"],
        "hardware": hardware,
    }
    told |= {"unreachable_since": None, "last_failed": None, "look_again": 0}
    if present.last_seen and all(getattr(present, name) == value for name, value in told.items()):
        tx.change(Machine, "machine_get", "machine_set_seen", key, last_seen=now)
        return
    tx.run(
        "machine_set_facts", **key, hostname=hello["hostname"], boot_id=hello["boot_id"],
        hardware=json.dumps(hardware), now=now,
    )  # fmt: skip


def note_success(ctx: Context, machine: Machine, hello: Hello) -> None:
    """Record that the work on a machine succeeded, after it had failed on a machine that answered."""
    with ctx.write(machine.model) as tx:
        if _fails(tx, machine):
            _note_running(tx, machine, hello)


def _fails(tx: ModelTx, machine: Machine) -> bool:
    """Return True when a machine answered but the work on it failed, until some work on it succeeds."""
    present = statuses.get_status(tx, StatusKind.INSTANCE, machine.id)
    return present is not None and _FAILED in present.data


def _note_running(tx: ModelTx, machine: Machine, hello: Hello) -> None:
    text = upgrade_machine.instance_message(tx, machine.id) or _running(machine, hello)
    statuses.set_once(
        tx, StatusKind.INSTANCE, machine.id, StatusInfo(status=InstanceStatus.RUNNING, message=text)
    )


def _note_addresses(tx: ModelTx, machine: Machine, addresses: list[dict[str, object]]) -> None:
    tx.run("machine_set_addresses", id=machine.id, addresses=json.dumps(addresses))
    known, now = (firewall.known_by(item, machine.ssh) for item in (machine.addresses, addresses))
    if known - now:
        firewall.changed_everywhere(tx, "a machine has another address")
    elif now - known:
        firewall.let_in(tx)


def note_failure(ctx: Context, machine: Machine, error: PushjujuError) -> None:
    """Record why a machine could not be used; wake units that may take over from its unreachable leaders."""
    now = ctx.clock.now()
    with ctx.write(machine.model) as tx:
        if isinstance(error, TransportError):
            tx.run("machine_set_unreachable", id=machine.id, now=now)
            notices.unreachable(tx, machine.id, error.full_text)
            _note_unusable(tx, machine, error)
            _alert_followers(tx, machine)
        elif machine.last_seen or isinstance(error, BadAnswer | HeldElsewhere):
            _note_unusable(tx, machine, error, {_FAILED: error.code})
        entity = f"machine-{machine.id}"
        logs.append(tx, entity, "ERROR", LOGGER, error.full_text, now=now)


def _note_unusable(
    tx: ModelTx, machine: Machine, error: PushjujuError, data: Mapping[str, Any] = MappingProxyType({})
) -> None:
    known = {**data, UNUSABLE: error.full_text}
    if isinstance(error, InstanceGone):
        known["code"] = error.code
    status = _instance_status(tx, machine, error)
    statuses.set_once(
        tx, StatusKind.INSTANCE, machine.id, StatusInfo(status=status, message=error.message, data=known)
    )


def _instance_status(tx: ModelTx, machine: Machine, error: PushjujuError) -> InstanceStatus:
    """Return the instance status that an error shows; a stopped instance that did not start stays stopped."""
    kept = isinstance(error, ProviderError) and _was_stopped(tx, machine)
    if isinstance(error, InstanceStopped) or kept:
        return InstanceStatus.STOPPED
    return InstanceStatus.UNKNOWN if isinstance(error, InstanceGone) else InstanceStatus.RUNNING


def _was_stopped(tx: ModelTx, machine: Machine) -> bool:
    present = statuses.get_status(tx, StatusKind.INSTANCE, machine.id)
    return present is not None and present.status == InstanceStatus.STOPPED


def _alert_followers(tx: ModelTx, machine: Machine) -> None:
    """Wake the followers of leaders that have been silent for too long, if the followers can be reached."""
    for unit in machines.units_on(tx, machine.id):
        leads = leadership.holder(tx, unit.application) == unit.name
        if not leads or not leadership.is_lost(tx, unit.name):
            continue
        for other in leadership.followers(tx, unit):
            home = tx.find(Machine, "machine_get", id=other.machine)
            if home is not None and home.unreachable_since is None:
                wake.unit(tx, other, f"leader {unit.name} does not answer")


def _running(machine: Machine, hello: Hello) -> str:
    """Return the message of the instance's status: what is special about a running machine."""
    if is_manual(machine):
        return "Manually provisioned machine"
    wanted, real = Base.parse(machine.base), hello.get("os") or {}
    if real and (real.get("id"), real.get("version_id")) != (wanted.os, wanted.track):
        return f"Running {real.get('id')}@{real.get('version_id')} in place of {wanted.display}"
    return "Running"


def _hardware(hello: Hello) -> dict[str, str]:
    found = {
        "arch": str(hello.get("arch", "")),
        "cores": str(hello.get("cores") or ""),
        "mem": f"{hello['mem_mib']}M" if hello.get("mem_mib") else "",
    }
    return {key: value for key, value in found.items() if value}
