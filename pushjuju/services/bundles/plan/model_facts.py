"""Reads a model from the store as the values that bundles are compared with.

Mirrors: juju cmd/juju/application/deployer buildModelRepresentation, apiserver bundle facade (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.charms.format.config import merge_settings
from pushjuju.charms.values.model import Role
from pushjuju.core.base import Base
from pushjuju.core.names import parent_machine
from pushjuju.core.status import Life
from pushjuju.portable.natural import natural_key
from pushjuju.services.bundles.plan import facts
from pushjuju.services.bundles.read.values import ALL, EVERYWHERE, Exposed
from pushjuju.services.entities.application import bindings, resources
from pushjuju.services.entities.basis import annotations as notes
from pushjuju.services.entities.charm import charms
from pushjuju.services.entities.machine import machines as machine_rows
from pushjuju.services.entities.model import constraints, model_config
from pushjuju.services.entities.relation import offers, remote_applications
from pushjuju.services.entities.storage import storage_instances
from pushjuju.services.supply import origins
from pushjuju.store.rows.records import (
    Application,
    ExposedEndpoint,
    Machine,
    RelationEndpoint,
    Resource,
    Unit,
)
from pushjuju.store.tx import ModelTx


def read(tx: ModelTx) -> facts.ModelFacts:
    """Return the facts of a model; applications and units that are being removed are left out."""
    units: dict[str, list[Unit]] = {}
    for unit in tx.list(Unit, "unit_list"):
        if unit.life == Life.ALIVE:
            units.setdefault(unit.application, []).append(unit)
    applications = [app for app in tx.list(Application, "application_list") if app.life == Life.ALIVE]
    noted = notes.of_model(tx, notes.Kind.APPLICATION)
    found = {
        app.name: _application(tx, app, units.get(app.name, []), noted.get(app.name, {}))
        for app in applications
    }
    return facts.ModelFacts(
        applications=found,
        machines=_machines(tx),
        relations=_relations(tx),
        sequences=machine_rows.sequences(tx),
        saas={item.name: item.url for item in remote_applications.consumed(tx)},
        default_base=_default_base(tx),
        daily_images=model_config.stored(tx).get("image-stream") == "daily",
        constraints=constraints.of_model(tx),
    )


def _default_base(tx: ModelTx) -> str:
    stored = model_config.stored(tx).get("default-base")
    return str(Base.parse(str(stored))) if stored else ""


def _application(
    tx: ModelTx, app: Application, units: list[Unit], noted: Mapping[str, str]
) -> facts.ApplicationFacts:
    name = app.name
    charm, record = charms.get(tx, app.charm_url), charms.record(tx, app.charm_url)
    settings = charms.stored_settings(tx, name, app.charm_url)
    principals = {str(unit.principal).partition("/")[0] for unit in units if unit.principal}
    files = tx.list(Resource, "resource_of_application", application=name)
    exposed = tx.list(ExposedEndpoint, "exposure_list", application=name)
    exposures = {row.endpoint: Exposed(spaces=tuple(row.spaces), cidrs=tuple(row.cidrs)) for row in exposed}
    if app.exposed and not exposures:
        exposures = {ALL: Exposed(cidrs=EVERYWHERE)}
    local = record.origin == "local"
    origin = None if local else origins.find(tx, name)
    return facts.ApplicationFacts(
        name=name,
        charm=app.charm_url if local else record.name,
        charm_name=record.name,
        origin=record.origin,
        channel=origin.channel if origin else record.channel,
        revision=-1 if local else record.revision,
        base=str(Base.parse(app.base)),
        settings=settings,
        effective=merge_settings(charm.config, settings),
        annotations=noted,
        constraints=app.constraints,
        exposed=app.exposed,
        exposures=exposures,
        subordinate=app.subordinate,
        subordinate_to=tuple(sorted(principals)),
        units=[] if app.subordinate else _units(units),
        endpoints_bound=_bindings(tx, app),
        storage={row.name: (row.pool, row.size, row.count) for row in storage_instances.directives(tx, name)},
        resources={row.name: row.revision if row.origin == resources.STORE else -1 for row in files},
        uploads={row.name: row.fingerprint for row in files if row.origin == resources.UPLOAD},
        arch=origin.arch if origin else "",
        trust=app.trust,
        offers=_offers(tx, app),
        declared=tuple(sorted(charm.config)),
    )


def _offers(tx: ModelTx, app: Application) -> dict[str, facts.OfferFacts]:
    if not app.offered:
        return {}
    found = {}
    for item in offers.of_application(tx, app.name):
        acl = {user: level for user, level in offers.users(tx, item).items() if user != offers.EVERYONE}
        found[item.name] = facts.OfferFacts(endpoints=tuple(sorted(item.endpoints)), acl=acl)
    return found


def _units(units: list[Unit]) -> list[facts.UnitFacts]:
    ordered = sorted(units, key=lambda unit: natural_key(unit.name))
    return [facts.UnitFacts(name=unit.name, machine=unit.machine or "") for unit in ordered]


def _bindings(tx: ModelTx, app: Application) -> dict[str, str]:
    if not bindings.stored(tx, app.name):
        return {}
    return bindings.document(tx, app)


def _machines(tx: ModelTx) -> dict[str, facts.MachineFacts]:
    noted = notes.of_model(tx, notes.Kind.MACHINE)
    alive = [row for row in tx.list(Machine, "machine_list") if row.life == Life.ALIVE]
    inside: dict[str, list[str]] = {}
    for row in sorted(alive, key=lambda row: natural_key(row.id)):
        if parent := parent_machine(row.id):
            inside.setdefault(parent, []).append(row.id)
    return {
        row.id: facts.MachineFacts(
            id=row.id,
            base=str(Base.parse(row.base)),
            constraints=row.constraints,
            annotations=noted.get(row.id, {}),
            containers=tuple(inside.get(row.id, ())),
            storage=tuple(storage_instances.kept_on(tx, row.id)) if row.storage else (),
        )
        for row in sorted(alive, key=lambda row: natural_key(row.id))
        if parent_machine(row.id) is None
    }


def _relations(tx: ModelTx) -> list[tuple[str, str]]:
    sides: dict[int, list[RelationEndpoint]] = {}
    for row in tx.list(RelationEndpoint, "relation_endpoint_list"):
        sides.setdefault(row.relation, []).append(row)
    found = []
    proxies = {item.name for item in remote_applications.every(tx) if not item.url}
    for _, pair in sorted(sides.items()):
        if proxies & {side.application for side in pair}:
            continue  # a relation to an offer of this model; the consuming model's bundle has the relation
        if len(pair) == 2 and all(side.role != Role.PEER for side in pair):
            ordered = sorted(pair, key=lambda side: (side.role != Role.REQUIRER, side.application))
            first, second = (f"{side.application}:{side.endpoint}" for side in ordered)
            found.append((first, second))
    return found
