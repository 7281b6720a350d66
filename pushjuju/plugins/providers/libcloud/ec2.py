"""Amazon EC2 through libcloud: blocking functions of one driver.

Mirrors: juju provider/ec2 (3.6)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pushjuju.core.base import Base
from pushjuju.core.constraints import Constraints
from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.core.instance_types import LEAST_ROOT_DISK, InstanceType
from pushjuju.core.status import InstanceStatus
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.api.providers import Address, Hardware, Instance
from pushjuju.plugins.providers.libcloud.calls import TIMEOUT_S
from pushjuju.plugins.providers.libcloud.drivers.library import library, trusting

MODEL_TAG, MACHINE_TAG, NONCE_TAG = "juju-model-uuid", "pushjuju-machine", "pushjuju-nonce"
MOST_USER_DATA = 16384  # bytes, the cloud's limit
MOST_ADDRESS = 4000  # bytes of a request's address that every server takes
_ALIVE = ["pending", "running", "stopping", "stopped"]
_MOST_ENDED = 100  # instances that one order may have had
_ARM = re.compile(r"(a1|[a-z]+[0-9]+[a-z]*g[a-z]*)\.")
_OLD = re.compile(
    r"(t1|t2|m1|m2|m3|m4|c1|c3|c4|cc[0-9]|cg1|cr1|hi1|hs1|g2|i2|r3|r4|mac[0-9a-z-]*|.*metal.*)(\.|$)"
)
_STATUS = {
    "pending": InstanceStatus.PENDING,
    "running": InstanceStatus.RUNNING,
    "stopped": InstanceStatus.STOPPED,
}
_DRIVER = "compute.drivers.ec2"
_NAMESPACE = re.compile(rb'xmlns="http://ec2\.amazonaws\.com/doc/[^"]*"')


def said(body: bytes) -> str:
    """Return `Code: message` of an answer that reports an error; empty for any other answer."""
    try:
        found = ElementTree.fromstring(body)  # noqa: S314 - as libcloud reads all answers of the cloud
    except ElementTree.ParseError:
        return ""
    words = {item.tag.rpartition("}")[2]: (item.text or "").strip() for item in found.iter()}
    return f"{words['Code']}: {words.get('Message', '')}" if words.get("Code") else ""


def connect(cloud: CloudSpec, credential: Credential, data_dir: Path) -> Any:
    """Return a driver; it makes no request.

    Args:
        data_dir: The controller's own directory, for certificates of the cloud's.

    Raises:
        NotValid: The credential or the region is not valid for EC2.
    """
    ec2 = library(_DRIVER)
    keys = credential.attributes
    if not keys.get("access-key") or not keys.get("secret-key"):
        raise NotValid(
            f"cloud {cloud.name} needs a credential of auth type access-key",
            hint=f"pushjuju add-credential {cloud.name}",
        )

    class Response(ec2.EC2Response):  # type: ignore[misc, name-defined]
        def parse_body(self) -> Any:
            own = f'xmlns="{ec2.NAMESPACE}"'.encode()
            given: Any = vars(self)["body"]
            body = given.encode() if isinstance(given, str) else given
            self.body = _NAMESPACE.sub(own, body).decode()
            return super().parse_body()

        def parse_error(self) -> Any:
            """Return what went wrong, also where the answer has another shape than Amazon's."""
            given: Any = vars(self)["body"]
            body = given.encode() if isinstance(given, str) else given
            return said(body) or super().parse_error()

    class Connection(ec2.EC2Connection):  # type: ignore[misc, name-defined]
        responseCls = Response  # noqa: N815 - libcloud's name
        conn_class = trusting(cloud, data_dir)

        def request(self, action: str, params: Any = None, **more: Any) -> Any:
            """Send what is too long for an address (user data) as a form."""
            form = urlencode({**(params or {}), "Version": self.version})
            if len(form) <= MOST_ADDRESS or more:
                return super().request(action, params=params, **more)
            headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
            return super().request(action, data=form, headers=headers, method="POST")

    class Driver(ec2.EC2NodeDriver):  # type: ignore[misc, name-defined]
        connectionCls = Connection  # noqa: N815

    end = urlsplit(cloud.endpoint)
    place = (
        {"host": end.hostname, "port": end.port or (443 if end.scheme == "https" else 80)}
        if end.hostname
        else {}
    )
    try:
        return Driver(
            keys["access-key"],
            keys["secret-key"],
            region=cloud.region,
            secure=end.scheme != "http",
            signature_version="4",
            timeout=TIMEOUT_S,
            **place,
        )
    except ValueError as error:
        raise NotValid(f"cloud {cloud.name}: {error}") from None


# --- what there is ----------------------------------------------------------------------------------------


def zones(driver: Any) -> list[tuple[str, bool]]:
    """Return (zone, whether it is available)."""
    found = driver.ex_list_availability_zones(only_available=False)
    return [(str(zone.name), zone.zone_state in ("available", None)) for zone in found]


def instance_types(driver: Any) -> list[InstanceType]:
    """Return the sizes of the region with their prices; makes no request."""
    return [
        InstanceType(
            name=size.id,
            cores=int(size.extra.get("vcpu") or size.extra.get("cpu") or 1),
            mem=int(size.ram),
            arches=("arm64",) if _ARM.match(size.id) else ("amd64",),
            cost=float(size.price) if size.price else float("inf"),
            deprecated=bool(_OLD.match(size.id)),
        )
        for size in driver.list_sizes()
    ]


_IMAGES = {
    "ubuntu": ("099720109477", "ubuntu/images/hvm-ssd*/ubuntu-*-{track}-{arch}-server-*"),
    "debian": ("136693071363", "debian-{track}-{arch}-*"),
}


def image(driver: Any, base: Base, arch: str, chosen: str) -> Any:
    """Return the image of a base: the chosen one, or the newest of its maker.

    Raises:
        NotValid: The region has no image for the base.
    """
    if chosen:
        found = driver.list_images(ex_image_ids=[chosen])
    else:
        owner, pattern = _IMAGES.get(base.os, ("", ""))
        if not owner:
            raise NotValid(f"no image for base {base.display}: name one with the constraint image-id")
        wanted = {
            "name": pattern.format(track=base.track, arch=arch),
            "architecture": {"amd64": "x86_64"}.get(arch, arch),
        }
        found = driver.list_images(ex_owner=owner, ex_filters=wanted)
    if not found:
        raise NotValid(f"no image for base {base.display} on {arch} in {driver.region_name}")
    return max(found, key=lambda item: str(item.extra.get("creation_date") or ""))


def network(driver: Any, vpc: str) -> str:
    """Return the id of the network: the named one, or the account's default.

    Raises:
        NotValid: The region has no usable network.
    """
    if vpc:
        return vpc
    found = driver.ex_list_networks(filters={"isDefault": "true"})
    if not found:
        raise NotValid("the account has no default VPC", hint="pushjuju model-config vpc-id=vpc-...")
    return str(found[0].id)


def subnet(driver: Any, vpc: str, zone: str, wanted: str = "") -> Any:
    """Return a subnet of a network in a zone: the default one, or the one that was asked for.

    Raises:
        ProviderError: The zone has no subnet; another zone may have one.
    """
    filters = {"vpc-id": vpc, **({"availability-zone": zone} if zone else {})}
    found = [item for item in driver.ex_list_subnets(filters=filters) if _is_subnet(item, wanted)]
    if not found:
        what = f"subnet {wanted}" if wanted else "subnet"
        raise ProviderError(f"no {what} in zone {zone} of {vpc}")
    return found[0]


def _is_subnet(item: Any, wanted: str) -> bool:
    return wanted in ("", item.id, item.name, item.extra.get("cidr_block"))


# --- security groups --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class Permission:
    """One ingress permission of a security group; `source` is a CIDR or the id of a group."""

    protocol: str
    first: int
    last: int
    source: str


def ensure_group(driver: Any, name: str, vpc: str, about: str, tags: Mapping[str, str]) -> str:
    """Return the id of a security group, made when it is not there."""
    params = {
        "Action": "CreateSecurityGroup",
        "GroupName": name,
        "GroupDescription": about,
        "VpcId": vpc,
        "TagSpecification.1.ResourceType": "security-group",
    }
    for number, (key, value) in enumerate(sorted(tags.items()), 1):
        head = f"TagSpecification.1.Tag.{number}"
        params |= {f"{head}.Key": key, f"{head}.Value": value}
    try:
        return _text(driver.connection.request(driver.path, params=params).object, "groupId")
    except Exception as error:
        if "InvalidGroup.Duplicate" not in str(error):
            raise
        return groups(driver, {"group-name": name, "vpc-id": vpc})[0]


def groups(driver: Any, filters: Mapping[str, str]) -> list[str]:
    """Return the ids of security groups."""
    return [str(item.id) for item in driver.ex_get_security_groups(filters=dict(filters))]


def tag(driver: Any, resource: str, tags: Mapping[str, str]) -> None:
    """Tag a resource; libcloud counts tags from 0, which not every server takes."""
    params = {"Action": "CreateTags", "ResourceId.1": resource}
    for number, (key, value) in enumerate(sorted(tags.items()), 1):
        params |= {f"Tag.{number}.Key": key, f"Tag.{number}.Value": value}
    driver.connection.request(driver.path, params=params)


def permissions(driver: Any, group: str) -> set[Permission]:
    """Return the ingress permissions of a security group."""
    params = {"Action": "DescribeSecurityGroups", "GroupId.1": group}
    root = driver.connection.request(driver.path, params=params).object
    found: set[Permission] = set()
    for item in _all(root, "ipPermissions/item"):
        protocol = _text(item, "ipProtocol")
        first, last = int(_text(item, "fromPort") or -1), int(_text(item, "toPort") or -1)
        sources = [_text(one, "cidrIp") for one in _all(item, "ipRanges/item")]
        sources += [_text(one, "cidrIpv6") for one in _all(item, "ipv6Ranges/item")]
        sources += [_text(one, "groupId") for one in _all(item, "groups/item")]
        found |= {Permission(protocol, first, last, source) for source in sources if source}
    return found


def set_permissions(driver: Any, group: str, wanted: Iterable[Permission]) -> None:
    """Let exactly these permissions be those of a security group."""
    now, then = permissions(driver, group), set(wanted)
    for action, changes in (
        ("AuthorizeSecurityGroupIngress", then - now),
        ("RevokeSecurityGroupIngress", now - then),
    ):
        if changes:
            params = {"Action": action, "GroupId": group, **_params(sorted(changes))}
            try:
                driver.connection.request(driver.path, params=params)
            except Exception as error:
                if "InvalidPermission." not in str(error):  # another process was faster
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


def _all(element: Element, path: str) -> list[Element]:
    steps = "/".join(f"{{{library(_DRIVER).NAMESPACE}}}{step}" for step in path.split("/"))
    return list(element.findall(f".//{steps}" if path.startswith("ipPermissions/") else steps))


def _text(element: Element, name: str) -> str:
    return str(element.findtext(f"{{{library(_DRIVER).NAMESPACE}}}{name}") or "")


# --- instances --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """All that one instance needs; `place` is a subnet."""

    name: str
    size: str
    image: Any
    zone: str
    place: Any
    groups: tuple[str, ...]
    tags: Mapping[str, str]
    user_data: str
    constraints: Constraints = field(default_factory=dict)


def run(driver: Any, order: Order) -> Any:
    """Start an instance and return its node; the same order again gives the same instance, unless it ended.

    EC2 answers with an instance that ended for a day after its end, so the next request is another one.

    Raises:
        NotValid: Too much user data.
        ProviderError: Very many instances of this order ended.
    """
    token = _token(f"{order.tags[MODEL_TAG]} {order.tags[NONCE_TAG]} {order.zone}")
    for _ in range(_MOST_ENDED):
        node = _create(driver, order, token)
        if str(node.extra.get("status") or "pending") in _ALIVE:
            return node
        token = _token(f"{token} {node.id}")
    raise ProviderError(f"{_MOST_ENDED} instances for {order.name} ended while they started")


def _token(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _create(driver: Any, order: Order, token: str) -> Any:
    if len(order.user_data.encode()) > MOST_USER_DATA:
        raise NotValid(f"the user data is larger than {MOST_USER_DATA} bytes")
    chosen, place = order.image, order.place
    size = library("compute.base").NodeSize(
        id=order.size, name=order.size, ram=0, disk=0, bandwidth=0, price=0, driver=driver
    )
    disk = max(int(order.constraints.get("root-disk") or 0), LEAST_ROOT_DISK)
    device = str(chosen.extra.get("root_device_name") or "/dev/sda1")
    return driver.create_node(
        name=order.name,
        size=size,
        image=chosen,
        ex_userdata=order.user_data,
        ex_security_group_ids=list(order.groups),
        ex_subnet=place,
        ex_assign_public_ip=True,
        ex_metadata=dict(order.tags),
        ex_clienttoken=token,
        ex_blockdevicemappings=[
            {
                "DeviceName": device,
                "Ebs": {
                    "VolumeSize": -(-disk // 1024),
                    "VolumeType": "gp3",
                    "DeleteOnTermination": "true",
                },
            }
        ],
    )


def nodes(driver: Any, filters: Mapping[str, Any]) -> list[Any]:
    """Return the instances that are not terminated and match."""
    return list(driver.list_nodes(ex_filters={**filters, "instance-state-name": _ALIVE}))


def instance(node: Any, types: Mapping[str, InstanceType]) -> Instance:
    """Return a node as the controller sees it."""
    tags = {str(key): str(value) for key, value in (node.extra.get("tags") or {}).items()}
    word = str(node.extra.get("status") or node.state)
    known = types.get(str(node.extra.get("instance_type")))
    addresses = [Address(value=value, scope="public") for value in node.public_ips]
    addresses += [Address(value=value) for value in node.private_ips]
    return Instance(
        id=str(node.id),
        status=_STATUS.get(word, InstanceStatus.UNKNOWN),
        message=word,
        addresses=tuple(addresses),
        hardware=Hardware(
            arch=known.arches[0] if known else "",
            cores=known.cores if known else None,
            mem=known.mem if known else None,
            availability_zone=str(node.extra.get("availability") or ""),
        ),
        display_name=str(node.name or ""),
        tags=tags,
        machine_id=tags.get(MACHINE_TAG, ""),
    )


def terminate(driver: Any, ids: Sequence[str]) -> None:
    """End instances."""
    if ids:
        params = {"Action": "TerminateInstances"}
        params |= {f"InstanceId.{number}": name for number, name in enumerate(ids, 1)}
        driver.connection.request(driver.path, params=params)
