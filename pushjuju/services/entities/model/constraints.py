"""Reads the constraints of a model, and merges them with those of an application or machine.

Mirrors: juju apiserver/facades/client/modelconfig, application (3.6)
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from typing import Any

from pushjuju.charms.format import manifest
from pushjuju.charms.values.model import Charm
from pushjuju.core import constraints
from pushjuju.core.base import Base
from pushjuju.core.charmstore import DEFAULT_ARCH, Platform
from pushjuju.core.errors import NotFound, NotValid
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import model_config, models
from pushjuju.store.rows.records import Application, Machine
from pushjuju.store.tx import ModelTx


def of_model(tx: ModelTx) -> dict[str, object]:
    """Return the constraints of a model; empty when none are set."""
    found = tx.scalar("model_constraints_get")
    return dict(json.loads(found)) if found else {}


def default_base(ctx: Context, model: str) -> Base:
    """Return the base of new machines for which a command names no base: the model's, or Ubuntu 24.04."""
    with ctx.read(model) as tx:
        text = model_config.get(tx, model_config.BASE)
    return Base.parse(text) if text else Base("ubuntu", "24.04")


def for_machine(tx: ModelTx, own: Mapping[str, Any]) -> dict[str, object]:
    """Return the constraints of a new machine: the model's, overridden by `own`.

    The cloud's plugin is loaded for its rules on conflicts only when both model and `own` have constraints.
    """
    weaker = of_model(tx)
    both = weaker and any(value is not None for value in own.values())
    return constraints.merge(weaker, own, _conflicts(tx) if both else ())


def _conflicts(tx: ModelTx) -> constraints.Conflicts:
    from pushjuju.plugins.manager import PluginHost  # only when model and machine have constraints

    try:
        return PluginHost(environ=os.environ).provider_type(models.get(tx).cloud_type).conflicts
    except NotFound:
        return constraints.SIZES_OF_A_TYPE


def own_arch() -> str:
    """Return the architecture of this computer, in Juju's words."""
    return manifest.normalise_arch(platform.machine()) or platform.machine()


def wanted_arch(ctx: Context, model: str, own: Mapping[str, Any], placed: Platform | None = None) -> str:
    """Return the architecture for new machines; empty when no constraint names an architecture.

    Args:
        placed: The platform of the machines that units are placed on, or None.

    Mirrors: juju cmd/juju/application/utils MakePlatform (3.6)
    """
    if own.get("arch"):
        return str(own["arch"])
    if placed:
        return placed.arch
    with ctx.read(model) as tx:
        return str(of_model(tx).get("arch") or "")


def arch_of_application(ctx: Context, model: str, application: Application) -> str:
    """Return the architecture of an application's machines, or of new machines when there are no machines."""
    with ctx.read(model) as tx:
        rows = tx.rows("application_machines", application=application.name)
        names = {row["machine"] for row in rows if row["machine"] is not None}
        machines = [tx.find(Machine, "machine_get", id=name) for name in sorted(names)]
    found = {str(item.hardware["arch"]) for item in machines if item and item.hardware.get("arch")}
    if len(found) > 1:
        listed = ", ".join(sorted(found))
        raise NotValid(f"machines of {quote(application.name)} have different architectures: {listed}")
    return found.pop() if found else wanted_arch(ctx, model, application.constraints)


def chosen_arch(charm: Charm, base: Base, asked: str) -> str:
    """Return the architecture for which a charm's sources are built.

    Args:
        asked: The architecture of the constraints; when empty, amd64 or the first that the charm supports.
    """
    entries = [item for item in charm.manifest.bases if item.base.matches(base)] if charm.manifest else []
    named = list(dict.fromkeys(arch for item in entries for arch in item.architectures))
    anything = not entries or any(not item.architectures for item in entries)
    if not asked:
        return DEFAULT_ARCH if anything or DEFAULT_ARCH in named else named[0]
    if anything or asked in named:
        return asked
    raise NotValid(
        f"charm {quote(charm.name)} is for {', '.join(named)} on {base.display}, not for {asked}",
        hint=f"name {asked} among the platforms of charmcraft.yaml, or use --constraints arch={named[0]}",
    )
