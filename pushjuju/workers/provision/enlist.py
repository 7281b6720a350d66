"""Takes in a machine that exists already: `add-machine ssh:[user@]host[:port]`.

Mirrors: juju environs/manual/sshprovisioner (3.6)
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pushjuju.core.errors import AlreadyExists, NotValid, PushjujuError
from pushjuju.core.status import Life, MachineStatus, StatusKind
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.providers import Enlister, Started
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import firewall, models, ssh_keys
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx
from pushjuju.workers.events import Event, Tell
from pushjuju.workers.provision import hostkeys
from pushjuju.workers.provision.provisioner import hardware_document
from pushjuju.workers.runtime import MANUAL, STARTS, Runtime, target_document

_RESERVED = "enlist "  # prefix of the sequences that keep reserved numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenHost:
    """A machine that a user names by its address."""

    target: str  # `ssh:[user@]host[:port]`
    identities: Sequence[Path] = ()  # private keys for the first login, in addition to the user's own
    jump: str = ""  # jump hosts to the machine, as in `SSHTarget.proxy_jump`; "" means the model's, if any


def take_in(
    ctx: Context,
    model: str,
    hosts: Sequence[GivenHost],
    public_keys: Sequence[str],
    *,
    tell: Tell,
    warn: Callable[[str], None],
) -> list[str | PushjujuError]:
    """Take in machines, several at a time; return for each its id, or the error that prevented it."""

    async def work() -> list[str | PushjujuError]:
        runtime = Runtime(ctx, tell, warn)
        try:
            return await _take_in(runtime, model, hosts, public_keys)
        finally:
            await runtime.close()

    return asyncio.run(work())


async def _take_in(
    runtime: Runtime, model: str, hosts: Sequence[GivenHost], public_keys: Sequence[str]
) -> list[str | PushjujuError]:
    slots = asyncio.Semaphore(STARTS)

    async def enlist(host: GivenHost) -> str | PushjujuError:
        async with slots:
            try:
                machine = await add_given_machine(
                    runtime,
                    model,
                    host.target,
                    identities=host.identities,
                    public_keys=public_keys,
                    jump=host.jump,
                )
            except PushjujuError as error:
                return error
        return machine.id

    return list(await asyncio.gather(*(enlist(host) for host in hosts)))


async def add_given_machine(
    runtime: Runtime,
    model: str,
    target: str,
    *,
    identities: Sequence[Path] = (),
    public_keys: Sequence[str] = (),
    jump: str = "",
) -> Machine:
    """Take in a machine over SSH; record the machine only after success.

    Args:
        target: `ssh:[user@]host[:port]`.
        identities: Private keys for the first login, in addition to the user's own.
        public_keys: Keys that may log in, in addition to the controller's.
        jump: Jump hosts to the machine, as in `SSHTarget.proxy_jump`; "" means the model's, if any.
    """
    ctx = runtime.ctx
    provider = runtime.provider(model, MANUAL)
    if not isinstance(provider, Enlister):
        raise NotValid("the manual provider cannot take in machines")
    machine_id = _reserve(ctx, model, target)

    def progress(status: str, message: str) -> None:
        runtime.tell(Event(entity=f"machine {machine_id}", text=message or status))

    try:
        started = await provider.enlist(
            target,
            machine_id=machine_id,
            authorized_keys=[ctx.controller.public_key.read_text().strip(), *public_keys],
            identities=identities,
            progress=progress,
            **({"jump": jump} if jump else {}),  # an unknown argument to providers for API 1.4
        )
        found = await provider.ssh_target(started.instance)
    except PushjujuError:
        with ctx.write(model) as tx:
            _unreserve(tx, target)
            tx.give_back(model, "machine", int(machine_id))
        raise
    runtime.checkpoint("enlisted")
    return _record(ctx, model, machine_id, started, target_document(found), target)


def _reserve(ctx: Context, model: str, target: str) -> str:
    """Return the number of the machine that is being added.

    The mark on the machine contains the number. An attempt after a crash gets the same number, and so
    recognizes its own mark.
    """
    with ctx.write(model) as tx:
        models.require_alive(tx)
        number = tx.scalar("sequence_get", scope=model, name=_RESERVED + target)
        if number is None:
            number = tx.next(model, "machine")
            tx.run("sequence_set", scope=model, name=_RESERVED + target, number=number)
    return str(number)


def _unreserve(tx: ModelTx, target: str) -> None:
    tx.run("sequence_forget", scope=tx.model, name=_RESERVED + target)


def _record(
    ctx: Context, model: str, machine_id: str, started: Started, ssh: dict[str, object], target: str
) -> Machine:
    """Record machine and instance in one transaction, so that no worker starts another instance."""
    now, instance = ctx.clock.now(), started.instance
    machine = Machine(
        model=model, id=machine_id, life=Life.ALIVE, base=str(started.base), nonce=str(uuid.uuid4()),
        provider=MANUAL, instance_id=instance.id, display_name=instance.display_name,
        hardware=hardware_document(instance.hardware), ssh=ssh, created=now,
    )  # fmt: skip
    with ctx.write(model) as tx:
        machine = replace(machine, keys_due=ssh_keys.ever(tx))
        if tx.find(Machine, "machine_get", id=machine_id):
            raise AlreadyExists("machine is already provisioned")  # by a parallel call for the same target
        _unreserve(tx, target)
        tx.insert("machine", machine)
        statuses.set_status(tx, StatusKind.MACHINE, machine_id, MachineStatus.PENDING)
        statuses.set_status(tx, StatusKind.INSTANCE, machine_id, instance.status, instance.message)
        firewall.let_in(tx)
        wake.machine(tx, machine_id, "machine taken in")
    hostkeys.remember(ctx, machine)
    return machine
