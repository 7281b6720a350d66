"""The LXD profiles that charms bring along: which a machine is to have, which it has.

Mirrors: juju core/lxdprofile, state/machine.go CharmProfiles (3.6)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pushjuju.charms.values.model import LXDProfile
from pushjuju.plugins.api.providers import CharmProfile
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.model import models
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx


def profile_name(model: str, application: str, charm_url: str) -> str:
    """Return `juju-MODEL-APPLICATION-REVISION`."""
    return f"juju-{model}-{application}-{charm_url.rpartition('-')[2]}"


def wanted(tx: ModelTx, machine: str = "") -> dict[str, LXDProfile]:
    """Return the profiles that the units on a machine want, or all units of a model, by name."""
    name = models.get(tx).name
    rows = tx.rows("profiles_of_units", machine=machine)
    found = {}
    for row in rows:
        profile = charms.get(tx, row["charm_url"]).lxd_profile
        if profile is not None and not profile.empty:
            found[profile_name(name, row["application"], row["charm_url"])] = profile
    return found


def document(profile: LXDProfile) -> dict[str, Any]:
    """Return a profile as it is kept and shown."""
    devices = {name: dict(device) for name, device in profile.devices.items()}
    return {"config": dict(profile.config), "description": profile.description, "devices": devices}


def as_plugin_sees(tx: ModelTx, machine: str) -> tuple[CharmProfile, ...]:
    """Return the profiles that the units on a machine want."""
    found = wanted(tx, machine)
    return tuple(CharmProfile(name=name, **document(profile)) for name, profile in found.items())


def applied(tx: ModelTx, machine: Machine) -> tuple[dict[str, object], str]:
    """Return what a machine has, name -> document, and what is wrong with it."""
    row = tx.row("profiles_get", machine=machine.id)
    return (json.loads(row["profiles"]), row["problem"]) if row is not None else ({}, "")


def note(tx: ModelTx, machine: Machine, profiles: Mapping[str, Any], problem: str = "") -> None:
    """Note what a machine has; with a problem: what it still has."""
    tx.run("profiles_put", machine=machine.id, profiles=json.dumps(profiles, sort_keys=True), problem=problem)


def can_have(tx: ModelTx, machine: Machine) -> bool:
    """Return True when it is noted that a machine can have profiles, with or without some."""
    return tx.row("profiles_get", machine=machine.id) is not None


def ready(tx: ModelTx, machine: Machine, application: str, charm_url: str) -> bool:
    """Return True unless a machine that can have profiles has not the one that a charm needs."""
    profile = charms.get(tx, charm_url).lxd_profile
    if profile is None or profile.empty or not can_have(tx, machine):
        return True
    name = profile_name(models.get(tx).name, application, charm_url)
    return name in applied(tx, machine)[0]


def take_as_applied(tx: ModelTx, machine: Machine) -> None:
    """Note that a machine has all that its units want, in a model that is only tried out."""
    if can_have(tx, machine):
        found = wanted(tx, machine.id)
        note(tx, machine, {name: document(profile) for name, profile in found.items()})


def lacking(tx: ModelTx, machine: Machine) -> frozenset[str]:
    """Return the applications whose units have to wait: their profile is not the machine's yet."""
    present = applied(tx, machine)[0]
    model = models.get(tx).name
    rows = tx.rows("profiles_of_units", machine=machine.id)
    missing = [
        row for row in rows if profile_name(model, row["application"], row["charm_url"]) not in present
    ]
    found = {row["application"]: charms.get(tx, row["charm_url"]).lxd_profile for row in missing}
    return frozenset(name for name, profile in found.items() if profile is not None and not profile.empty)
