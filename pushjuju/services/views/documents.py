"""The documents of the `show-` commands, `models` and `controllers`, as plain data.

Keys and order are those of Juju's JSON; times are aware datetimes, for the command line to render.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pushjuju import JUJU_VERSION
from pushjuju.charms.format.url import name_in
from pushjuju.core.base import Base
from pushjuju.core.errors import PushjujuError
from pushjuju.core.status import MODEL_SUSPENDED, StatusInfo, StatusKind
from pushjuju.portable.natural import natural_key
from pushjuju.services.entities.basis import leadership, network, statuses, users
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Application, Bag, ExposedEndpoint, Model, Port, RelationScope, Unit
from pushjuju.store.rows.user_records import Person
from pushjuju.store.tx import Tx

ADMIN = "superuser"


# --- applications -----------------------------------------------------------------------------------------


def show_applications(ctx: Context, model: str, names: list[str]) -> dict[str, Any]:
    """Return the document of `show-application`: name -> application.

    Raises:
        NotFound: An application does not exist.
    """
    from pushjuju.services.entities.application import applications

    with ctx.store.read() as tx:
        return {name: _application(tx, applications.get(tx, model, name)) for name in names}


def _application(tx: Tx, application: Application) -> dict[str, Any]:
    from pushjuju.services.entities.application import bindings
    from pushjuju.services.supply import origins

    found: dict[str, Any] = {
        "charm": name_in(application.charm_url),
        "base": Base.parse(application.base).display,
    }
    if origin := origins.find(tx, application.model, application.name):
        found["channel"] = origin.channel
    if constraints := {key: value for key, value in application.constraints.items() if value is not None}:
        found["constraints"] = constraints
    found.update(principal=not application.subordinate, exposed=bool(application.exposed))
    if exposed := _exposures(tx, application):
        found["exposed-endpoints"] = exposed
    found.update(remote=False, life=application.life)
    found["endpoint-bindings"] = bindings.document(tx, application)
    return found


def _exposures(tx: Tx, application: Application) -> dict[str, dict[str, list[str]]]:
    """Return endpoint -> who may reach its ports; the empty one stands for the others."""
    rows = tx.list(ExposedEndpoint, "exposure_list", model=application.model, application=application.name)
    found = {}
    for row in rows:
        parts = {"expose-to-spaces": row.spaces, "expose-to-cidrs": row.cidrs}
        found[row.endpoint] = {key: value for key, value in parts.items() if value}
    return found


# --- models -----------------------------------------------------------------------------------------------


def model_entry(
    ctx: Context, tx: Tx, model: Model, settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return one entry of `models`.

    Args:
        settings: Of the controller, where they were read already: a hundred models read them once.
    """
    settings = ctx.controller.settings() if settings is None else settings
    status = statuses.get_status(tx, model.uuid, StatusKind.MODEL, model.name)
    return {
        "name": model.qualified,
        "short-name": model.name,
        "model-uuid": model.uuid,
        "model-type": "iaas",
        "controller-uuid": settings.get("uuid", ""),
        "controller-name": ctx.controller.name,
        "is-controller": models.is_controller(model),
        "owner": model.owner,
        "cloud": model.cloud,
        "region": model.region,
        **({"credential": _credential(model, status)} if model.credential else {}),
        "type": model.cloud_type,
        "life": model.life,
        "status": _model_status(status),
        "access": "admin",
        "last-connection": ctx.clock.now(),
        "agent-version": JUJU_VERSION,
    }


def _credential(model: Model, status: StatusInfo | None) -> dict[str, str]:
    word = "invalid" if status and status.status == MODEL_SUSPENDED else "valid"
    return {
        "name": model.credential, "owner": model.owner, "cloud": model.cloud, "validity-check": word,
    }  # fmt: skip


def _model_status(status: StatusInfo | None) -> dict[str, Any]:
    if status is None:
        return {"current": "available", "since": None}
    words = {"message": status.message, "reason": str(status.data.get("reason") or "")}
    return {
        "current": status.status,
        **{key: value for key, value in words.items() if value},
        "since": status.since,
    }


def models_document(ctx: Context, *, user: str = "", every: bool = False) -> dict[str, Any]:
    """Return the document of `models`.

    Args:
        user: The user whose models to list, or empty for the current user.
        every: True to list all models, also those that the user has no access to.

    Raises:
        NotFound: There is no such user.
    """
    chosen, settings = users.canonical(user or ctx.user), ctx.controller.settings()
    with ctx.store.read() as tx:
        users.require_or_external(tx, chosen)
        shared = users.targets_of(tx, chosen, users.Kind.MODEL)
        entries = [
            _seen_by(model_entry(ctx, tx, model, settings), chosen, ctx, shared)
            for model in tx.list(Model, "model_list")
            if every or model.owner == chosen or model.uuid in shared
        ]
    found: dict[str, Any] = {"models": entries}
    current = settings.get("current-model")
    if current:
        owner, _, name = str(current).rpartition("/")
        found["current-model"] = name if owner == ctx.user else current
    return found


def _seen_by(entry: dict[str, Any], user: str, ctx: Context, shared: dict[str, str]) -> dict[str, Any]:
    """Return the entry of `models` as one user sees it; admin may do everything."""
    if user != ctx.user:
        access = "admin" if entry["owner"] == user else shared.get(entry["model-uuid"], "")
        entry.update({"access": access, "last-connection": None})
    return entry


def model_users(ctx: Context, model: Model) -> dict[str, dict[str, Any]]:
    """Return the users of a model: user -> display-name, access, last-connection (None before the first)."""
    with ctx.store.read() as tx:
        shared = users.access_to(tx, users.Kind.MODEL, model.uuid)
        named = {person.name: person.display_name for person in tx.list(Person, "person_list")}
    levels = {ctx.user: "admin", **shared, model.owner: "admin"}
    found: dict[str, dict[str, Any]] = {}
    for user, level in sorted(levels.items()):
        here = user == ctx.user
        display = user if here else named.get(user, "")
        found[user] = {
            **({"display-name": display} if display else {}),
            "access": level,
            "last-connection": ctx.clock.now() if here else None,
        }
    return found


def model_counts(ctx: Context) -> dict[str, tuple[int, int, int]]:
    """Return model UUID -> (machines, cores, units)."""
    found = {}
    with ctx.store.read() as tx:
        for model in tx.list(Model, "model_list"):
            counts = tx.row("model_counts", model=model.uuid)
            every = machines.list_machines(tx, model.uuid)
            cores = sum(int(machine.hardware.get("cores") or 0) for machine in every)
            found[model.uuid] = (counts["machines"], cores, counts["units"]) if counts else (0, 0, 0)
    return found


def show_model(ctx: Context, model: Model) -> dict[str, Any]:
    """Return the document of `show-model`: short name -> description."""
    from pushjuju.services.entities.secret import secret_backends

    with ctx.store.read() as tx:
        entry = model_entry(ctx, tx, models.get(tx, model.uuid))
        every = machines.list_machines(tx, model.uuid)
        used = secret_backends.used_by(tx, model.uuid)
    shown = {key: value for key, value in entry.items() if key not in ("access", "last-connection")}
    shown["users"] = model_users(ctx, model)
    shown["machines"] = {item.id: {"cores": int(item.hardware.get("cores") or 0)} for item in every}
    shown["secret-backends"] = used
    shown["sla"] = "unsupported"
    shown["agent-version"] = shown.pop("agent-version")
    if "credential" in shown:
        shown["credential"] = shown.pop("credential")  # Juju prints it last
    shown["supported-features"] = [
        {"name": "juju", "description": "the version of Juju used by the model", "version": JUJU_VERSION}
    ]
    return {model.name: shown}


# --- controllers ------------------------------------------------------------------------------------------


def controllers_document(
    datadir: DataDir, user: str, problem: Callable[[str, PushjujuError], None]
) -> dict[str, Any]:
    """Return the document of `controllers`.

    Args:
        problem: Called with the name of a controller that cannot be read, and why; the rest is listed.
    """
    found = {name: _controller(datadir, name, user, problem) for name in datadir.controllers()}
    return {"controllers": found, "current-controller": datadir.current_controller() or ""}


def _controller(
    datadir: DataDir, name: str, user: str, problem: Callable[[str, PushjujuError], None]
) -> dict[str, Any]:
    settings: Mapping[str, Any] = {}
    counts: dict[str, int] = {}
    try:
        controller = datadir.controller(name)
        settings = controller.settings()
        counts = _sizes(controller.store_path)
    except PushjujuError as error:
        problem(name, error)
    return {
        "current-model": settings.get("current-model", ""),
        "user": user,
        "access": ADMIN,
        "recent-server": "local",
        "controller-uuid": settings.get("uuid", ""),
        "api-endpoints": ["local"],
        "ca-cert": "",
        "cloud": settings.get("cloud", ""),
        "region": settings.get("region", ""),
        "agent-version": JUJU_VERSION,
        **counts,
        "controller-machines": {"active": 1, "total": 1},
    }


def _sizes(path: Path) -> dict[str, int]:
    store = Store.open(path)
    try:
        with store.read() as tx:
            every = tx.list(Model, "model_list")
            count = sum(len(machines.list_machines(tx, model.uuid)) for model in every)
            return {"model-count": len(every), "machine-count": count}
    finally:
        store.close()


# --- units ------------------------------------------------------------------------------------------------


def show_units(ctx: Context, model: str, names: list[str]) -> dict[str, Any]:
    """Return the document of `show-unit`: unit -> description.

    Raises:
        NotFound: No such unit.
    """
    from pushjuju.services.entities.application import units

    with ctx.store.read() as tx:
        return {name: _show_unit(tx, units.get(tx, model, name)) for name in names}


def _show_unit(tx: Tx, unit: Unit) -> dict[str, Any]:
    from pushjuju.services.entities.relation import relations
    from pushjuju.services.views.status.document import open_ports

    application = tx.get(Application, "application_get", "", model=unit.model, name=unit.application)
    found: dict[str, Any] = {}
    if application.workload_version:
        found["workload-version"] = application.workload_version
    if unit.machine is not None:
        found["machine"] = unit.machine
    found["opened-ports"] = open_ports(tx.list(Port, "port_of_unit", model=unit.model, unit=unit.name))
    if unit.machine is not None:
        machine = machines.get(tx, unit.model, unit.machine)
        if machine.instance_id:
            found["public-address"] = network.public_address(machine)
    found["charm"] = unit.charm_url or application.charm_url
    found["leader"] = leadership.holder(tx, unit.model, unit.application) == unit.name
    found["life"] = unit.life
    entries = [
        _relation_info(tx, unit, relation.id)
        for relation in relations.of_application(tx, unit.model, unit.application)
    ]
    if entries:
        found["relation-info"] = entries
    return found


def _relation_info(tx: Tx, unit: Unit, relation_id: int) -> dict[str, Any]:
    from pushjuju.services.entities.relation import relations

    sides = relations.endpoints(tx, unit.model, relation_id)
    own, other = (
        relations.own_endpoint(sides, unit.application),
        relations.remote_endpoint(sides, unit.application),
    )
    far = {"cross-model": True} if relations.remote(tx, unit.model, other.application) else {}
    bags = relations.bags(tx, unit.model, relation_id)
    scopes = {
        scope.unit for scope in tx.list(RelationScope, "scope_list", model=unit.model, relation=relation_id)
    }
    found: dict[str, Any] = {
        "relation-id": relation_id,
        "endpoint": own.endpoint,
        **far,
        "related-endpoint": other.endpoint,
        "application-data": _data(bags, other.application),
    }
    if relations.is_peer(sides):
        found["local-unit"] = {"in-scope": unit.name in scopes, "data": _data(bags, unit.name)}
    related = sorted(
        (name for name in bags if name.startswith(f"{other.application}/") and name != unit.name),
        key=natural_key,
    )
    if related:
        found["related-units"] = {
            name: {"in-scope": name in scopes, "data": _data(bags, name)} for name in related
        }
    return found


def _data(bags: dict[str, Bag], entity: str) -> dict[str, str]:
    return dict(bags[entity].data) if entity in bags else {}
