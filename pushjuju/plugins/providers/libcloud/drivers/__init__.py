"""Drivers of libcloud that are providers here: a table of adapters, one module each.

To add a cloud: write a module with an `Adapter` (`drivers/adapter.py` tells what it must do), name it in
ADAPTERS, and describe its type in `kinds.py`, its storage in `storagekinds.py`. Starting, finding, adopting
and ending machines is common to all (`cloudprovider.py`), and so is the life of volumes (`volumes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pushjuju.plugins.providers.libcloud.drivers.adapter import Adapter, Site

ADAPTERS: Mapping[str, str] = MappingProxyType(
    {
        "azure": "azure.Azure",
        "cloudstack": "cloudstack.CloudStack",
        "digitalocean": "digitalocean.DigitalOcean",
        "ec2": "amazon.ec2.Ec2",
        "gce": "google.gce.Gce",
        "linode": "linode.Linode",
        "openstack": "openstack.OpenStack",
        "scaleway": "scaleway.Scaleway",
        "vsphere": "vsphere.Vsphere",
        "vultr": "vultr.Vultr",
    }
)
"""Type of cloud -> module of this package and its class."""


def open_adapter(site: Site) -> Adapter:
    """Return the adapter of a cloud's type, which must be in the table; makes no request."""
    module, _, name = ADAPTERS[site.cloud.type].rpartition(".")
    found: type[Adapter] = getattr(import_module(f"{__name__}.{module}"), name)
    return found(site)
