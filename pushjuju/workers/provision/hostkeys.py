"""The host keys of machines in the known_hosts of the model: told by providers, accepted once, forgotten."""

from __future__ import annotations

from pushjuju.runner.ssh.hostkeys import HostKeyFile, entry_name
from pushjuju.services.entities.basis.context import Context
from pushjuju.store.rows.records import Machine
from pushjuju.workers.reach import key_alias

DEFAULT_PORT = 22


def file_of(ctx: Context, machine: Machine) -> tuple[HostKeyFile, str]:
    """Return the model's known_hosts file and the name of a machine in it."""
    name = key_alias(machine) or entry_name(
        str(machine.ssh.get("host", "")), int(machine.ssh.get("port") or DEFAULT_PORT)
    )
    return HostKeyFile(ctx.controller.known_hosts(machine.model)), name


def remember(ctx: Context, machine: Machine) -> None:
    """Keep the host keys that the provider told, for the user's own `ssh` too."""
    file, name = file_of(ctx, machine)
    keys = machine.ssh.get("host_keys") or ()
    if keys:
        file.remove(name)
    for key in keys:
        file.add(name, key)


def moved(ctx: Context, before: Machine, after: Machine) -> None:
    """Keep the host keys of a machine under its new address, where another one's may have been."""
    if file_of(ctx, before)[1] != file_of(ctx, after)[1]:
        remember(ctx, after)


def forget(ctx: Context, machine: Machine) -> None:
    """Forget the host keys of a machine that is gone: its address may be another one's soon."""
    file, name = file_of(ctx, machine)
    file.remove(name)
