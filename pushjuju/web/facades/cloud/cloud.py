"""Cloud: the clouds of the controller. Mirrors: juju apiserver/facades/client/cloud (3.6)"""

from __future__ import annotations

from typing import Any

from pushjuju.core.clouds import Cloud as Definition
from pushjuju.core.errors import not_found
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.requests.cloud import definitions
from pushjuju.services.views import cloud_documents
from pushjuju.store.tx import Tx
from pushjuju.web import errors, tags
from pushjuju.web.call import each, require_cloud_admin, require_self, require_superuser, result_of
from pushjuju.web.errors import ErrorResults
from pushjuju.web.facades.cloud.cloud_credentials import Credentials
from pushjuju.web.facades.cloud_sides import sides_of
from pushjuju.web.facades.model_manager import change
from pushjuju.web.registry import Needs, facade, method
from pushjuju.web.shapes import cloud_shapes as shapes
from pushjuju.web.shapes.cloud_shapes import (
    CloudResult,
    CloudResults,
    CloudShape,
    CloudsResult,
    definition_of,
)
from pushjuju.web.shapes.common import Entities, Results


@facade("Cloud")
class Cloud(Credentials):
    """The clouds that the caller may see: those where the caller may add models."""

    @method(Needs.LOGIN)
    def clouds(self) -> CloudsResult:
        """Return the clouds, the controller's own first."""
        own = self._own()
        found = sorted(self._visible().items(), key=lambda pair: (pair[0] != own, pair[0]))
        return {"clouds": {f"cloud-{name}": self._shape(cloud) for name, cloud in found}}

    @method(Needs.LOGIN)
    def cloud(self, params: Entities) -> CloudResults:
        """Return some clouds."""
        return {"results": [result_of(self._cloud, item.tag) for item in params.entities]}

    def _cloud(self, tag: str) -> CloudResult:
        return {"cloud": self._shape(self._visible_cloud(tag))}

    def _visible_cloud(self, tag: str) -> Definition:
        name = tags.cloud(tag)
        found = self._visible().get(name)
        if found is None:
            raise not_found("cloud", name)
        return found

    def _visible(self, user: str = "") -> dict[str, Definition]:
        found = definitions.controller_clouds(self.ctx, PluginHost(environ=self.ctx.environ))
        with self.ctx.store.read() as tx:
            return {name: item for name, item in found.items() if self._level(tx, name, user or self.user)}

    def _level(self, tx: Tx, name: str, user: str) -> str:
        return users.effective_level(tx, user, Kind.CLOUD, name)

    def _own(self) -> str:
        return str(self.ctx.controller.settings().get("cloud", ""))

    @method(Needs.LOGIN)
    def cloud_info(self, params: Entities) -> Results:
        """Return clouds that the caller administers, with their users."""
        return {"results": [result_of(self._info, item.tag) for item in params.entities]}

    def _info(self, tag: str) -> dict[str, object]:
        require_cloud_admin(self.ctx, tags.cloud(tag))
        found = self._visible_cloud(tag)
        host = PluginHost(environ=self.ctx.environ)
        known: Any = cloud_documents.controller_cloud_document(self.ctx, found, host)
        listed = [
            {"user": name, "display-name": str(entry.get("display-name", "")), "access": entry["access"]}
            for name, entry in known["users"].items()
        ]
        return {"result": {**self._shape(found), "users": listed}}

    @method(Needs.LOGIN)
    def list_cloud_info(self, user_tag: str, *, all: bool) -> Results:  # noqa: A002 - its name on the wire
        """Return the clouds of a user, with the user's access."""
        user = tags.user(user_tag)
        require_self(self.ctx, user)
        if all:
            require_superuser(self.ctx)
        found = self._visible("" if all else user)
        with self.ctx.store.read() as tx:
            levels = {name: self._level(tx, name, user) for name in found}
        return {
            "results": [
                {"result": {**self._shape(cloud), "user-access": levels[name]}}
                for name, cloud in found.items()
            ]
        }

    def _shape(self, cloud: Definition) -> CloudShape:
        known = cloud_documents.cloud_document(cloud, PluginHost(environ=self.ctx.environ))
        regions: list[Any] = [{"name": name, **ends} for name, ends in known["regions"].items()]
        found: CloudShape = {
            "type": cloud.type,
            "auth-types": list(known.get("auth-types", ())),
            "regions": regions,
            "is-controller-cloud": cloud.name == self._own(),
        }
        if cloud.endpoint:
            found["endpoint"] = cloud.endpoint
        if cloud.identity_endpoint:
            found["identity-endpoint"] = cloud.identity_endpoint
        if cloud.storage_endpoint:
            found["storage-endpoint"] = cloud.storage_endpoint
        if cloud.ca_certificates:
            found["ca-certificates"] = list(cloud.ca_certificates)
        if cloud.skip_tls_verify:
            found["skip-tls-verify"] = True
        return found

    # --- changes ------------------------------------------------------------------------------------------

    @method(Needs.SUPERUSER, changes=True)
    def add_cloud(self, params: shapes.AddCloud) -> None:
        made = definition_of(params.name, params.cloud)
        definitions.add_to_controller(sides_of(self.ctx), made, force=params.force)

    @method(Needs.SUPERUSER, changes=True)
    def update_cloud(self, clouds: list[shapes.AddCloud]) -> ErrorResults:
        """Replace the definitions of clouds."""
        return {"results": [each(self._update_cloud, item) for item in clouds]}

    def _update_cloud(self, item: shapes.AddCloud) -> None:
        where, made = sides_of(self.ctx), definition_of(item.name, item.cloud)
        definitions.check(where.host, made)
        definitions.update_on_controller(where, made.name, made)

    @method(Needs.LOGIN, changes=True)
    def remove_clouds(self, params: Entities) -> ErrorResults:
        """Remove the definitions of clouds that the caller administers."""
        return {"results": [each(self._remove_cloud, item.tag) for item in params.entities]}

    def _remove_cloud(self, tag: str) -> None:
        name = tags.cloud(tag)
        require_cloud_admin(self.ctx, name)
        if not definitions.remove_from_controller(sides_of(self.ctx), name):
            raise not_found("cloud", name)

    @method(Needs.LOGIN, changes=True)
    def modify_cloud_access(self, changes: list[shapes.ModifyCloudAccess]) -> ErrorResults:
        """Grant or revoke access to clouds that the caller administers."""
        return {"results": [each(self._modify, item) for item in changes]}

    def _modify(self, item: shapes.ModifyCloudAccess) -> None:
        name = tags.cloud(item.cloud_tag)
        require_cloud_admin(self.ctx, name)
        change(self, Kind.CLOUD, item.action, item.access, item.user_tag, (name,))

    @method(Needs.LOGIN)
    def instance_types(self) -> None:
        """Refuse: pushjuju does not query clouds for their instance types."""
        raise errors.not_supported("instance types are not listed")
