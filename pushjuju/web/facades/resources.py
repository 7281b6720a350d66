"""Resources, the files that charms need, and Payloads, workloads that charms have registered.

Mirrors: juju apiserver/facades/client/resources, payloads (3.6)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pushjuju.services.entities.application.resources import FILE
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.application import pending_resources
from pushjuju.services.requests.application.pending_resources import Expected
from pushjuju.services.views import resource_documents
from pushjuju.services.views.resource_documents import Listing, Shown
from pushjuju.web import tags
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes.common import Entity, Results
from pushjuju.web.shapes.resource_shapes import declared, resource


@dataclass(frozen=True, slots=True, kw_only=True)
class CharmResource:
    """A resource as a client announces it."""

    name: str = ""
    type: str = FILE
    path: str = ""
    origin: str = ""
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPendingResources:
    """Resources for an application that is deployed or gets another charm afterwards."""

    tag: str = ""
    url: str = ""
    resources: list[CharmResource] = field(default_factory=list)


@facade("Resources")
class Resources(Facade):
    """The resources of the applications of the model."""

    @bulk(
        "entities",
        Needs.READ,
        empty={"resources": [], "charm-store-resources": [], "unit-resources": []},
    )
    def list_resources(self, item: Entity) -> dict[str, object]:
        """Return the resources of applications and of their units."""
        found = resource_documents.listing(self.ctx, self.model, tags.application(item.tag))
        newer = {known.name: known.revision for known in found.updates}
        return {
            "resources": [resource(known) for known in found.resources],
            "charm-store-resources": [_in_store(known, newer) for known in found.resources],
            "unit-resources": [_of_unit(found, unit) for unit in found.units],
        }

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def add_pending_resources(self, params: AddPendingResources) -> dict[str, object]:
        """Announce resources whose files the client uploads next, and return their ids."""
        wanted = [
            Expected(
                name=item.name,
                type=item.type,
                path=item.path,
                origin=item.origin,
                revision=-1 if item.revision is None else item.revision,
            )
            for item in params.resources
        ]
        name = tags.application(params.tag)
        return {"pending-ids": pending_resources.expect(self.ctx, self.model, name, wanted)}


def _of_unit(found: Listing, unit: str) -> dict[str, object]:
    fetched = [item for (owner, _), item in found.fetched.items() if owner == unit]
    return {
        "tag": tags.of_unit(unit),
        "resources": [resource(item) for item in fetched],
        "download-progress": {},
    }


def _in_store(item: Shown, newer: dict[str, int]) -> dict[str, object]:
    return {**declared(item), "revision": newer.get(item.name, max(item.revision, 0))}


@facade("Payloads")
class Payloads(Facade):
    """The payloads of the model."""

    @method(Needs.READ)
    def list(self, patterns: list[str]) -> Results:
        found = []
        for entry in resource_documents.payloads(self.ctx, self.model, patterns):
            machine = str(entry["machine"])
            found.append(
                {
                    "class": entry["payload-class"],
                    "type": entry["type"],
                    "id": entry["id"],
                    "status": entry["status"],
                    "labels": entry.get("labels", []),
                    "unit": tags.of_unit(str(entry["unit"])),
                    "machine": tags.of_machine(machine) if machine else "",
                }
            )
        return {"results": found}
