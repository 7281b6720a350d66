"""Facts for `ssh`, `scp` and `debug-hooks`: machine, jump hosts, hooks and actions of a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pushjuju.charms.values.hooks import hook_names
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.core.jumps import Hop
from pushjuju.core.names import UnitName, is_machine
from pushjuju.portable.names import is_unit
from pushjuju.portable.quote import quote
from pushjuju.services.entities.application import applications, units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import host_keys, machines
from pushjuju.services.entities.model import jump_hosts
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx

__all__ = ["Machine", "leader", "machine_of", "tasks_of", "way"]


def leader(ctx: Context, model: str, application: str) -> str:
    """Return the leader unit of an application, or raise NotFound."""
    with ctx.read(model) as tx:
        return _leader(tx, application)


def _leader(tx: ModelTx, application: str) -> str:
    found = leadership.holder(tx, application)
    if found is None:
        raise NotFound(f"could not determine leader for {quote(application)}")
    return found


def machine_of(ctx: Context, model: str, name: str) -> Machine:
    """Return the machine that a machine id, a unit or `APPLICATION/leader` stands for."""
    with ctx.read(model) as tx:
        if is_machine(name):
            return machines.get(tx, name)
        application, _, word = name.partition("/")
        if word == "leader":
            name = _leader(tx, application)
        if not is_unit(name):
            raise NotValid(f'invalid target "{name}": expected a machine, a unit or an application\'s leader')
        unit = units.get(tx, str(UnitName.parse(name)))
        if unit.machine is None:
            raise NotFound(f'unit "{name}" has no machine yet', hint="pushjuju status")
        return machines.get(tx, unit.machine)


def way(ctx: Context, model: str, ssh: Mapping[str, Any]) -> tuple[Sequence[Hop], bool]:
    """Return the jump hosts on the way to a machine, and True when the model's `proxy-ssh` asks for them."""
    with ctx.read(model) as tx:
        return jump_hosts.to(tx, ssh), jump_hosts.is_asked_for(tx)


def tasks_of(ctx: Context, model: str, unit: str) -> tuple[list[str], list[str]]:
    """Return the hooks and the actions of a unit's charm, sorted."""
    with ctx.read(model) as tx:
        found = units.get(tx, unit)
        charm = applications.current_charm(tx, applications.get(tx, found.application))
    return sorted(hook_names(charm.meta)), sorted(charm.actions)


def known_hosts(ctx: Context, model: str) -> AbstractContextManager[Path]:
    """Return what yields a known_hosts file for OpenSSH, and keeps the keys that OpenSSH accepts."""
    return host_keys.as_file(ctx, model)
