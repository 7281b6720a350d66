"""The types of storage of libcloud's clouds, and the attributes of their pools. Data only.

Mirrors: juju provider/{ec2/ebs,openstack/cinder,gce/disks,azure/storage}.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pushjuju.core.storage import Kind, Scope
from pushjuju.plugins.api.clouds import Attr
from pushjuju.plugins.api.storage_types import StorageType

_SPEEDS = (
    "standard", "gp2", "gp3", "io1", "io2", "st1", "sc1",
    "magnetic", "ssd", "provisioned-iops", "optimized-hdd", "cold-storage",
)  # fmt: skip


def _volumes(name: str, summary: str, *attributes: Attr) -> StorageType:
    return StorageType(
        name=name,
        summary=summary,
        kinds=frozenset({Kind.BLOCK}),
        scope=Scope.MODEL,
        releasable=True,
        default=True,
        attributes=attributes,
    )


_AZURE_DISKS = replace(
    _volumes(
        "azure",
        "managed disks, in the zone of their machine",
        Attr(name="account-type", summary="Standard_LRS (default), StandardSSD_LRS, Premium_LRS..."),
    ),
    pools={"azure-premium": {"account-type": "Premium_LRS"}},
)
_VSPHERE_DISKS = StorageType(
    name="vsphere",
    summary="disks that end with their machine; needs vCenter 8.0 Update 3",
    kinds=frozenset({Kind.BLOCK}),
    scope=Scope.MACHINE,
)
_EBS = replace(
    _volumes(
        "ebs",
        "volumes of EC2, in the zone of their machine",
        Attr(name="volume-type", summary="gp2 (default), gp3, io1, io2, st1, sc1, standard", choices=_SPEEDS),
        Attr(name="iops", summary="I/O operations per second and GiB, for io1, io2 and gp3", type="int"),
        Attr(name="throughput", summary="MiB per second, for gp3", type="int"),
        Attr(name="encrypted", summary="whether the volume is encrypted", type="bool"),
        Attr(name="kms-key-id", summary="the key of an encrypted volume; the account's own when not set"),
    ),
    pools={"ebs-ssd": {"volume-type": "ssd"}},
)


STORAGE: Mapping[str, tuple[StorageType, ...]] = {
    "ec2": (_EBS,),
    "azure": (_AZURE_DISKS,),
    "vsphere": (_VSPHERE_DISKS,),
    "digitalocean": (_volumes("digitalocean", "volumes of DigitalOcean"),),
    "linode": (_volumes("linode", "volumes of Linode"),),
    "vultr": (
        _volumes(
            "vultr",
            "block storage",
            Attr(
                name="block-type",
                summary="high_perf (default) or storage_opt",
                choices=("high_perf", "storage_opt"),
            ),
        ),
    ),
    "scaleway": (
        _volumes(
            "scaleway",
            "Block Storage",
            Attr(name="iops", summary="5000 (default) or 15000", choices=("5000", "15000")),
        ),
    ),
    "cloudstack": (
        _volumes(
            "cloudstack",
            "data disks of CloudStack",
            Attr(name="disk-offering", summary="a disk offering, by name or id"),
        ),
    ),
    "gce": (_volumes("gce", "persistent disks", Attr(name="disk-type", summary="such as pd-ssd")),),
    "openstack": (
        _volumes("cinder", "volumes of OpenStack", Attr(name="volume-type", summary="a type of Cinder's")),
    ),
}
"""Type of cloud -> the types of storage that its adapter provides."""
