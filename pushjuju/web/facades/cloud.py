"""Cloud: the clouds of the controller. Mirrors: juju apiserver/facades/client/cloud (3.6)"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from pushjuju.core.clouds import Cloud as Definition
from pushjuju.core.errors import PushjujuError, not_found
from pushjuju.services.entities.basis import users
from pushjuju.services.entities.basis.plugin_host import PluginHost
from pushjuju.services.entities.basis.users import Kind
from pushjuju.services.requests.cloud import definitions
from pushjuju.services.views import cloud_documents
from pushjuju.store.tx import Tx
from pushjuju.web import errors, tags
from pushjuju.web.errors import Error
from pushjuju.web.registry import Facade, Needs, On, facade, method
from pushjuju.web.shapes.common import Entities

Region = TypedDict(
    "Region",
    {
        "name": str,
        "endpoint": NotRequired[str],
        "identity-endpoint": NotRequired[str],
        "storage-endpoint": NotRequired[str],
    },
)
CloudShape = TypedDict(
    "CloudShape",
    {
        "type": str,
        "auth-types": list[str],
        "endpoint": NotRequired[str],
        "identity-endpoint": NotRequired[str],
        "storage-endpoint": NotRequired[str],
        "regions": list[Region],
        "is-controller-cloud": bool,
        "skip-tls-verify": NotRequired[bool],
    },
)
CloudsResult = TypedDict("CloudsResult", {"clouds": dict[str, CloudShape]})
CloudResult = TypedDict("CloudResult", {"cloud": NotRequired[CloudShape], "error": NotRequired[Error]})
CloudResults = TypedDict("CloudResults", {"results": list[CloudResult]})


@facade("Cloud", versions=[7], on=On.CONTROLLER)
class Cloud(Facade):
    """The clouds that the caller may see: those where the caller may add models."""

    @method(Needs.LOGIN)
    def clouds(self) -> CloudsResult:
        """Return the clouds, the controller's own first."""
        own = str(self.ctx.controller.settings().get("cloud", ""))
        found = sorted(self._visible().items(), key=lambda pair: (pair[0] != own, pair[0]))
        return {"clouds": {f"cloud-{name}": self._shape(cloud, own) for name, cloud in found}}

    @method(Needs.LOGIN)
    def cloud(self, params: Entities) -> CloudResults:
        """Return some clouds."""
        return {"results": [self._cloud(item.tag) for item in params.entities]}

    def _cloud(self, tag: str) -> CloudResult:
        try:
            name = tags.cloud(tag)
            found = self._visible().get(name)
            if found is None:
                raise not_found("cloud", name)
            return {"cloud": self._shape(found, str(self.ctx.controller.settings().get("cloud", "")))}
        except PushjujuError as error:
            return {"error": errors.told(error)}

    def _visible(self) -> dict[str, Definition]:
        found = definitions.controller_clouds(self.ctx, PluginHost(environ=self.ctx.environ))
        with self.ctx.store.read() as tx:
            return {name: item for name, item in found.items() if self._may_see(tx, name)}

    def _may_see(self, tx: Tx, name: str) -> bool:
        return bool(users.effective_level(tx, self.user, Kind.CLOUD, name))

    def _shape(self, cloud: Definition, own: str) -> CloudShape:
        known = cloud_documents.cloud_document(cloud, PluginHost(environ=self.ctx.environ))
        regions: list[Any] = [{"name": name, **ends} for name, ends in known["regions"].items()]
        found: CloudShape = {
            "type": cloud.type,
            "auth-types": list(known.get("auth-types", ())),
            "regions": regions,
            "is-controller-cloud": cloud.name == own,
        }
        if cloud.endpoint:
            found["endpoint"] = cloud.endpoint
        if cloud.identity_endpoint:
            found["identity-endpoint"] = cloud.identity_endpoint
        if cloud.storage_endpoint:
            found["storage-endpoint"] = cloud.storage_endpoint
        return found
