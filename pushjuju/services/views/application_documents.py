"""The document of `show-application`, and facts of applications for the API."""

from __future__ import annotations

from typing import Any, NamedTuple

from pushjuju.charms.format.url import name_in
from pushjuju.charms.values.model import JUJU_INFO
from pushjuju.core.base import Base, Channel
from pushjuju.services.entities.application import applications, bindings
from pushjuju.services.entities.application import units as of_units
from pushjuju.services.entities.basis import leadership
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.charm import charms
from pushjuju.services.supply import origins
from pushjuju.store.rows.records import Application, ExposedEndpoint
from pushjuju.store.tx import ModelTx


def show_applications(ctx: Context, model: str, names: list[str]) -> dict[str, Any]:
    """Return the document of `show-application`: name -> application."""
    with ctx.read(model) as tx:
        return {name: _application(tx, applications.get(tx, name)) for name in names}


class About(NamedTuple):
    """The facts of an application that several calls of the API return; `bindings` has all endpoints."""

    charm: str
    base: str
    channel: str
    trusted: bool
    bindings: dict[str, str]


def about(ctx: Context, model: str, name: str) -> About:
    """Return the facts of an application."""
    with ctx.read(model) as tx:
        found = applications.get(tx, name)
        origin = origins.find(tx, name)
        bound = bindings.document(tx, found)
    channel = origin.channel if origin else ""
    return About(name_in(found.charm_url), found.base, channel, found.trust, bound)


def charm_origin(ctx: Context, model: str, name: str) -> dict[str, Any]:
    """Return the URL of an application's charm, and its origin with the keys of Juju's CharmOrigin."""
    with ctx.read(model) as tx:
        found = applications.get(tx, name)
        origin = origins.find(tx, name)
        record = charms.record(tx, found.charm_url)
    base = Base.parse(found.base)
    about: dict[str, Any] = {
        "source": "charm-hub" if origin else "local",
        "type": "charm",
        "id": origin.id if origin else "",
        "hash": record.sha256,
        "revision": record.revision,
        "architecture": origin.arch if origin else "",
        "base": {"name": base.os, "channel": base.channel},
    }
    if origin and origin.channel:
        channel = Channel.parse(origin.channel)
        about.update(track=channel.track or None, risk=str(channel.risk), branch=channel.branch or None)
    return {"url": found.charm_url, "charm-origin": about}


def units(ctx: Context, model: str, name: str) -> list[str]:
    """Return the names of the units of an application."""
    with ctx.read(model) as tx:
        applications.get(tx, name)
        return [unit.name for unit in of_units.of_application(tx, name)]


def endpoint_names(ctx: Context, model: str, name: str) -> list[str]:
    """Return the names of an application's endpoints, including `juju-info`, which every charm has."""
    with ctx.read(model) as tx:
        charm = applications.current_charm(tx, applications.get(tx, name))
        return sorted({end.name for end in charm.meta.endpoints()} | {JUJU_INFO})


def leader(ctx: Context, model: str, name: str) -> str | None:
    """Return the unit that leads an application, or None."""
    with ctx.read(model) as tx:
        applications.get(tx, name)
        return leadership.holder(tx, name)


def _application(tx: ModelTx, application: Application) -> dict[str, object]:
    found: dict[str, object] = {
        "charm": name_in(application.charm_url),
        "base": Base.parse(application.base).display,
    }
    if origin := origins.find(tx, application.name):
        found["channel"] = origin.channel
    if constraints := {key: value for key, value in application.constraints.items() if value is not None}:
        found["constraints"] = constraints
    found.update(principal=not application.subordinate, exposed=application.exposed)
    if exposed := _exposures(tx, application):
        found["exposed-endpoints"] = exposed
    found.update(remote=False, life=application.life)
    found["endpoint-bindings"] = bindings.document(tx, application)
    return found


def _exposures(tx: ModelTx, application: Application) -> dict[str, dict[str, list[str]]]:
    """Return endpoint -> {expose-to-spaces?, expose-to-cidrs?}; "" stands for all other endpoints."""
    rows = tx.list(ExposedEndpoint, "exposure_list", application=application.name)
    return {row.endpoint: _exposure(row) for row in rows}


def _exposure(row: ExposedEndpoint) -> dict[str, list[str]]:
    parts = {"expose-to-spaces": row.spaces, "expose-to-cidrs": row.cidrs}
    return {key: value for key, value in parts.items() if value}


def exposures(tx: ModelTx) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Return application -> endpoint -> {expose-to-spaces?, expose-to-cidrs?} for a whole model."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for row in tx.list(ExposedEndpoint, "exposure_of_model"):
        found.setdefault(row.application, {})[row.endpoint] = _exposure(row)
    return found
