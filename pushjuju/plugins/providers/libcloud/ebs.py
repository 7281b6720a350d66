"""Volumes of EC2: blocking functions of one driver, and what a pool may say.

A volume is known by its tags, which it has from the request that makes it: the model, and the item (`uuid`)
that it was made for. Mirrors: juju provider/ec2/ebs.go (3.6)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.api.storage_types import StorageItem
from pushjuju.plugins.providers.libcloud.ec2 import MODEL_TAG, tag

STORAGE_TAG = "pushjuju-storage"
_GIB = 1024  # MiB
_ALIASES = {
    "magnetic": "standard",
    "ssd": "gp2",
    "provisioned-iops": "io1",
    "optimized-hdd": "st1",
    "cold-storage": "sc1",
}
# type -> GiB at least and at most
_SIZES = {
    "standard": (1, 1024),
    "gp2": (1, 16384),
    "gp3": (1, 16384),
    "io1": (4, 16384),
    "io2": (4, 16384),
    "st1": (125, 16384),
    "sc1": (125, 16384),
}
_MOST_RATIO = {"io1": 50, "io2": 500, "gp3": 500}  # IOPS per GiB
_MOST_IOPS = {"io1": 64000, "io2": 64000, "gp3": 16000}
_LETTERS = "fghijklmnop"  # what Amazon recommends for volumes


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Where a volume is; `state` in EC2's words: attaching, attached, detaching, busy."""

    instance: str
    device: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A volume; `size` in GiB, `state` in EC2's words: creating, available, in-use, deleting, error."""

    id: str
    size: int
    state: str
    zone: str
    tags: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()


def wanted(size: int, attributes: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of a volume.

    Args:
        size: MiB; the volume has whole GiB.
        attributes: The attributes of the pool.

    Raises:
        NotValid: The attributes do not go together; the message is Juju's where Juju has one.
    """
    said = str(attributes.get("volume-type") or "gp2")
    kind, gib = _ALIASES.get(said, said), -(-size // _GIB)
    if kind not in _SIZES:
        raise NotValid(f'volume-type: expected one of {", ".join(_SIZES)}, got "{said}"')
    iops, throughput = (_number(attributes, name) for name in ("iops", "throughput"))
    _check_speed(said, kind, iops, throughput)
    least, most = _SIZES[kind]
    if gib < least:
        raise NotValid(f"volume size is {gib} GiB, must be at least {least} GiB")
    if gib > most:
        raise NotValid(f"volume size {gib} GiB exceeds the maximum of {most} GiB")
    found = {"Size": str(gib), "VolumeType": kind}
    if iops:
        found["Iops"] = str(min(iops * gib, _MOST_IOPS[kind]))
    if throughput:
        found["Throughput"] = str(throughput)
    if _truth(attributes, "encrypted"):
        found["Encrypted"] = "true"
        if attributes.get("kms-key-id"):
            found["KmsKeyId"] = str(attributes["kms-key-id"])
    return found


def _check_speed(said: str, kind: str, iops: int, throughput: int) -> None:
    if iops and kind not in _MOST_IOPS:
        raise NotValid(f'IOPS specified, but volume type is "{said}"')
    if not iops and kind in ("io1", "io2"):
        raise NotValid(f'volume type is "{kind}", IOPS unspecified or zero')
    if iops > _MOST_RATIO.get(kind, 0) and iops:
        raise NotValid(f"specified IOPS ratio is {iops}/GiB, maximum is {_MOST_RATIO[kind]}/GiB")
    if throughput and kind != "gp3":
        raise NotValid(f'"throughput" cannot be specified when volume type is "{said}"')


def _number(attributes: Mapping[str, Any], name: str) -> int:
    text = str(attributes.get(name) or 0)
    if not text.isascii() or not text.isdigit():
        raise NotValid(f'{name}: expected a number, got "{text}"')
    return int(text)


def _truth(attributes: Mapping[str, Any], name: str) -> bool:
    text = str(attributes.get(name) or "false").lower()
    if text not in ("true", "false"):
        raise NotValid(f'{name}: expected true or false, got "{text}"')
    return text == "true"


def volumes(driver: Any, filters: Mapping[str, str], ids: Sequence[str] = ()) -> list[Volume]:
    """Return the volumes that match; volumes that are being deleted do not count.

    Raises:
        Exception: The library's, `InvalidVolume.NotFound` for an id that is not there.
    """
    params = {"Action": "DescribeVolumes"}
    params |= {f"VolumeId.{number}": name for number, name in enumerate(ids, 1)}
    for number, (key, value) in enumerate(sorted(filters.items()), 1):
        params |= {f"Filter.{number}.Name": key, f"Filter.{number}.Value.1": value}
    root = driver.connection.request(driver.path, params=params).object
    found = [_volume(item) for item in root.findall(_path(root, "volumeSet/item"))]
    return [item for item in found if item.state not in ("deleting", "deleted")]


def _path(element: Any, path: str) -> str:
    space = element.tag.partition("}")[0] + "}"
    return "/".join(f"{space}{step}" for step in path.split("/"))


def _volume(item: Any) -> Volume:
    def text(element: Any, name: str) -> str:
        return str(element.findtext(_path(element, name)) or "")

    return Volume(
        id=text(item, "volumeId"),
        size=int(text(item, "size") or 0),
        state=text(item, "status"),
        zone=text(item, "availabilityZone"),
        tags={text(one, "key"): text(one, "value") for one in item.findall(_path(item, "tagSet/item"))},
        attachments=tuple(
            Attachment(
                instance=text(one, "instanceId"), device=text(one, "device"), state=text(one, "status")
            )
            for one in item.findall(_path(item, "attachmentSet/item"))
        ),
    )


def create(driver: Any, item: StorageItem, zone: str, tags: Mapping[str, str]) -> Volume:
    """Make a volume with its tags, in one request; the same item again gives the same volume.

    Raises:
        NotValid: The pool asks for what does not go together.
        ProviderError: The answer has no volume in it.
    """
    params = {
        "Action": "CreateVolume",
        "AvailabilityZone": zone,
        "ClientToken": hashlib.sha256(f"{item.uuid} {zone}".encode()).hexdigest(),
        "TagSpecification.1.ResourceType": "volume",
        **wanted(item.size, item.attributes),
    }
    for number, (key, value) in enumerate(sorted(tags.items()), 1):
        params |= {
            f"TagSpecification.1.Tag.{number}.Key": key,
            f"TagSpecification.1.Tag.{number}.Value": value,
        }
    made = _volume(driver.connection.request(driver.path, params=params).object)
    if not made.id:
        raise ProviderError("the cloud made a volume and did not name it")
    return made


def attach(driver: Any, volume: str, instance: str, device: str) -> None:
    """Ask for a volume to be attached."""
    params = {"Action": "AttachVolume", "VolumeId": volume, "InstanceId": instance, "Device": device}
    driver.connection.request(driver.path, params=params)


def detach(driver: Any, volume: str, instance: str) -> None:
    """Ask for a volume to be detached."""
    params = {"Action": "DetachVolume", "VolumeId": volume, "InstanceId": instance}
    driver.connection.request(driver.path, params=params)


def delete(driver: Any, volume: str) -> None:
    """Delete a volume with its data."""
    driver.connection.request(driver.path, params={"Action": "DeleteVolume", "VolumeId": volume})


def untag(driver: Any, volume: str, keys: Sequence[str]) -> None:
    """Take tags from a volume."""
    params = {"Action": "DeleteTags", "ResourceId.1": volume}
    params |= {f"Tag.{number}.Key": key for number, key in enumerate(keys, 1)}
    driver.connection.request(driver.path, params=params)


def claim(driver: Any, volume: str, model: str) -> None:
    """Note on a volume that it is a model's."""
    tag(driver, volume, {MODEL_TAG: model})


def devices(driver: Any, instance: str) -> set[str]:
    """Return the device names that an instance has, in the cloud's words."""
    (node,) = driver.list_nodes(ex_node_ids=[instance]) or (None,)
    mapped = node.extra.get("block_device_mapping") if node is not None else None
    return {str(item.get("device_name")) for item in mapped or ()}


def free_device(taken: set[str]) -> str:
    """Return the first device name that is not taken.

    Raises:
        ProviderError: The instance has no free device name.
    """
    ends = {name[-1:] for name in taken if name.startswith(("/dev/sd", "/dev/xvd"))}
    for letter in _LETTERS:
        if letter not in ends:
            return f"/dev/sd{letter}"
    raise ProviderError(f"the instance has {len(_LETTERS)} volumes already, which is the most")
