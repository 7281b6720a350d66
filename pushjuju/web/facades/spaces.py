"""Spaces: the network spaces of the model. Mirrors: juju apiserver/facades/client/spaces (3.6)"""

from __future__ import annotations

from pushjuju.services.views import space_documents
from pushjuju.web.registry import Facade, Needs, On, facade, method
from pushjuju.web.shapes.common import Results


@facade("Spaces", versions=[6], on=On.MODEL)
class Spaces(Facade):
    """The spaces of the model."""

    @method(Needs.READ)
    def list_spaces(self) -> Results:
        """Return the spaces with their subnets."""
        found: list[dict[str, object]] = []
        for space in space_documents.listing(self.ctx, self.model):
            tag = f"space-{space['name']}"
            subnets = [
                {"cidr": cidr, "vlan-tag": 0, "life": "alive", "space-tag": tag, "zones": []}
                for cidr in space["subnets"]
            ]
            found.append({"id": space["id"], "name": space["name"], "subnets": subnets})
        return {"results": found}
