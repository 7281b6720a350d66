"""VPCs, subnets and security groups of EC2. Blocking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.firewall import MachineRules
from pushjuju.plugins.providers.libcloud.drivers.amazon.ec2_api import ask, every, tags_as, text


def network(driver: Any, vpc: str) -> str:
    """Return the id of a VPC: the given one, or the account's default VPC."""
    if vpc:
        return vpc
    found = driver.ex_list_networks(filters={"isDefault": "true"})
    if not found:
        raise NotValid("the account has no default VPC", hint="pushjuju model-config vpc-id=vpc-...")
    return str(found[0].id)


def subnet(driver: Any, vpc: str, zone: str, wanted: str = "") -> Any:
    """Return a subnet of a VPC in a zone: the requested subnet, or the default subnet.

    Raises:
        ProviderError: The zone has no subnet; another zone may have one.
    """
    filters = {"vpc-id": vpc, **({"availability-zone": zone} if zone else {})}
    for item in driver.ex_list_subnets(filters=filters):
        if wanted in ("", item.id, item.name, item.extra.get("cidr_block")):
            return item
    what = f"subnet {wanted}" if wanted else "subnet"
    raise ProviderError(f"no {what} in zone {zone} of {vpc}")


@dataclass(frozen=True, slots=True, order=True)
class Permission:
    """One ingress permission of a security group; `source` is a CIDR or the id of a group."""

    protocol: str
    first: int
    last: int
    source: str


def outside(rules: MachineRules) -> set[Permission]:
    """Return the permissions of a machine's own group."""
    return {
        Permission(item.range.protocol, item.range.from_port, item.range.to_port, source)
        for item in rules.ingress
        for source in item.sources
    }


def ensure_group(driver: Any, name: str, vpc: str, tags: Mapping[str, str]) -> str:
    """Return the id of a security group; make the group when it does not exist."""
    params = {
        "GroupName": name,
        "GroupDescription": "juju group",
        "VpcId": vpc,
        "TagSpecification.1.ResourceType": "security-group",
        **tags_as("TagSpecification.1.Tag", tags),
    }
    try:
        return text(ask(driver, "CreateSecurityGroup", params), "groupId")
    except Exception as error:
        if "InvalidGroup.Duplicate" not in str(error):
            raise
        return groups(driver, {"group-name": name, "vpc-id": vpc})[0]


def groups(driver: Any, filters: Mapping[str, str]) -> list[str]:
    """Return the ids of the matching security groups."""
    return [str(item.id) for item in driver.ex_get_security_groups(filters=dict(filters))]


def drop_groups(driver: Any, filters: Mapping[str, str]) -> None:
    """Delete the matching security groups, even when their permissions refer to each other."""
    found = groups(driver, filters)
    for group in found:
        set_permissions(driver, group, ())
    for group in found:
        driver.ex_delete_security_group_by_id(group)


def permissions(driver: Any, group: str) -> set[Permission]:
    """Return the ingress permissions of a security group."""
    found: set[Permission] = set()
    root = ask(driver, "DescribeSecurityGroups", {"GroupId.1": group})
    for item in every(root, "securityGroupInfo/item/ipPermissions/item"):
        first, last = (int(text(item, name) or -1) for name in ("fromPort", "toPort"))
        sources = [text(one, "cidrIp") for one in every(item, "ipRanges/item")]
        sources += [text(one, "cidrIpv6") for one in every(item, "ipv6Ranges/item")]
        sources += [text(one, "groupId") for one in every(item, "groups/item")]
        protocol = text(item, "ipProtocol")
        found |= {Permission(protocol, first, last, source) for source in sources if source}
    return found


def set_permissions(driver: Any, group: str, wanted: Iterable[Permission]) -> None:
    """Set the permissions of a security group to exactly these."""
    now, then = permissions(driver, group), set(wanted)
    for action, changes in (
        ("AuthorizeSecurityGroupIngress", then - now),
        ("RevokeSecurityGroupIngress", now - then),
    ):
        if changes:
            try:
                ask(driver, action, {"GroupId": group, **_params(sorted(changes))})
            except Exception as error:
                if "InvalidPermission." not in str(error):  # another process has made the change already
                    raise


def _params(changes: Sequence[Permission]) -> dict[str, str]:
    params: dict[str, str] = {}
    for number, item in enumerate(changes, 1):
        head = f"IpPermissions.{number}"
        params[f"{head}.IpProtocol"] = item.protocol
        if item.protocol != "-1":
            params |= {f"{head}.FromPort": str(item.first), f"{head}.ToPort": str(item.last)}
        kind = "UserIdGroupPairs.1.GroupId" if item.source.startswith("sg-") else "IpRanges.1.CidrIp"
        params[f"{head}.{'Ipv6Ranges.1.CidrIpv6' if ':' in item.source else kind}"] = item.source
    return params
