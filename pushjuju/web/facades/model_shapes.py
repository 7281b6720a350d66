"""Models in the form of the wire, for the facades ModelManager and Controller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from pushjuju import JUJU_VERSION
from pushjuju.core.constraints import of_hardware
from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis.context import DEFAULT_USER, Context
from pushjuju.services.entities.cloud.clouds import parts_of
from pushjuju.services.entities.machine import machines
from pushjuju.services.entities.model import constraints, models
from pushjuju.services.requests.model import destroy_model
from pushjuju.services.views import documents
from pushjuju.store.rows.model import Model
from pushjuju.store.rows.records import Machine
from pushjuju.store.tx import ModelTx
from pushjuju.web import errors, tags, times
from pushjuju.web.call import is_superuser, reach
from pushjuju.web.shapes import models as shapes
from pushjuju.web.shapes.common import EntityStatus

_SLA: shapes.SLA = {"level": "unsupported", "owner": ""}
_NO_CREDENTIAL = "default"  # the provider of Terraform expects a credential, also of a cloud without any
_OLD = 9  # the version of ModelManager whose models have a series
_FEATURE: shapes.Feature = {
    "name": "juju", "description": "the version of Juju used by the model", "version": JUJU_VERSION,
}  # fmt: skip


def of_user(ctx: Context, user: str) -> list[shapes.UserModel]:
    """Return the models that a user has access to."""
    found: list[shapes.UserModel] = []
    with ctx.store.read() as tx:
        for model in models.listed(tx):
            if models.access_level(tx, user, model):
                owner = f"user-{model.owner}"
                about: shapes.Model = {
                    "name": model.name,
                    "uuid": model.uuid,
                    "type": "iaas",
                    "owner-tag": owner,
                }
                found.append({"model": about, "last-connection": None})
    return found


def summaries(ctx: Context, user: str, version: int, *, every: bool) -> list[shapes.ModelSummaryResult]:
    """Return the summaries of the models that a user has access to, or of all models."""
    counts, settings = documents.model_counts(ctx), ctx.controller.settings()
    found: list[shapes.ModelSummaryResult] = []
    with ctx.store.read() as tx:
        for model in models.listed(tx):
            access = models.access_level(tx, user, model)
            if access or every:
                entry = documents.model_entry(ctx, ctx.of(tx, model.uuid), model, settings)
                found.append(
                    {"result": _summary(entry, model, access, counts.get(model.uuid, (0, 0, 0)), version)}
                )
    return found


def _summary(
    entry: dict[str, Any], model: Model, access: str, counts: tuple[int, int, int], version: int
) -> shapes.ModelSummary:
    names = ("machines", "cores", "units")
    made: dict[str, object] = {
        **_basis(entry, model),
        "user-access": access,
        "last-connection": None,
        "counts": [
            {"entity": name, "count": count} for name, count in zip(names, counts, strict=True) if count
        ],
    }
    if version <= _OLD:
        made["default-series"] = ""
    return cast("shapes.ModelSummary", made)


def _basis(entry: dict[str, Any], model: Model) -> dict[str, object]:
    """Return the fields that the summary and the description of a model share."""
    found = {
        "name": model.name,
        "uuid": model.uuid,
        "type": "iaas",
        "controller-uuid": entry["controller-uuid"],
        "is-controller": entry["is-controller"],
        "provider-type": model.cloud_type,
        "cloud-tag": f"cloud-{model.cloud}",
        "owner-tag": f"user-{model.owner}",
        "life": model.life,
        "status": _status(entry["status"]),
        "sla": _SLA,
        "agent-version": JUJU_VERSION,
    }
    if model.region:
        found["cloud-region"] = model.region
    if model.credential:
        found["cloud-credential-tag"] = tags.of_credential(model.cloud, *parts_of(model.credential))
    return found


def _status(known: dict[str, Any]) -> EntityStatus:
    since = known.get("since")
    return {
        "status": known["current"],
        "info": str(known.get("message") or ""),
        "data": {},
        "since": times.text(since) if since else None,
    }


def info(ctx: Context, model: Model, version: int) -> shapes.ModelInfo:
    """Return the description of a model; only its administrators see the other users and the machines."""
    with ctx.read(model.uuid) as tx:
        found = models.get(tx)
        entry = documents.model_entry(ctx, tx, found)
        is_admin = models.may_access(tx, ctx.user, found, "admin")
        listed = _machines(tx) if is_admin else []
    made: dict[str, object] = {
        **_basis(entry, found),
        "users": _users(ctx, found, every=is_admin or is_superuser(ctx)),
        "machines": listed,
        "secret-backends": [],
        "supported-features": [_FEATURE],
    }
    made.setdefault("cloud-credential-tag", tags.of_credential(model.cloud, model.owner, _NO_CREDENTIAL))
    if "credential" in entry:
        made["cloud-credential-validity"] = entry["credential"]["validity-check"] == "valid"
    base = constraints.default_base(ctx, model.uuid)
    if version <= _OLD:
        made["default-series"] = base.series or ""
    else:
        made["default-base"] = f"{base.os}@{base.channel}"
    return cast("shapes.ModelInfo", made)


def users_of(ctx: Context, model: Model) -> list[shapes.ModelUser]:
    """Return the users of a model: all for administrators, else only the caller."""
    with ctx.store.read() as tx:
        every = models.may_access(tx, ctx.user, model, "admin")
    return _users(ctx, model, every=every)


def _users(ctx: Context, model: Model, *, every: bool) -> list[shapes.ModelUser]:
    known = documents.model_users(replace(ctx, user=DEFAULT_USER), model)
    return [
        {
            "model-tag": f"model-{model.uuid}",
            "user": name,
            "display-name": str(entry.get("display-name", "")),
            "access": entry["access"],
            "last-connection": None,
        }
        for name, entry in known.items()
        if every or name == ctx.user
    ]


def _machines(tx: ModelTx) -> list[shapes.ModelMachine]:
    return [_machine(item) for item in machines.list_machines(tx)]


def _machine(item: Machine) -> shapes.ModelMachine:
    found: shapes.ModelMachine = {
        "id": item.id,
        "status": "started" if item.instance_id else "pending",
        "hardware": of_hardware(item.hardware),
        "has-vote": False,
        "wants-vote": False,
    }
    if item.instance_id:
        found["instance-id"] = item.instance_id
    if item.display_name:
        found["display-name"] = item.display_name
    return found


def status_of(ctx: Context, tag: str) -> dict[str, object]:
    """Return the contents of a model that the caller administers; `not found` for a removed model."""
    try:
        uuid = tags.model_to_reach(tag)
        if is_superuser(ctx) and not models.exists(ctx, uuid):
            raise errors.ApiError("model not found", errors.NOT_FOUND)
        return status(ctx, reach(ctx, uuid, "admin"))
    except PushjujuError as error:
        return {"error": errors.told(error)}


def status(ctx: Context, model: Model) -> dict[str, object]:
    """Return the contents of a model, which clients show before they destroy the model."""
    found = destroy_model.contents(ctx, model.uuid)
    return {
        "model-tag": f"model-{model.uuid}",
        "life": model.life,
        "type": "iaas",
        "owner-tag": f"user-{model.owner}",
        "hosted-machine-count": len(found.machines),
        "application-count": len(found.applications),
        "unit-count": documents.model_counts(ctx).get(model.uuid, (0, 0, 0))[2],
        "applications": [{"name": name} for name in found.applications],
        "machines": [_machine(item) for item in found.machines],
    }
