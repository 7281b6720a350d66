"""Controller, its settings, addresses and users, and HighAvailability, which refuses `enable-ha`.

Mirrors: juju apiserver/facades/client/controller, highavailability (3.6)
"""

from __future__ import annotations

from typing import Any, TypedDict

from pushjuju import JUJU_VERSION
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.entities.model import models
from pushjuju.services.requests.controller import controllers as change_config
from pushjuju.services.requests.model import blocks as model_blocks
from pushjuju.services.requests.model import model_config
from pushjuju.services.requests.user import registration_string
from pushjuju.services.views.listings import blocks, settings
from pushjuju.web import errors, tags
from pushjuju.web.call import each, reach, require_self
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades import model_shapes
from pushjuju.web.facades.block import block_name
from pushjuju.web.facades.model_manager import change
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes import models as shapes
from pushjuju.web.shapes.common import Entities, ResultOf, StringResult, checked_settings
from pushjuju.web.shapes.models import AllWatcherId
from pushjuju.web.subscriptions import Wanted
from pushjuju.web.watch import readings

UserAccess = TypedDict("UserAccess", {"user-tag": str, "access": str})
UserAccessResult = ResultOf[UserAccess]
ControllerConfigResult = TypedDict("ControllerConfigResult", {"config": dict[str, object]})
ControllerVersion = TypedDict("ControllerVersion", {"version": str, "git-commit": str})
_NOT_HERE = "pushjuju destroy-controller on the host of the controller destroys it"


@facade("Controller")
class Controller(Facade):
    """The controller."""

    @method(Needs.LOGIN)
    def all_models(self) -> shapes.UserModelList:
        """Return the models that the caller has access to; a superuser has access to all."""
        return {"user-models": model_shapes.of_user(self.ctx, self.user)}

    @method(Needs.LOGIN)
    def controller_config(self) -> ControllerConfigResult:
        found = settings.of_controller(self.ctx)
        own = {
            "controller-uuid": self.call.server.controller_uuid,
            "controller-name": self.ctx.controller.name,
        }
        return {"config": {**found, **own, "ca-cert": self.call.server.ca}}

    @method(Needs.SUPERUSER, changes=True)
    def config_set(self, config: dict[str, Any]) -> None:
        """Change settings of the controller."""
        change_config.configure(self.ctx, checked_settings(config))

    @method(Needs.LOGIN)
    def controller_version(self) -> ControllerVersion:
        """Return the version of Juju that the controller speaks."""
        return {"version": JUJU_VERSION, "git-commit": ""}

    @bulk("entities", Needs.LOGIN, name="ControllerAPIInfoForModels", empty={"addresses": [], "cacert": ""})
    def api_info(self, tag: str) -> shapes.ControllerAPIInfo:
        """Return the addresses of the controllers of models, which are those of all hosts of this one."""
        reach(self.ctx, tags.model_to_reach(tag))
        return {"addresses": registration_string.addresses(self.ctx), "cacert": self.call.server.ca}

    @bulk("entities", Needs.LOGIN)
    def get_controller_access(self, tag: str) -> UserAccessResult:
        user = tags.user(tag)
        require_self(self.ctx, user)
        with self.ctx.store.read() as tx:
            level = users.level_of(tx, user, Kind.CONTROLLER, "")
        return {"result": {"user-tag": tag, "access": level}}

    @method(Needs.SUPERUSER, changes=True)
    def modify_controller_access(self, changes: list[shapes.ModifyControllerAccess]) -> ErrorResults:
        """Grant or revoke access to the controller."""
        return {
            "results": [
                each(change, self, Kind.CONTROLLER, item.action, item.access, item.user_tag)
                for item in changes
            ]
        }

    @method(Needs.LOGIN)
    def model_status(self, params: Entities) -> dict[str, object]:
        """Return the contents of models that the caller administers: machines, applications and storage."""
        return {"models": [model_shapes.status_of(self.ctx, item.tag) for item in params.entities]}

    @method(Needs.SUPERUSER)
    def hosted_model_configs(self) -> dict[str, object]:
        """Return the settings of all models, without credentials."""
        with self.ctx.store.read() as tx:
            listed = [model for model in models.listed(tx) if not models.is_controller(model)]
        return {
            "models": [
                {
                    "name": model.name,
                    "owner": f"user-{model.owner}",
                    "config": {
                        key: item["value"] for key, item in model_config.effective(self.ctx, model).items()
                    },
                }
                for model in listed
            ]
        }

    @method(Needs.SUPERUSER)
    def list_blocked_models(self) -> dict[str, object]:
        """Return the models with disabled commands."""
        return {
            "models": [
                {
                    "name": item["name"],
                    "model-uuid": item["model-uuid"],
                    "owner-tag": f"user-{item['owner']}",
                    "blocks": [block_name(name) for name in item["disabled-commands"]],
                }
                for item in blocks.of_controller(self.ctx)
            ]
        }

    @method(Needs.SUPERUSER, changes=True)
    def remove_blocks(self, *, all: bool) -> None:  # noqa: A002 - its name on the wire
        """Enable all commands in all models again."""
        if not all:
            raise errors.not_supported("not supported: only all blocks of a controller are removed at once")
        model_blocks.enable_everywhere(self.ctx)

    @method(Needs.SUPERUSER)
    async def watch_all_models(self) -> AllWatcherId:
        return {"watcher-id": await self.call.watchers.watch_all()}

    @method(Needs.LOGIN)
    async def watch_model_summaries(self) -> AllWatcherId:
        """Begin to watch the summaries of the models that the user may read."""
        return await self._watch_summaries(every=False)

    @method(Needs.SUPERUSER)
    async def watch_all_model_summaries(self) -> AllWatcherId:
        return await self._watch_summaries(every=True)

    async def _watch_summaries(self, *, every: bool) -> AllWatcherId:
        read = readings.Summaries(self.user, every=every)
        wanted = Wanted(facade="ModelSummaryWatcher", model="", read=read)
        return {"watcher-id": await self.call.watchers.listen(wanted)}

    @method(Needs.SUPERUSER)
    def destroy_controller(self) -> None:
        """Refuse: the controller is a directory of its host."""
        raise errors.not_supported(_NOT_HERE)

    @method(Needs.SUPERUSER)
    def initiate_migration(self) -> None:
        """Refuse: models do not move between controllers."""
        raise errors.not_supported("migration of models is not supported")

    @method(Needs.LOGIN, name="IdentityProviderURL")
    def identity_provider_url(self) -> StringResult:
        """Return an empty text: users log in with a password."""
        return {"result": ""}

    @method(Needs.SUPERUSER)
    def mongo_version(self) -> StringResult:
        """Return an empty text: there is no MongoDB."""
        return {"result": ""}

    @method(Needs.LOGIN)
    def dashboard_connection_info(self) -> None:
        """Refuse: no dashboard is served."""
        raise errors.ApiError("dashboard not found", errors.NOT_FOUND)


@facade("HighAvailability")
class HighAvailability(Facade):
    """The controller has no machine."""

    @method(Needs.SUPERUSER, name="EnableHA")
    def enable_ha(self) -> None:
        """Refuse: there are no controller machines to multiply."""
        raise errors.not_supported("controller machines are not supported")
