"""ModelManager: the models of a controller. Mirrors: juju apiserver/facades/client/modelmanager (3.6)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.services.entities.basis import blocks
from pushjuju.services.entities.basis.users import LEVELS, Kind, NoAccess
from pushjuju.services.entities.model import model_defaults as entity
from pushjuju.services.entities.model import sessions
from pushjuju.services.entities.model.ssh_keys import KEY as KEYS
from pushjuju.services.requests.cloud import credentials
from pushjuju.services.requests.model import destroy_model, model_defaults, ssh_keys
from pushjuju.services.requests.model.add_model import AddModelOptions, add_model
from pushjuju.services.requests.model.model_defaults import ModelDefaultsOptions
from pushjuju.services.requests.user import users
from pushjuju.services.requests.user.users import AccessOptions
from pushjuju.web import call, errors, tags
from pushjuju.web.facades import model_shapes
from pushjuju.web.facades.cloud_sides import credential_key, trial_of
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes import models as shapes
from pushjuju.web.shapes.common import Entities, Entity, checked_settings, force_of

_ACTS = {"grant": users.grant, "revoke": users.revoke}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCredential:
    model_tag: str = ""
    credential_tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultValues:
    """New defaults of a cloud, or of one of its regions; without a cloud, defaults of the controller."""

    cloud_tag: str = ""
    cloud_region: str = ""
    config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetKeys:
    """Defaults to remove."""

    cloud_tag: str = ""
    cloud_region: str = ""
    keys: list[str] = field(default_factory=list)


class Defaults(Facade):
    """Changes credentials and defaults of models."""

    @bulk("model_credentials", Needs.LOGIN, changes=True)
    def change_model_credential(self, item: ModelCredential) -> None:
        """Change the credentials of models that the caller administers, to credentials of the caller.

        Superusers may name credentials of all users.
        """
        found = call.reach(self.ctx, tags.model_to_reach(item.model_tag), "admin")
        cloud, key = credential_key(self.ctx, item.credential_tag)
        credentials.set_credential(self.ctx, found, cloud, key, trial_of(self.ctx))

    @bulk("entities", Needs.LOGIN, empty={"config": {}})
    def model_defaults_for_clouds(self, tag: str) -> dict[str, object]:
        cloud, _ = model_defaults.place(self.ctx, tags.cloud(tag), "")
        found = entity.document(self.ctx.controller.settings(), cloud)
        return {"config": {key: _default(known) for key, known in found.items()}}

    @bulk("config", Needs.SUPERUSER, changes=True)
    def set_model_defaults(self, item: DefaultValues) -> None:
        self._change_defaults(item.cloud_tag, item.cloud_region, values=checked_settings(item.config))

    @bulk("keys", Needs.SUPERUSER, changes=True)
    def unset_model_defaults(self, item: UnsetKeys) -> None:
        """Remove defaults for new models."""
        self._change_defaults(item.cloud_tag, item.cloud_region, reset=item.keys)

    def _change_defaults(
        self, tag: str, region: str, *, values: Mapping[str, Any] | None = None, reset: Sequence[str] = ()
    ) -> None:
        cloud, region = model_defaults.place(self.ctx, tags.cloud(tag) if tag else "", region)
        options = ModelDefaultsOptions(cloud=cloud, region=region, values=values or {}, reset=reset)
        model_defaults.change(self.ctx, options)


def _default(known: Mapping[str, Any]) -> dict[str, object]:
    found = {key: known[key] for key in ("default", "controller") if key in known}
    listed: Iterable[Mapping[str, Any]] = known.get("regions", ())
    regions = [{"region-name": item["name"], "value": item["value"]} for item in listed]
    return {**found, "regions": regions} if regions else found


@facade("ModelManager")
class ModelManager(Defaults):
    """The models of the controller."""

    @method(Needs.LOGIN, changes=True)
    def create_model(self, params: shapes.ModelCreateArgs) -> shapes.ModelInfo:
        """Make a model; the caller is the owner, unless a superuser names another user.

        A credential in the params is the caller's own, unless the caller is a superuser.
        """
        owner = tags.user(params.owner_tag) if params.owner_tag else self.user
        call.require_self(self.ctx, owner)
        cloud = tags.cloud(params.cloud_tag) if params.cloud_tag else ""
        call.require_add_model(self.ctx, cloud)
        call.require_way(self.ctx, params.config)
        credential = credential_key(self.ctx, params.credential)[1] if params.credential else ""
        options = AddModelOptions(
            name=params.name,
            cloud=f"{cloud}/{params.region}" if cloud else "",
            credential=credential,
            config={
                key: value for key, value in checked_settings(params.config).items() if key not in _NOT_OURS
            },
            owner=owner,
        )
        made = add_model(self.ctx, options)
        ssh_keys.put_first(self.ctx, made.uuid, str(params.config.get(KEYS) or ""))
        return model_shapes.info(self.ctx, made, self.call.version)

    @bulk("models", Needs.LOGIN, changes=True)
    def destroy_models(self, item: shapes.DestroyModel) -> None:
        """Destroy models that the caller administers."""
        found = call.reach(self.ctx, tags.model_to_reach(item.model_tag), "admin")
        sessions.require(self.ctx, found.uuid, blocks.DESTROY)
        force = force_of(item.max_wait, force=item.force)
        destroy_model.destroy_models(self.ctx, [found], force, destroy_storage=item.destroy_storage)

    @method(Needs.LOGIN)
    def list_models(self, params: Entity) -> shapes.UserModelList:
        user = tags.user(params.tag)
        call.require_self(self.ctx, user)
        return {"user-models": model_shapes.of_user(self.ctx, user)}

    @method(Needs.LOGIN)
    def list_model_summaries(
        self,
        user_tag: str,
        *,
        all: bool,  # noqa: A002 - its name on the wire
    ) -> shapes.ModelSummaryResults:
        """Return the models that a user has access to, or all of them for a superuser."""
        user = tags.user(user_tag)
        call.require_self(self.ctx, user)
        if all:
            call.require_superuser(self.ctx)
        every = all or (user == self.user and call.is_superuser(self.ctx))
        return {"results": model_shapes.summaries(self.ctx, user, self.call.version, every=every)}

    @bulk("entities", Needs.LOGIN)
    def model_info(self, tag: str) -> shapes.ModelInfoResult:
        found = call.reach(self.ctx, tags.model_to_reach(tag))
        return {"result": model_shapes.info(self.ctx, found, self.call.version)}

    @method(Needs.LOGIN)
    def model_status(self, params: Entities) -> dict[str, object]:
        """Return the contents of models that the caller administers; `not found` for a removed model."""
        return {"models": [model_shapes.status_of(self.ctx, item.tag) for item in params.entities]}

    @bulk("changes", Needs.LOGIN, changes=True)
    def modify_model_access(self, item: shapes.ModifyModelAccess) -> None:
        """Grant or revoke access to models that the caller administers."""
        found = call.reach(self.ctx, tags.model_to_reach(item.model_tag), "admin")
        change(self, Kind.MODEL, item.action, item.access, item.user_tag, (found.uuid,))

    @method(Needs.SUPERUSER)
    def dump_models(self) -> None:
        """Refuse: a backup copies all models of a controller together."""
        raise errors.not_supported("models are not dumped: pushjuju create-backup copies the controller")

    @method(Needs.SUPERUSER, name="DumpModelsDB")
    def dump_models_db(self) -> None:
        """Refuse: there is no MongoDB."""
        raise errors.not_supported("models are not dumped: there is no MongoDB")


_NOT_OURS = ("type", "uuid", "name", KEYS)  # keys that clients repeat among the settings


def change(made: Facade, kind: Kind, action: str, level: str, user: str, names: tuple[str, ...] = ()) -> None:
    """Grant or revoke access."""
    if action not in _ACTS:
        raise errors.ApiError(f'unknown action "{action}"', errors.BAD_REQUEST)
    if level not in LEVELS[kind]:
        raise errors.ApiError(f'could not modify {kind} access: "{level}" {kind} access not valid')
    options = AccessOptions(user=tags.user(user), level=level, kind=kind, names=names)
    try:
        _ACTS[action](made.ctx, options)
    except NoAccess:
        text = f'could not revoke {kind} access: {kind} access of user "{options.user}" not found'
        raise errors.ApiError(text, errors.NOT_FOUND) from None
