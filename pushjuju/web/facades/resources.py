"""Resources: files beside the charms. Mirrors: juju apiserver/facades/client/resources (3.6)"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from pushjuju.core.errors import PushjujuError
from pushjuju.services.views import resource_documents
from pushjuju.services.views.resource_documents import Listing, Shown
from pushjuju.web import errors, tags
from pushjuju.web.registry import Facade, Needs, On, facade, method
from pushjuju.web.shapes.common import Entity, Results
from pushjuju.web.times import NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class ListResourcesArgs:
    """Applications whose resources to list."""

    entities: list[Entity] = field(default_factory=list)


@facade("Resources", versions=[3], on=On.MODEL)
class Resources(Facade):
    """The resources of the applications of the model."""

    @method(Needs.READ)
    def list_resources(self, params: ListResourcesArgs) -> Results:
        """Return the resources of applications and of their units."""
        return {"results": [self._listed(item.tag) for item in params.entities]}

    def _listed(self, tag: str) -> dict[str, object]:
        try:
            found = resource_documents.listing(self.ctx, self.model, tags.application(tag))
        except PushjujuError as error:
            empty: dict[str, object] = {"resources": [], "charm-store-resources": [], "unit-resources": []}
            return {**empty, "error": errors.told(error)}
        newer = {item.name: item.revision for item in found.updates}
        return {
            "resources": [_resource(item) for item in found.resources],
            "charm-store-resources": [_in_store(item, newer) for item in found.resources],
            "unit-resources": [_of_unit(found, unit) for unit in found.units],
        }


def _of_unit(found: Listing, unit: str) -> dict[str, object]:
    fetched = [item for (owner, _), item in found.fetched.items() if owner == unit]
    return {
        "tag": tags.of_unit(unit),
        "resources": [_resource(item) for item in fetched],
        "download-progress": {},
    }


def _declared(item: Shown) -> dict[str, object]:
    return {
        "name": item.name,
        "type": item.type,
        "path": item.path,
        "description": item.description,
        "origin": item.origin,
        "revision": max(item.revision, 0),
        "fingerprint": base64.b64encode(bytes.fromhex(item.fingerprint)).decode(),
        "size": item.size,
    }


def _resource(item: Shown) -> dict[str, object]:
    return {
        **_declared(item),
        "id": f"{item.application}/{item.name}",
        "pending-id": "",
        "application": item.application,
        "username": item.username,
        "timestamp": item.time or NEVER,
    }


def _in_store(item: Shown, newer: dict[str, int]) -> dict[str, object]:
    return {**_declared(item), "revision": newer.get(item.name, max(item.revision, 0))}
