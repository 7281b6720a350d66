"""The host keys of machines in the model's known_hosts: added from providers, moved, deleted."""

from __future__ import annotations

from pushjuju.runner.ssh.hostkeys import entry_name
from pushjuju.runner.target import HostKeys
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Machine
from pushjuju.workers.reach import host_keys_of, key_alias

DEFAULT_PORT = 22


def file_of(ctx: Context, machine: Machine) -> tuple[HostKeys, str]:
    """Return the model's host keys and the name of a machine among them."""
    name = key_alias(machine) or entry_name(
        str(machine.ssh.get("host", "")), int(machine.ssh.get("port") or DEFAULT_PORT)
    )
    return host_keys_of(ctx, machine.model), name


def remember(ctx: Context, machine: Machine) -> None:
    """Add the host keys that the provider has reported; the user's own `ssh` may use the file, too."""
    file, name = file_of(ctx, machine)
    keys = machine.ssh.get("host_keys") or ()
    if keys:
        file.remove(name)
    for key in keys:
        file.add(name, key)


def moved(ctx: Context, before: Machine, after: Machine) -> None:
    """Add a machine's host keys under its new address, replacing keys of another machine."""
    if file_of(ctx, before)[1] != file_of(ctx, after)[1]:
        remember(ctx, after)


def forget(ctx: Context, machine: Machine) -> None:
    """Delete the host keys of a removed machine, whose address another machine may get."""
    file, name = file_of(ctx, machine)
    file.remove(name)
