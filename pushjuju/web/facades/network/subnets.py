"""Subnets: the subnets of the model. Mirrors: juju apiserver/facades/client/subnets (3.6)"""

from __future__ import annotations

from pushjuju.services.views import space_documents
from pushjuju.web import errors, tags
from pushjuju.web.registry import Facade, Needs, facade, method
from pushjuju.web.shapes.common import Results
from pushjuju.web.shapes.subnets import id_of, subnet


@facade("Subnets")
class Subnets(Facade):
    """The subnets of the model."""

    @method(Needs.READ)
    def list_subnets(self, space_tag: str, zone: str) -> Results:
        """Return the subnets."""
        space = tags.space(space_tag) if space_tag else ""
        found = {} if zone else space_documents.subnets(self.ctx, self.model, space=space)
        return {"results": [subnet(cidr, item["space"]) for cidr, item in found.items()]}

    @method(Needs.READ, name="SubnetsByCIDR")
    def subnets_by_cidr(self, cidrs: list[str]) -> Results:
        """Return subnets by their CIDRs."""
        known = space_documents.subnets(self.ctx, self.model)
        return {
            "results": [
                {
                    "subnets": [{**subnet(cidr, known[cidr]["space"]), "id": id_of(cidr)}]
                    if cidr in known
                    else []
                }
                for cidr in cidrs
            ]
        }

    @method(Needs.READ)
    def all_zones(self) -> None:
        """Refuse: pushjuju does not query clouds for their zones."""
        raise errors.not_supported("availability zones not supported")
