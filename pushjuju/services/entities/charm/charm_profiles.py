"""LXD profiles of charms: those that a machine should have, and those that it has.

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
    """Return the name of a charm's profile in LXD: `juju-MODEL-APPLICATION-REVISION`."""
    return f"juju-{model}-{application}-{charm_url.rpartition('-')[2]}"


def wanted(tx: ModelTx, machine: str = "") -> dict[str, LXDProfile]:
    """Return name -> profile for the units on a machine, or for all units of the model."""
    name = models.get(tx).name
    rows = tx.rows("profiles_of_units", machine=machine)
    found = {}
    for row in rows:
        profile = charms.get(tx, row["charm_url"]).lxd_profile
        if profile is not None and not profile.empty:
            found[profile_name(name, row["application"], row["charm_url"])] = profile
    return found


def document(profile: LXDProfile) -> dict[str, Any]:
    """Return a profile as a document for the store and for users."""
    devices = {name: dict(device) for name, device in profile.devices.items()}
    return {"config": dict(profile.config), "description": profile.description, "devices": devices}


def as_plugin_sees(tx: ModelTx, machine: str) -> tuple[CharmProfile, ...]:
    """Return the profiles of the units on a machine, in the form for providers."""
    found = wanted(tx, machine)
    return tuple(CharmProfile(name=name, **document(profile)) for name, profile in found.items())


def applied(tx: ModelTx, machine: Machine) -> tuple[dict[str, object], str]:
    """Return name -> document of the profiles that a machine has, and the text of the last problem."""
    row = tx.row("profiles_get", machine=machine.id)
    return (json.loads(row["profiles"]), row["problem"]) if row is not None else ({}, "")


def note(tx: ModelTx, machine: Machine, profiles: Mapping[str, Any], problem: str = "") -> None:
    """Record the profiles that a machine has, and the problem of a change that failed."""
    tx.run("profiles_put", machine=machine.id, profiles=json.dumps(profiles, sort_keys=True), problem=problem)


def can_have(tx: ModelTx, machine: Machine) -> bool:
    """Return True when a machine can have profiles: such a machine has a row, even without profiles."""
    return tx.row("profiles_get", machine=machine.id) is not None


def ready(tx: ModelTx, machine: Machine, application: str, charm_url: str) -> bool:
    """Return True unless a machine that can have profiles still lacks the profile of a charm."""
    profile = charms.get(tx, charm_url).lxd_profile
    if profile is None or profile.empty or not can_have(tx, machine):
        return True
    name = profile_name(models.get(tx).name, application, charm_url)
    return name in applied(tx, machine)[0]


def take_as_applied(tx: ModelTx, machine: Machine) -> None:
    """Record that a machine has all profiles of its units, for a model that is only a simulation."""
    if can_have(tx, machine):
        found = wanted(tx, machine.id)
        note(tx, machine, {name: document(profile) for name, profile in found.items()})


def lacking(tx: ModelTx, machine: Machine) -> frozenset[str]:
    """Return the applications whose units must wait, because the machine still lacks their profile."""
    present = applied(tx, machine)[0]
    model = models.get(tx).name
    rows = tx.rows("profiles_of_units", machine=machine.id)
    missing = [
        row for row in rows if profile_name(model, row["application"], row["charm_url"]) not in present
    ]
    found = {row["application"]: charms.get(tx, row["charm_url"]).lxd_profile for row in missing}
    return frozenset(name for name, profile in found.items() if profile is not None and not profile.empty)
