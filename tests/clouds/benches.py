"""Every cloud with an adapter on its fake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.clouds import (
    test_azure,
    test_cloudstack,
    test_digitalocean,
    test_gce,
    test_linode,
    test_openstack,
    test_scaleway,
    test_vsphere,
    test_vultr,
)
from tests.clouds.cases import CloudBench
from tests.clouds.fake_azure import FakeAzure
from tests.clouds.fake_cloudstack import FakeCloudStack
from tests.clouds.fake_digitalocean import FakeDigitalOcean
from tests.clouds.fake_gce import FakeGce
from tests.clouds.fake_linode import FakeLinode
from tests.clouds.fake_openstack import FakeOpenStack
from tests.clouds.fake_scaleway import FakeScaleway
from tests.clouds.fake_vultr import FakeVultr

BENCHES: dict[str, tuple[Any, Any]] = {  # cloud -> module with its bench, fake
    "azure": (test_azure, FakeAzure),
    "cloudstack": (test_cloudstack, FakeCloudStack),
    "digitalocean": (test_digitalocean, FakeDigitalOcean),
    "gce": (test_gce, FakeGce),
    "linode": (test_linode, FakeLinode),
    "openstack": (test_openstack, FakeOpenStack),
    "scaleway": (test_scaleway, FakeScaleway),
    "vsphere": (test_vsphere, test_vsphere.VsphereFaults),
    "vultr": (test_vultr, FakeVultr),
}


def bench_of(cloud: str, folder: Path) -> CloudBench:
    """Return a new bench; its fake is to be closed."""
    module, fake = BENCHES[cloud]
    found: CloudBench = module.make(fake(), folder)
    return found
