"""The documents of the `show-` commands, `models` and `controllers`, as plain data.

Keys and order are those of Juju's JSON; times are aware datetimes, which the command formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pushjuju import JUJU_VERSION
from pushjuju.core.clouds import DEFAULT_REGION
from pushjuju.core.errors import PushjujuError
from pushjuju.core.status import MODEL_SUSPENDED, StatusInfo, StatusKind
from pushjuju.services.entities.basis import statuses, users
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.cloud import clouds
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import models, sessions
from pushjuju.services.entities.secret import secret_backends
from pushjuju.store.datadir import DataDir
from pushjuju.store.db import Store
from pushjuju.store.rows.records import Model
from pushjuju.store.rows.user_records import Person
from pushjuju.store.tx import ModelTx

ADMIN = "superuser"


# --- models -----------------------------------------------------------------------------------------------


def model_entry(
    ctx: Context, tx: ModelTx, model: Model, settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a model as an entry of `models`.

    Args:
        settings: The content of controller.toml, to read it once for many models; None to read it here.
    """
    settings = ctx.controller.settings() if settings is None else settings
    status = statuses.get_status(tx, StatusKind.MODEL, model.name)
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
    owner, name = clouds.parts_of(model.credential)
    return {
        "name": name, "owner": owner, "cloud": model.cloud, "validity-check": word,
    }  # fmt: skip


def _model_status(status: StatusInfo | None) -> dict[str, object]:
    if status is None:
        return {"current": "available", "since": None}
    words = {"message": status.message, "reason": str(status.data.get("reason") or "")}
    return {
        "current": status.status,
        **{key: value for key, value in words.items() if value},
        "since": status.since,
    }


def models_document(ctx: Context, *, user: str = "", every: bool = False) -> dict[str, object]:
    """Return the document of `models`.

    Args:
        user: The user whose models to list, or empty for the current user.
        every: True to list all models, also those that the user has no access to.
    """
    chosen, settings = users.canonical(user or ctx.user), ctx.controller.settings()
    with ctx.store.read() as tx:
        users.require_or_external(tx, chosen)
        shared = users.targets_of(tx, chosen, users.Kind.MODEL)
        entries = [
            _seen_by(model_entry(ctx, ctx.of(tx, model.uuid), model, settings), chosen, ctx, shared)
            for model in tx.list(Model, "model_list")
            if every or model.owner == chosen or model.uuid in shared
        ]
    found: dict[str, object] = {"models": entries}
    current = settings.get("current-model")
    if current:
        owner, _, name = str(current).rpartition("/")
        found["current-model"] = name if owner == ctx.user else current
    return found


def _seen_by(entry: dict[str, Any], user: str, ctx: Context, shared: dict[str, str]) -> dict[str, object]:
    """Return an entry of `models` as one user sees it, with the user's access."""
    if user != ctx.user:
        access = "admin" if entry["owner"] == user else shared.get(entry["model-uuid"], "")
        entry.update({"access": access, "last-connection": None})
    return entry


def model_users(ctx: Context, model: Model) -> dict[str, dict[str, Any]]:
    """Return user -> {display-name?, access, last-connection}, for all users of a model."""
    with ctx.store.read() as tx:
        shared = users.access_to(tx, users.Kind.MODEL, model.uuid)
        named = {person.name: person.display_name for person in tx.list(Person, "person_list")}
    levels = {ctx.user: "admin", **shared, model.owner: "admin"}
    found: dict[str, dict[str, object]] = {}
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
    """Return UUID of a model -> (machines, cores, units)."""
    found = {}
    with ctx.store.read() as tx:
        for model in tx.list(Model, "model_list"):
            counts = tx.row("model_counts", model=model.uuid)
            every = machines.list_machines(ctx.of(tx, model.uuid))
            cores = sum(int(machine.hardware.get("cores") or 0) for machine in every)
            found[model.uuid] = (counts["machines"], cores, counts["units"]) if counts else (0, 0, 0)
    return found


# --- controllers ------------------------------------------------------------------------------------------


def controllers_document(
    datadir: DataDir, user: str, problem: Callable[[str, PushjujuError], None]
) -> dict[str, object]:
    """Return the document of `controllers`.

    Args:
        problem: Called with the name of a controller that cannot be read, and the error; others are listed.
    """
    found = {name: _controller(datadir, name, user, problem) for name in datadir.controllers()}
    found.update({name: _remote(datadir.remote(name)) for name in datadir.remotes()})
    return {"controllers": found, "current-controller": datadir.current_controller() or ""}


def _remote(known: Mapping[str, Any]) -> dict[str, object]:
    """Return what is known of a controller on another computer."""
    return {
        "current-model": known.get("current-model", ""),
        "user": known.get("user", ""),
        "access": known.get("access", ""),
        "recent-server": next(iter(known.get("addresses", ())), ""),
        "controller-uuid": known.get("uuid", ""),
        "api-endpoints": list(known.get("addresses", ())),
        "ca-cert": known.get("ca", ""),
        "cloud": "",
        "region": "",
        "agent-version": known.get("version", ""),
    }


def _controller(
    datadir: DataDir, name: str, user: str, problem: Callable[[str, PushjujuError], None]
) -> dict[str, object]:
    settings: Mapping[str, Any] = {}
    counts: dict[str, int] = {}
    try:
        controller = datadir.controller(name)
        settings = controller.settings()
        counts = _sizes(controller.store_place)
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


def _sizes(place: Path | str) -> dict[str, int]:
    with closing(Store.open(place)) as store, store.read() as tx:
        every = tx.list(Model, "model_list")
        count = sum(len(tx.rows("machine_list", model=model.uuid)) for model in every)
        return {"model-count": len(every), "machine-count": count}


def show_model(ctx: Context, model: Model) -> dict[str, object]:
    """Return the document of `show-model`: short name -> model."""
    with ctx.read(model.uuid) as tx:
        entry = model_entry(ctx, tx, models.get(tx))
        every = machines.list_machines(tx)
        used = secret_backends.used_by(tx)
    shown = {key: value for key, value in entry.items() if key not in ("access", "last-connection")}
    shown["users"] = model_users(ctx, model)
    shown["machines"] = {item.id: {"cores": int(item.hardware.get("cores") or 0)} for item in every}
    shown["secret-backends"] = used
    shown["sla"] = "unsupported"
    shown["agent-version"] = shown.pop("agent-version")
    if "credential" in shown:
        shown["credential"] = shown.pop("credential")  # Juju has this key after the others
    shown["supported-features"] = [
        {"name": "juju", "description": "the version of Juju used by the model", "version": JUJU_VERSION}
    ]
    return {model.name: shown}


def show_controller(ctx: Context) -> dict[str, object]:
    """Return the document of `show-controller` for one controller."""
    settings = ctx.controller.settings()
    version = settings.get("agent-version", JUJU_VERSION)
    return {
        "details": {
            "controller-uuid": settings.get("uuid", ""),
            "api-endpoints": ["local"],
            "cloud": settings.get("cloud", ""),
            "region": settings.get("region", DEFAULT_REGION),
            "agent-version": version,
            "controller-model-version": version,
            "ca-cert": "",
        },
        "models": {model.qualified: _model(ctx, model.uuid) for model in models.list_models(ctx)},
        **({"current-model": sessions.current_model(ctx)} if sessions.current_model(ctx) else {}),
        "account": {"user": DEFAULT_USER, "access": "superuser"},
    }


def _model(ctx: Context, uuid: str) -> dict[str, object]:
    with ctx.read(uuid) as tx:
        listed = machines.list_machines(tx)
        count = sum(len(machines.units_on(tx, machine.id)) for machine in listed)
    cores = sum(int(machine.hardware.get("cores") or 0) for machine in listed)
    found = {"machine-count": len(listed), "core-count": cores, "unit-count": count}
    return {"model-uuid": uuid, **{key: value for key, value in found.items() if value}}
