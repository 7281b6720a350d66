"""The adapters of libcloud's drivers: a table with the module and class for each type of cloud.

To add a cloud: write a module with an `Adapter` (see the contract in `drivers/adapter.py`), add it to
ADAPTERS, describe the type in `kinds.py` and its storage in `storagekinds.py`. All clouds share the code that
starts, finds, adopts and ends machines (`cloudprovider.py`), and the code for volumes (`volumes.py`).
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
"""Type of cloud -> module of this package and name of the adapter's class."""


def open_adapter(site: Site) -> Adapter:
    """Return the adapter for a type of cloud in the table; send no request."""
    module, _, name = ADAPTERS[site.cloud.type].rpartition(".")
    found: type[Adapter] = getattr(import_module(f"{__name__}.{module}"), name)
    return found(site)
