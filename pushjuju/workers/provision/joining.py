"""Takes in the machines that clients of the API have named, once they show the proof of their script.

The contact runs one command, which only reads, before the proof is known; all else runs under the host key
that showed the proof. What goes wrong before the proof has one text for all reasons: a client must not learn
from the controller which hosts of its network answer.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from dataclasses import replace
from datetime import datetime, timedelta

from pushjuju.core.base import Base
from pushjuju.core.errors import AlreadyExists, NotPermitted, NotValid, PushjujuError, TransportError
from pushjuju.core.names import parent_machine
from pushjuju.core.status import InstanceStatus, StatusKind
from pushjuju.plugins.api.providers import Enlister, Started
from pushjuju.plugins.api.targets import RemoteRunner, ScriptResult, SSHTarget
from pushjuju.plugins.providers.manual import scripts
from pushjuju.services.entities.basis import statuses
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import awaited, machines
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import Machine
from pushjuju.workers import clouds
from pushjuju.workers.outcome import Outcome
from pushjuju.workers.provision import provisioner
from pushjuju.workers.provision.provisioner import StartFailed
from pushjuju.workers.reach import ScriptRunner
from pushjuju.workers.runtime import MANUAL, Runtime, target_document

PORT = 22
_LOOK_S = 20.0  # seconds for a stranger to show its proof


class NoProof(TransportError, message="the machine shows no proof", code="no-proof"):
    """The machine does not show the proof of the provisioning script; nothing was changed there."""


async def start(runtime: Runtime, machine: Machine) -> Machine:
    """Start the instance of a machine, or take in the machine that a client has named; return its new row."""
    if not awaited.is_awaited(machine):
        return await provisioner.start(runtime, machine)
    _note_try(runtime.ctx, machine)
    async with runtime.starts(machine):
        try:
            return await _take_in(runtime, machine)
        except (NoProof, OSError) as error:
            raise _not_yet(runtime.ctx, machine) from error
        except PushjujuError as error:
            raise _refused(runtime.ctx, machine, error) from error


def waits(ctx: Context, machine: Machine) -> Outcome | None:
    """Return what a machine without instance waits for, or None for a machine to start now."""
    with ctx.read(machine.model) as tx:
        if host := parent_machine(machine.id):  # the host's first contact wakes the container
            silent = not machines.get(tx, host).last_seen
            return Outcome(reason=f"waits for machine {host}") if silent else None
        if not awaited.is_awaited(machine):
            return None
        shown = statuses.get_status(tx, StatusKind.INSTANCE, machine.id)
    if shown is None or shown.status == InstanceStatus.PENDING:
        return Outcome(reason="no client has asked for its provisioning script")
    due = _next_try(machine)
    return Outcome(due=due, reason=_reason(machine)) if due and due > ctx.clock.now() else None


def _next_try(machine: Machine) -> datetime | None:
    if machine.last_failed is None:
        return None
    return machine.last_failed + timedelta(seconds=awaited.pause(machine.attempts))


def _reason(machine: Machine) -> str:
    return f"waits for the provisioning script on {awaited.host_of(machine)}"


async def _take_in(runtime: Runtime, machine: Machine) -> Machine:
    """Take in a machine that shows its proof, by the address that showed it."""
    address = await _address(awaited.host_of(machine))
    strangers = ScriptRunner(runtime.base_ctx, runtime.connector, machine.model, to_strangers=True)
    remote = ProvenRunner(strangers, awaited.proof_of(runtime.ctx, machine))
    with runtime.ctx.read(machine.model) as tx:
        model = models.get(tx)
    provider = clouds.open_provider(
        runtime.base_ctx, runtime.host, model, warn=runtime.warn, remote=remote, cloud=MANUAL
    )
    if not isinstance(provider, Enlister):
        raise NotValid("the manual provider cannot take in machines")
    key = runtime.ctx.controller.public_key.read_text().strip()
    target = f"ssh:{scripts.USER}@[{address}]" if ":" in address else f"ssh:{scripts.USER}@{address}"
    started = await provider.enlist(target, machine_id=machine.id, authorized_keys=[key])
    runtime.checkpoint("enlisted")
    found = await provider.ssh_target(started.instance)
    return _record(runtime.ctx, machine, started, found)


def _record(ctx: Context, machine: Machine, started: Started, found: SSHTarget) -> Machine:
    base = str(started.base or Base.parse(machine.base))
    return provisioner.record(ctx, replace(machine, base=base), started, MANUAL, target_document(found))


async def _address(host: str) -> str:
    """Return an IP address of a host; every address of the host must be allowed."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, PORT, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NoProof from error
    addresses = [str(item[4][0]) for item in found]
    for address in addresses:
        awaited.require_allowed(address, host)
    return addresses[0]


class ProvenRunner:
    """Runs scripts on a host after the host has shown a proof, and only under the host key that showed it."""

    def __init__(self, remote: RemoteRunner, proof: str) -> None:
        self._remote = remote
        self._proof = proof
        self._shown: dict[tuple[str, int], str] = {}
        self._asked: set[tuple[str, int]] = set()

    async def run_script(
        self,
        target: SSHTarget,
        script: str,
        *,
        sudo: bool = False,
        interactive: bool = False,
        timeout_s: float = 60.0,
    ) -> ScriptResult:
        """Run a script, as `RemoteRunner.run_script` does.

        Raises:
            NoProof: The host does not answer, or shows no or a wrong proof; it is not asked again.
        """
        place = (target.host, target.port)
        if place not in self._asked:
            self._asked.add(place)
            self._shown[place] = await self._proven_key(target)
        if not (key := self._shown.get(place, "")):
            raise NoProof
        return await self._remote.run_script(
            replace(target, host_keys=(key,)), script, sudo=sudo, interactive=interactive, timeout_s=timeout_s
        )

    async def _proven_key(self, target: SSHTarget) -> str:
        """Return the host key under which a host shows the proof."""
        try:
            done = await self._remote.run_script(target, scripts.READ_PROOF, sudo=True, timeout_s=_LOOK_S)
        except PushjujuError as error:
            raise NoProof from error
        shown = done.stdout.strip().encode(errors="replace")
        if not done.host_key or not hmac.compare_digest(shown, self._proof.encode()):
            raise NoProof
        return done.host_key


def _note_try(ctx: Context, machine: Machine) -> None:
    """Record a try before it begins, so that a killed process does not try again at once."""
    with ctx.write(machine.model) as tx:
        tx.run("machine_set_tried", id=machine.id, attempts=machine.attempts + 1, now=ctx.clock.now())


def _not_yet(ctx: Context, machine: Machine) -> StartFailed:
    """Return the error of a machine without a proof; the last one leaves the machine to a user."""
    tried = machine.attempts + 1
    if tried < awaited.TRIES:
        return StartFailed(_reason(machine), detail="", retry_s=awaited.pause(tried))
    text = f"the provisioning script did not run on {awaited.host_of(machine)}"
    return _given_up(ctx, machine, text, "no-proof")


def _refused(ctx: Context, machine: Machine, error: PushjujuError) -> StartFailed:
    """Return the error of a machine that has shown its proof, or may not be contacted."""
    final = isinstance(error, AlreadyExists | NotPermitted) or not error.retryable
    if final or machine.attempts + 1 >= awaited.TRIES:
        return _given_up(ctx, machine, error.message, error.code)
    return StartFailed(error.message, detail="", retry_s=awaited.pause(machine.attempts + 1))


def _given_up(ctx: Context, machine: Machine, text: str, code: str) -> StartFailed:
    with ctx.write(machine.model) as tx:
        statuses.set_status(
            tx, StatusKind.INSTANCE, machine.id, InstanceStatus.PROVISIONING_ERROR, text, data={"code": code}
        )
    hint = f"pushjuju retry-provisioning {machine.id}"
    return StartFailed(f"machine {machine.id}: {text}", detail="", hint=hint, retry_s=None)
