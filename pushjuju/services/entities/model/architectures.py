"""Chooses the architecture of a charm, and checks whether the charm supports it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from pushjuju.charms.format.manifest import normalise_arch
from pushjuju.charms.values.model import Charm
from pushjuju.core.base import Base
from pushjuju.core.charmstore import DEFAULT_ARCH, Platform
from pushjuju.core.errors import NotValid
from pushjuju.portable.quote import quote
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import constraints
from pushjuju.store.rows.records import Application, Machine


def own_arch() -> str:
    """Return the architecture of this computer, in Juju's words."""
    return normalise_arch(platform.machine()) or platform.machine()


def wanted(ctx: Context, model: str, own: Mapping[str, Any], placed: Platform | None = None) -> str:
    """Return the architecture for new machines; empty when no constraint names an architecture.

    Args:
        own: The constraints of the application.
        placed: The platform of the machines that units are placed on, or None.

    Mirrors: juju cmd/juju/application/utils MakePlatform (3.6)
    """
    if own.get("arch"):
        return str(own["arch"])
    if placed:
        return placed.arch
    with ctx.read(model) as tx:
        return str(constraints.of_model(tx).get("arch") or "")


def of_application(ctx: Context, model: str, application: Application) -> str:
    """Return the architecture of an application's machines, or of new machines when there are no machines."""
    with ctx.read(model) as tx:
        rows = tx.rows("application_machines", application=application.name)
        names = {row["machine"] for row in rows if row["machine"] is not None}
        machines = [tx.find(Machine, "machine_get", id=name) for name in sorted(names)]
    found = {str(item.hardware["arch"]) for item in machines if item and item.hardware.get("arch")}
    if len(found) > 1:
        listed = ", ".join(sorted(found))
        raise NotValid(f"machines of {quote(application.name)} have different architectures: {listed}")
    return found.pop() if found else wanted(ctx, model, application.constraints)


def chosen(charm: Charm, base: Base, asked: str) -> str:
    """Return the architecture for which a charm's sources are built.

    Args:
        base: The base of the machines.
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
