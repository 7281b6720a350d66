"""The requests by which a client of the API adds a machine that is there already.

The client is root on the machine. It names the machine, asks for a script, and runs the script there; then
the controller takes the machine in. Mirrors: juju apiserver/facades/client/machinemanager (3.6)
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.errors import NotPermitted, NotValid
from pushjuju.core.ids import digest, new_uuid
from pushjuju.core.status import InstanceStatus, Life, MachineStatus, StatusKind
from pushjuju.core.values import dataclass, regex
from pushjuju.plugins.providers.manual import scripts
from pushjuju.services.entities.basis import statuses, wake
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import awaited, machines
from pushjuju.services.entities.model import constraints, models, ssh_keys
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx

_PREFIX = "manual:"
_NAME = regex(r"(?=.{1,253}\Z)[A-Za-z0-9]([A-Za-z0-9_-]{0,62}\.?)*")
_LONGEST_NONCE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualMachineOptions:
    """A machine that is there already."""

    instance_id: str  # `manual:` and the name or IP address of the machine
    nonce: str  # a text of the client's, which it repeats when it asks for the script
    address: str = ""  # the machine's address as the client has found it; empty for that of the instance id
    base: Base | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict)


def add_manual_machine(ctx: Context, model: str, options: ManualMachineOptions) -> str:
    """Record a machine that waits for its provisioning script, and return the machine's id."""
    host = _host(options)
    if not 0 < len(options.nonce) <= _LONGEST_NONCE:
        raise NotValid(f"a manual machine needs a nonce of at most {_LONGEST_NONCE} characters")
    base = options.base or constraints.default_base(ctx, model)
    with ctx.change(model) as tx:
        models.require_alive(tx)
        if awaited.count(tx) >= awaited.MOST:
            raise NotValid(f"{awaited.MOST} machines wait for their provisioning scripts already")
        wanted = constraints.for_machine(tx, options.constraints)
        return _record(tx, host, base, wanted, options.nonce).id


def _host(options: ManualMachineOptions) -> str:
    """Return the address to contact, or a name that a worker will resolve."""
    kind, _, named = options.instance_id.partition(":")
    if f"{kind}:" != _PREFIX or not named:
        raise NotValid(f'"{options.instance_id}" is not the instance id of a manual machine')
    host = options.address or named
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if not _NAME.fullmatch(host) or host.replace(".", "").isdigit():
            raise NotValid(f'"{host}" is not a name or an IP address of a host') from None
        if host.lower().rstrip(".").split(".")[-1] == "localhost":
            raise NotPermitted(f"{host} cannot be added over the API") from None
        return host
    awaited.require_allowed(host, host)
    return host


def _record(tx: ModelTx, host: str, base: Base, wanted: Mapping[str, Any], nonce: str) -> Machine:
    machine = Machine(
        model=tx.model, id=str(tx.next(tx.model, "machine")), life=Life.ALIVE, base=str(base),
        constraints=dict(wanted), placement=f"{awaited.PLACE}{host}", provider=awaited.PROVIDER,
        nonce=f"{new_uuid()} {digest(nonce)}", created=tx.now, keys_due=ssh_keys.ever(tx),
    )  # fmt: skip
    tx.insert("machine", machine)
    statuses.set_status(tx, StatusKind.MACHINE, machine.id, MachineStatus.PENDING)
    text = f"waiting for the provisioning script on {host}"
    statuses.set_status(tx, StatusKind.INSTANCE, machine.id, InstanceStatus.PENDING, text)
    return machine


def provisioning_script(ctx: Context, model: str, machine_id: str, nonce: str) -> str:
    """Return the script that a client runs as root on a machine that waits; begin to contact the machine."""
    key = ctx.controller.public_key.read_text().strip()
    with ctx.change(model) as tx:
        machine = machines.get(tx, machine_id)
        if machine.life != Life.ALIVE or not awaited.is_awaited(machine):
            raise NotValid(f"machine {machine_id} does not wait for a provisioning script")
        if not hmac.compare_digest(machine.nonce.rpartition(" ")[2], digest(nonce)):
            raise NotValid(f"machine {machine_id} was added with another nonce")
        _begin(tx, machine)
    return scripts.invite(awaited.owner_of(ctx, machine), [key], awaited.proof_of(ctx, machine))


def _begin(tx: ModelTx, machine: Machine) -> None:
    """Let the worker contact a machine, unless it does so already."""
    shown = statuses.get_status(tx, StatusKind.INSTANCE, machine.id)
    if shown is not None and shown.status == InstanceStatus.ALLOCATING:
        return
    tx.run("machine_set_attempts", id=machine.id, attempts=0)
    text = f"waiting for the provisioning script on {awaited.host_of(machine)}"
    statuses.set_status(tx, StatusKind.INSTANCE, machine.id, InstanceStatus.ALLOCATING, text)
    wake.machine(tx, machine.id, "provisioning script")
