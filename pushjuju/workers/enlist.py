"""Taking in a machine that is there already: `add-machine ssh:[user@]host[:port]`. Layer: workers.

Mirrors: juju environs/manual/sshprovisioner (3.6)
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from pushjuju.core.clock import to_iso
from pushjuju.core.errors import NotValid
from pushjuju.core.life import Life
from pushjuju.core.status import InstanceStatus, MachineStatus, StatusKind
from pushjuju.plugins.types import Enlister, Started
from pushjuju.services import machines, models, statuses, touch
from pushjuju.state.records import Machine
from pushjuju.workers.events import Event
from pushjuju.workers.provisioner import record
from pushjuju.workers.workshop import MANUAL, Workshop, target_document


async def add_given_machine(
    shop: Workshop,
    model: str,
    target: str,
    *,
    identities: Sequence[Path] = (),
    public_keys: Sequence[str] = (),
) -> Machine:
    """Take in a machine over SSH; nothing is recorded unless it succeeds.

    Args:
        target: `ssh:[user@]host[:port]`.
        identities: Private keys for the first login, beside the user's own.
        public_keys: Keys that get a login beside the controller's.

    Raises:
        TransportError: No way in.
        AlreadyExists: Some model has it already.
        NotValid: The model dies, or the machine is nothing that can be used.
    """
    ctx = shop.ctx
    provider = shop.provider(model, MANUAL)
    if not isinstance(provider, Enlister):
        raise NotValid("the manual provider cannot take in machines")
    with ctx.store.write() as tx:
        models.require_alive(tx, model)
        machine_id = str(tx.next(model, "machine"))

    def progress(status: str, message: str) -> None:
        shop.tell(Event(entity=f"machine {machine_id}", text=message or status))

    started = await provider.enlist(
        target,
        machine_id=machine_id,
        authorized_keys=[ctx.controller.public_key.read_text().strip(), *public_keys],
        identities=identities,
        progress=progress,
    )
    ssh = target_document(await provider.ssh_target(started.instance))
    return record(ctx, _insert(shop, model, machine_id, started), started, MANUAL, ssh)


def _insert(shop: Workshop, model: str, machine_id: str, started: Started) -> Machine:
    ctx, now = shop.ctx, shop.ctx.clock.now()
    machine = Machine(
        model=model, id=machine_id, life=Life.ALIVE, base=str(started.base),
        nonce=str(uuid.uuid4()), created=to_iso(now),
    )  # fmt: skip
    with ctx.store.write() as tx:
        tx.insert("machine", machine)
        statuses.set_status(tx, model, StatusKind.MACHINE, machine_id, MachineStatus.PENDING, now=now)
        statuses.set_status(tx, model, StatusKind.INSTANCE, machine_id, InstanceStatus.RUNNING, now=now)
        touch.machine(tx, model, machine_id, now, "machine taken in")
        return machines.get(tx, model, machine_id)
