"""Reads the machines of a Terraform (or OpenTofu) state, or of the output of `terraform show -json`.

The attributes with the address for logins are those in the documentation of each provider.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pushjuju.services.requests.inventories import ansible
from pushjuju.services.requests.inventories.listed import Faults, Listed

_DEEPEST = 30  # levels of nested modules
_MOST_KINDS = 10  # types that one message lists
_PLAIN = ("public_ip", "private_ip")
# Type -> paths of attributes with an address; the first that is not empty counts, also within a list.
MACHINES: Mapping[str, Sequence[str]] = {
    "aws_instance": ("public_ip", "ipv6_addresses", "private_ip"),
    "aws_spot_instance_request": ("public_ip", "private_ip"),
    "aws_lightsail_instance": ("public_ip_address", "private_ip_address"),
    "alicloud_instance": _PLAIN,
    "azurerm_linux_virtual_machine": ("public_ip_address", "private_ip_address"),
    "cloudscale_server": ("public_ipv4_address", "private_ipv4_address", "public_ipv6_address"),
    "cloudstack_instance": ("ip_address",),
    "digitalocean_droplet": ("ipv4_address", "ipv6_address", "ipv4_address_private"),
    "equinix_metal_device": ("access_public_ipv4", "access_private_ipv4", "access_public_ipv6"),
    "exoscale_compute_instance": ("public_ip_address", "ipv6_address"),
    "google_compute_instance": ("network_interface.access_config.nat_ip", "network_interface.network_ip"),
    "hcloud_server": ("ipv4_address", "ipv6_address", "network.ip"),
    "ibm_is_instance": ("primary_network_interface.primary_ipv4_address",),
    "incus_instance": ("ipv4_address", "ipv6_address"),
    "libvirt_domain": ("network_interface.addresses",),
    "linode_instance": ("ip_address", "private_ip_address"),
    "lxd_container": ("ipv4_address", "ipv6_address"),
    "lxd_instance": ("ipv4_address", "ipv6_address"),
    "maas_instance": ("ip_addresses",),
    "metal_device": ("access_public_ipv4", "access_private_ipv4"),
    "multipass_instance": ("ipv4",),
    "oci_core_instance": _PLAIN,
    "opennebula_virtual_machine": ("ip", "nic.computed_ip"),
    "openstack_compute_instance_v2": ("access_ip_v4", "access_ip_v6", "network.fixed_ip_v4"),
    "outscale_vm": _PLAIN,
    "packet_device": ("access_public_ipv4", "access_private_ipv4"),
    "proxmox_lxc": ("network.ip", "network.ip_address"),
    "proxmox_vm_qemu": ("default_ipv4_address", "ssh_host"),
    "proxmox_virtual_environment_vm": ("ipv4_addresses",),
    "scaleway_instance_server": ("public_ip", "public_ips.address", "private_ip", "private_ips.address"),
    "upcloud_server": ("network_interface.ip_address",),
    "vagrant_vm": ("ssh_config.host",),
    "vsphere_virtual_machine": ("default_ip_address", "guest_ip_addresses"),
    "vultr_bare_metal_server": ("main_ip", "v6_main_ip"),
    "vultr_instance": ("main_ip", "v6_main_ip", "internal_ip"),
    "yandex_compute_instance": ("network_interface.nat_ip_address", "network_interface.ip_address"),
}
_USERS = {"azurerm_linux_virtual_machine": "admin_username", "proxmox_vm_qemu": "ssh_user"}


def hosts(text: str, faults: Faults) -> Iterator[Listed]:
    """Yield the machines of a state; those without an address are left out."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        faults.add("not JSON")
        return
    if isinstance(document, dict) and "_meta" in document:
        yield from ansible.from_document(document, faults)
        return
    found = list(_resources(document, faults))
    if not found:
        _tell_others(document, faults)
    for kind, name, values in found:
        address = next(filter(None, (_at(values, path.split(".")) for path in MACHINES[kind])), "")
        if address:
            user = values.get(_USERS.get(kind, ""))
            yield from faults.host(name, address, user=user if isinstance(user, str) else None)
        else:
            faults.notes.append(f"{kind} {name} is left out: it has no address")


def _tell_others(document: Any, faults: Faults) -> None:
    """Note which types of resources a state has, when none of them is a known type of machine."""
    resources = document.get("resources") if isinstance(document, dict) else None
    named = (
        [item.get("type") for item in resources if isinstance(item, dict)]
        if isinstance(resources, list)
        else []
    )
    kinds = sorted({kind for kind in named if isinstance(kind, str) and kind.isidentifier()})
    if kinds:
        more = f" and {len(kinds) - _MOST_KINDS} more" if len(kinds) > _MOST_KINDS else ""
        faults.notes.append(f"no machine of a known type, only {', '.join(kinds[:_MOST_KINDS])}{more}")


def _resources(document: Any, faults: Faults) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield (type, name, attributes) of all machines in a state."""
    if not isinstance(document, dict):
        faults.add("not a Terraform state: it has no list of resources")
    elif isinstance(document.get("values"), dict):
        yield from _of_module(document["values"].get("root_module"), 0)
    elif "encrypted_data" in document:
        faults.add("an encrypted state: `tofu state pull` prints its content")
    elif "backend" in document and not isinstance(document.get("resources"), list):
        faults.add("only names the backend of the state: `terraform state pull` prints the state")
    elif isinstance(document.get("modules"), list):
        faults.add("a state of Terraform before 0.12: `terraform state pull` with a newer one rewrites it")
    elif isinstance(document.get("resources"), list):
        yield from _of_state(document["resources"])
    else:
        faults.add("not a Terraform state: it has no list of resources")


def _of_state(resources: Sequence[Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for resource in resources:
        if not _is_machine(resource):
            continue
        found = resource.get("instances")
        for number, instance in enumerate(found if isinstance(found, list) else ()):
            values = instance.get("attributes") if isinstance(instance, dict) else None
            if isinstance(values, dict) and not instance.get("deposed"):  # replaced, and soon destroyed
                key = instance.get("index_key", number)
                place = f"{resource['module']}." if isinstance(resource.get("module"), str) else ""
                yield resource["type"], f"{place}{resource.get('name')}[{json.dumps(key)}]", values


def _of_module(module: Any, depth: int) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    if not isinstance(module, dict) or depth > _DEEPEST:
        return
    for resource in module.get("resources") or ():
        if _is_machine(resource) and isinstance(resource.get("values"), dict):
            yield resource["type"], str(resource.get("address") or resource.get("name")), resource["values"]
    for child in module.get("child_modules") or ():
        yield from _of_module(child, depth + 1)


def _is_machine(resource: Any) -> bool:
    return (
        isinstance(resource, dict)
        and resource.get("mode", "managed") == "managed"
        and resource.get("type") in MACHINES
    )


def _at(value: Any, path: Sequence[str]) -> str:
    """Return the first address at a path, or an empty text; lists are searched in order."""
    if isinstance(value, list):
        return next(filter(None, (_at(item, path) for item in value)), "")
    if path:
        return _at(value.get(path[0]), path[1:]) if isinstance(value, dict) else ""
    text = value.partition("/")[0] if isinstance(value, str) else ""
    return "" if text in ("127.0.0.1", "::1", "dhcp", "auto") else text
