"""Spaces and Subnets: the network spaces of the model.

Mirrors: juju apiserver/facades/client/spaces, subnets (3.6)
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.errors import PushjujuError
from pushjuju.services.entities.basis import blocks
from pushjuju.services.requests.machine import spaces
from pushjuju.services.views import space_documents
from pushjuju.web import errors, tags
from pushjuju.web.registry import Facade, Needs, bulk, facade, method
from pushjuju.web.shapes.common import Entity, Results

_PREFIX = "subnet-"
_LENGTHS = 256  # one byte of the number is the length of the prefix
_IPV6 = 64  # added to the lengths of IPv6 prefixes, so that they differ from those of IPv4

_NO_SPACE = {"space": {"id": "", "name": "", "subnets": []}, "applications": [], "machine-count": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSpace:
    """A space to make, of subnets that the model knows."""

    space_tag: str = ""
    cidrs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveSubnetsOf:
    """Subnets to move to a space, by tags or CIDRs."""

    space_tag: str = ""
    subnets: list[str] = field(default_factory=list)
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveSpaceParam:
    space: Entity = field(default_factory=Entity)
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameSpaceParams:
    from_space_tag: str = ""
    to_space_tag: str = ""


@facade("Spaces")
class Spaces(Facade):
    """The spaces of the model."""

    @method(Needs.READ)
    def list_spaces(self) -> Results:
        return {"results": [_space(item) for item in space_documents.listing(self.ctx, self.model)]}

    @bulk("entities", Needs.READ, empty=_NO_SPACE)
    def show_space(self, tag: str) -> dict[str, object]:
        """Return spaces with the applications that are bound to them."""
        found = space_documents.show(self.ctx, self.model, tags.space(tag))
        known = found["space"]
        cidrs = [item["cidr"] for item in known["subnets"]]
        return {
            "space": _space({**known, "subnets": cidrs}),
            "applications": list(found["applications"]),
            "machine-count": found["machine-count"],
        }

    @bulk("spaces", Needs.ADMIN, blocked_by=blocks.CHANGE)
    def create_spaces(self, item: CreateSpace) -> None:
        spaces.add(self.ctx, self.model, tags.space(item.space_tag), item.cidrs)

    @bulk("args", Needs.ADMIN, blocked_by=blocks.CHANGE)
    def move_subnets(self, item: MoveSubnetsOf) -> dict[str, object]:
        try:
            cidrs = [cidr_of(text) for text in item.subnets]
            found = spaces.move(self.ctx, self.model, tags.space(item.space_tag), cidrs, force=item.force)
        except PushjujuError as error:
            return {"new-space": item.space_tag, "error": errors.told(error)}
        moved = [
            {"subnet": tag_of(each.cidr), "old-space": f"space-{each.old}", "cidr": each.cidr}
            for each in found
        ]
        return {"new-space": item.space_tag, "moved-subnets": moved}

    @bulk("space_param", Needs.ADMIN, blocked_by=blocks.CHANGE)
    def remove_space(self, item: RemoveSpaceParam) -> dict[str, object]:
        """Remove spaces; return the applications whose constraints or bindings name such a space."""
        name = tags.space(item.space.tag)
        if item.dry_run:
            uses = spaces.plan_removal(self.ctx, self.model, name)
        else:
            uses = spaces.remove(self.ctx, self.model, name, force=item.force)
        found = {"constraints": _applications(uses.constraints), "bindings": _applications(uses.bindings)}
        return {key: listed for key, listed in found.items() if listed}

    @bulk("changes", Needs.ADMIN, blocked_by=blocks.CHANGE)
    def rename_space(self, item: RenameSpaceParams) -> None:
        spaces.rename(self.ctx, self.model, tags.space(item.from_space_tag), tags.space(item.to_space_tag))

    @method(Needs.WRITE, blocked_by=blocks.CHANGE)
    def reload_spaces(self) -> None:
        """Read the addresses of all machines again."""
        spaces.reload(self.ctx, self.model)


def _applications(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"tag": f"application-{name}"} for name in names]


def _space(known: Any) -> dict[str, object]:
    name = known["name"]
    return {"id": known["id"], "name": name, "subnets": [subnet(cidr, name) for cidr in known["subnets"]]}


@facade("Subnets")
class Subnets(Facade):
    """The subnets of the model."""

    @method(Needs.READ)
    def list_subnets(self, space_tag: str, zone: str) -> Results:
        space = tags.space(space_tag) if space_tag else ""
        found = {} if zone else space_documents.subnets(self.ctx, self.model, space=space)
        return {"results": [subnet(cidr, item["space"]) for cidr, item in found.items()]}

    @method(Needs.READ, name="SubnetsByCIDR")
    def subnets_by_cidr(self, cidrs: list[str]) -> Results:
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


def cidr_of(text: str) -> str:
    """Return the CIDR of a subnet that a client names by its tag, its CIDR, or a tag with the CIDR."""
    name = text.removeprefix(_PREFIX)
    if not name.isdecimal():
        return name
    address, length = divmod(int(name), _LENGTHS)
    try:
        if length < _IPV6:
            return str(ipaddress.IPv4Network((address, length)))
        return str(ipaddress.IPv6Network((address, length - _IPV6)))
    except ValueError:
        return name


def id_of(cidr: str) -> str:
    """Return the number of a subnet; the same CIDR has the same number in all models."""
    network = ipaddress.ip_network(cidr)
    length = network.prefixlen + (_IPV6 if network.version == 6 else 0)
    return str(int(network.network_address) * _LENGTHS + length)


def tag_of(cidr: str) -> str:
    return _PREFIX + id_of(cidr)


def subnet(cidr: str, space: str) -> dict[str, object]:
    return {"cidr": cidr, "vlan-tag": 0, "life": "alive", "space-tag": f"space-{space}", "zones": []}
