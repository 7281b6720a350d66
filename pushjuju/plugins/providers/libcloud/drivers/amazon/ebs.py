"""Volumes of EC2 (EBS), and the attributes of their pools. Blocking.

A volume gets its tags in the request that makes it: the model, and the item (`uuid`) for which it was made.
Later calls find the volume by these tags. Mirrors: juju provider/ec2/ebs.go (3.6)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

from pushjuju.core.errors import Conflict, NotFound, NotValid, ProviderError
from pushjuju.plugins.api.storage_types import StorageItem, StorageSeen
from pushjuju.plugins.providers.libcloud.drivers.adapter import MODEL_TAG, Adapter, HasVolumes, Seen, Volume
from pushjuju.plugins.providers.libcloud.drivers.amazon.ec2_api import ask, every, nodes, tag, tags_as, text

STORAGE_TAG = "pushjuju-storage"
_GIB = 1024  # MiB
_ALIASES = {
    "magnetic": "standard",
    "ssd": "gp2",
    "provisioned-iops": "io1",
    "optimized-hdd": "st1",
    "cold-storage": "sc1",
}
# type -> least and greatest size in GiB
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
_LETTERS = "fghijklmnop"  # the letters that Amazon recommends for volumes


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """The instance that has a volume; `state` is EC2's word: attaching, attached, detaching, busy."""

    instance: str
    device: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A volume; `size` in GiB; `state` is EC2's word: creating, available, in-use, deleting, error."""

    id: str
    size: int
    state: str
    zone: str
    tags: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()


class Ebs(Adapter, HasVolumes):
    """The part of the adapter that works with volumes."""

    def volumes(self, driver: Any) -> Sequence[Volume]:
        """Return the volumes of the model, without volumes whose creation failed."""
        found = disks(driver, {f"tag:{MODEL_TAG}": self.site.model.uuid})
        return _shown(driver, [item for item in found if item.state != "error"])

    def volume(self, driver: Any, name: str) -> Volume | None:
        return next(iter(_shown(driver, disks(driver, {}, [name]))), None)

    def make_volume(self, driver: Any, item: StorageItem, holder: Seen | None) -> Volume:
        """Make a volume with its tags in one request; the same item gives the same volume again."""
        params = wanted(item.size, item.attributes)
        if item.instance_id and holder is None:
            raise NotFound(f"instance {item.instance_id} not found")
        zone = holder.zone if holder else next((name for name, usable in self.zones(driver) if usable), "")
        model = self.site.model.uuid
        mine = {MODEL_TAG: model, STORAGE_TAG: item.uuid}
        for made in disks(driver, {f"tag:{key}": value for key, value in mine.items()}):
            if made.state == "error":
                delete(driver, made.id)
        named = {"Name": f"juju-{model[-6:]}-volume-{item.id.replace('/', '-')}"}
        params |= {
            "AvailabilityZone": zone,
            "ClientToken": hashlib.sha256(f"{item.uuid} {zone}".encode()).hexdigest(),
            "TagSpecification.1.ResourceType": "volume",
            **tags_as("TagSpecification.1.Tag", {**item.tags, **named, **mine}),
        }
        made = _disk(ask(driver, "CreateVolume", params))
        if not made.id:
            raise ProviderError("the cloud made a volume, but its answer has no id")
        return _shown(driver, [made])[0]

    def attach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Request the attachment of a volume, under the first free device name."""
        (node,) = nodes(driver, {"instance-id": instance}) or (None,)
        if node is None:
            raise NotFound(f"instance {instance} not found")
        zone = str(node.extra.get("availability") or "")
        if zone != volume.zone:
            raise Conflict(
                f"volume {volume.id} is in zone {volume.zone}, the machine is in {zone}",
                hint=f"pushjuju add-unit --to zone={volume.zone} --attach-storage ...",
            )
        mapped = node.extra.get("block_device_mapping") or ()
        device = free_device({str(item.get("device_name")) for item in mapped})
        attach(driver, volume.id, instance, device)

    def detach_volume(self, driver: Any, volume: Volume, instance: str) -> None:
        """Request the detachment of a volume, unless it is being detached."""
        if not any(one.state in ("attached", "attaching") for one in volume.raw.attachments):
            return
        try:
            ask(driver, "DetachVolume", {"VolumeId": volume.id, "InstanceId": instance})
        except Exception as error:
            if "IncorrectState" not in str(error):
                raise

    def delete_volume(self, driver: Any, volume: Volume) -> None:
        """Delete a volume with its data."""
        delete(driver, volume.id)

    def own_volume(self, driver: Any, volume: Volume, model: str) -> None:
        """Set the tag of the model, or remove all tags of the model and its storage."""
        marks = sorted(name for name in volume.raw.tags if name.startswith(("juju-", "pushjuju-")))
        if model:
            tag(driver, volume.id, {MODEL_TAG: model})
        elif marks:
            keys = {f"Tag.{number}.Key": name for number, name in enumerate(marks, 1)}
            ask(driver, "DeleteTags", {"ResourceId.1": volume.id, **keys})

    def see_volume(self, driver: Any, volume: Volume, instance: str) -> StorageSeen:  # noqa: ARG002
        """Return how a machine finds a volume: NVMe by its serial number, Xen by its device name."""
        serial, device = volume.id.replace("-", ""), volume.raw.attachments[0].device
        name = device.removeprefix("/dev/").removeprefix("sd").removeprefix("xvd")
        link = f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{serial}"
        return StorageSeen(serial=serial, paths=(link, f"/dev/xvd{name}", f"/dev/sd{name}"))


def _shown(driver: Any, found: Sequence[Disk]) -> list[Volume]:
    """Return volumes in the adapter's form; a volume of an ended instance counts as free."""
    named = sorted({one.instance for disk in found for one in disk.attachments})
    alive = {str(node.id) for node in nodes(driver, {"instance-id": named})} if named else set()
    return [_volume(disk, alive) for disk in found]


def _volume(disk: Disk, alive: set[str]) -> Volume:
    held = [one for one in disk.attachments if one.instance in alive]
    rests = len(held) == len(disk.attachments) and all(one.state == "attached" for one in held)
    return Volume(
        id=disk.id,
        size=disk.size * _GIB,
        uuid=disk.tags.get(STORAGE_TAG, ""),
        model=disk.tags.get(MODEL_TAG, ""),
        holders=tuple(one.instance for one in held),
        ready=disk.state in ("available", "in-use") and rests,
        failed="the cloud says: error" if disk.state == "error" else "",
        zone=disk.zone,
        raw=disk,
    )


def wanted(size: int, attributes: Mapping[str, Any]) -> dict[str, str]:
    """Return the request parameters of a new volume, and check them against EC2's limits.

    Args:
        size: The size in MiB, rounded up to whole GiB.
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


def disks(driver: Any, filters: Mapping[str, str], ids: Sequence[str] = ()) -> list[Disk]:
    """Return the volumes that match the filters, without those that are being deleted."""
    params = {f"VolumeId.{number}": name for number, name in enumerate(ids, 1)}
    for number, (key, value) in enumerate(sorted(filters.items()), 1):
        params |= {f"Filter.{number}.Name": key, f"Filter.{number}.Value.1": value}
    found = [_disk(item) for item in every(ask(driver, "DescribeVolumes", params), "volumeSet/item")]
    return [item for item in found if item.state not in ("deleting", "deleted")]


def _disk(item: Element) -> Disk:
    return Disk(
        id=text(item, "volumeId"),
        size=int(text(item, "size") or 0),
        state=text(item, "status"),
        zone=text(item, "availabilityZone"),
        tags={text(one, "key"): text(one, "value") for one in every(item, "tagSet/item")},
        attachments=tuple(
            Attachment(
                instance=text(one, "instanceId"), device=text(one, "device"), state=text(one, "status")
            )
            for one in every(item, "attachmentSet/item")
        ),
    )


def attach(driver: Any, volume: str, instance: str, device: str) -> None:
    """Request the attachment of a volume."""
    ask(driver, "AttachVolume", {"VolumeId": volume, "InstanceId": instance, "Device": device})


def delete(driver: Any, volume: str) -> None:
    """Delete a volume with its data."""
    ask(driver, "DeleteVolume", {"VolumeId": volume})


def free_device(taken: set[str]) -> str:
    """Return the first free device name."""
    ends = {name[-1:] for name in taken if name.startswith(("/dev/sd", "/dev/xvd"))}
    for letter in _LETTERS:
        if letter not in ends:
            return f"/dev/sd{letter}"
    raise ProviderError(f"the instance has {len(_LETTERS)} volumes already, which is the most")
