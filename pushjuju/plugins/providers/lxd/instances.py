"""Documents of LXD: makes requests for instances, and reads the instances in answers. Pure.

Mirrors: juju provider/lxd/environ_broker.go, container/lxd/container.go (3.6)
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pushjuju.core.base import Base
from pushjuju.core.constraints import juju_arch
from pushjuju.core.errors import ProviderError
from pushjuju.core.status import InstanceStatus
from pushjuju.core.values import regex
from pushjuju.plugins.api.providers import Address, Hardware, Instance, ModelInfo, StartRequest

MODEL_KEY, MACHINE_KEY = "user.juju-model-uuid", "user.pushjuju-machine"
NONCE_KEY, HOST_KEYS_KEY = "user.pushjuju-nonce", "user.pushjuju-host-keys"
VM, CONTAINER = "virtual-machine", "container"
STREAMS = "https://cloud-images.ubuntu.com"
_STATUS = {
    "Starting": InstanceStatus.ALLOCATING,
    "Started": InstanceStatus.ALLOCATING,
    "Running": InstanceStatus.RUNNING,
    "Stopped": InstanceStatus.STOPPED,
}
_SIZE = regex(r"([0-9]+)\s*(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)?$")
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def profile_name(model: ModelInfo) -> str:
    """Return the name of the model's profile; models with the same name get different profiles."""
    return f"juju-{model.name}-{model.uuid[-6:]}"


def profile(model: ModelInfo) -> dict[str, object]:
    """Return the document of the model's profile."""
    config = {"boot.autostart": "true", "security.nesting": "true"}
    return {
        "name": profile_name(model),
        "description": f"model {model.name}",
        "config": config,
        "devices": {},
    }


def of_model(listed: Iterable[Mapping[str, Any]], model_uuid: str) -> list[Mapping[str, Any]]:
    """Return the instances of a model.

    When a cluster member does not answer, LXD only lists the names of its instances. These are found by name,
    and marked as `lost`, so that they do not count as deleted.
    """
    start = f"juju-{model_uuid[-6:]}-"
    found: list[Mapping[str, Any]] = []
    for item in listed:
        name, config = str(item["name"]), item.get("config")
        if config is None and name.startswith(start):
            machine = name.removeprefix(start).replace("-", "/")
            found.append({**item, "config": {MACHINE_KEY: machine}, "lost": True})
        elif config is not None and config.get(MODEL_KEY) == model_uuid:
            found.append(item)
    return found


def lost(document: Mapping[str, Any]) -> str:
    """Return why an instance cannot be reached or changed; empty when it can."""
    return f"cluster member {document['location']} does not answer" if document.get("lost") else ""


def require_reached(document: Mapping[str, Any]) -> None:
    """Raise ProviderError when an instance cannot be reached."""
    if reason := lost(document):
        raise ProviderError(f"instance {document['name']} is not reached: {reason}", retryable=True)


def is_vm(request: StartRequest) -> bool:
    """Return True when the constraints ask for a virtual machine."""
    return request.constraints.get("virt-type") == VM


def aliases(base: Base, arch: str, *, vm: bool) -> list[str]:
    """Return the local aliases of a base's image. Mirrors: juju container/lxd/image.go."""
    name = f"juju/{base.os}@{base.track}/{arch}"
    return [f"{name}/vm"] if vm else [name]


def order(
    request: StartRequest,
    *,
    model: ModelInfo,
    source: Mapping[str, Any],
    root: Mapping[str, str],
    user_data: str,
) -> dict[str, object]:
    """Return the document of a request that makes an instance.

    Args:
        source: Where LXD finds the image.
        root: The root disk of the default profile; `root-disk` and `root-disk-source` override its values.
    """
    wanted = request.constraints
    tags = {f"user.{key}": value for key, value in request.tags.items() if key.startswith("juju-")}
    config = {
        **tags,
        MODEL_KEY: model.uuid,
        MACHINE_KEY: request.machine_id,
        NONCE_KEY: request.nonce,
        HOST_KEYS_KEY: "\n".join(request.host_keys),
    }
    if user_data:
        config["user.user-data"] = user_data
    if wanted.get("cores"):
        config["limits.cpu"] = str(wanted["cores"])
    if wanted.get("mem"):
        config["limits.memory"] = f"{wanted['mem']}MiB"
    devices = {}
    if wanted.get("root-disk") or wanted.get("root-disk-source"):
        disk = {"type": "disk", "path": "/", "pool": "default", **root}
        if wanted.get("root-disk"):
            disk["size"] = f"{wanted['root-disk']}MiB"
        if wanted.get("root-disk-source"):
            disk["pool"] = str(wanted["root-disk-source"])
        devices["root"] = disk
    return {
        "name": request.hostname or f"juju-{model.uuid[-6:]}-{request.machine_id.replace('/', '-')}",
        "type": VM if is_vm(request) else CONTAINER,
        "source": dict(source),
        "profiles": ["default", profile_name(model), *(item.name for item in request.profiles)],
        "config": config,
        "devices": devices,
        **({"instance_type": str(wanted["instance-type"])} if wanted.get("instance-type") else {}),
    }


def host_keys(document: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the host keys with which an instance was made, or None when they are unknown."""
    text = str(document["config"].get(HOST_KEYS_KEY) or "")
    return tuple(text.splitlines()) or None


def addresses(document: Mapping[str, Any], state: Mapping[str, Any]) -> tuple[Address, ...]:
    """Return the addresses of an instance's network interfaces, IPv4 first.

    The instance itself reports them: bridges inside the instance are left out, because they cannot be reached
    from outside, and so are texts that are not addresses.
    """
    config = {**(document.get("expanded_config") or {}), **document["config"]}
    own = {value for key, value in config.items() if re.fullmatch(r"volatile\..+\.hwaddr", key)}
    found = []
    for card in (state.get("network") or {}).values():
        if card.get("hwaddr") not in own:
            continue
        for item in card.get("addresses") or ():
            try:
                seen = ipaddress.ip_interface(f"{item.get('address')}/{item.get('netmask')}")
            except ValueError:
                continue
            if item.get("scope") == "global" and not (seen.ip.is_loopback or seen.ip.is_link_local):
                kind = f"ipv{seen.version}"
                found.append(Address(value=str(seen.ip), type=kind, cidr=str(seen.network)))
    return tuple(sorted(found, key=lambda address: address.type))


def mebibytes(text: str) -> int | None:
    """Return a size in LXD's notation as MiB, or None for a percentage or an empty text."""
    found = _SIZE.match(text.strip())
    return int(found[1]) * _UNITS[found[2] or ""] // 2**20 if found else None


def instance(document: Mapping[str, Any], state: Mapping[str, Any], *, server: str) -> Instance:
    """Return an instance in the controller's form; `server` is the name of a server without a cluster."""
    config, word = document["config"], str(document.get("status") or "")
    limits = {**config, **(document.get("expanded_config") or {})}
    cores, place = str(limits.get("limits.cpu") or ""), str(document.get("location") or "none")
    root = (document.get("expanded_devices") or {}).get("root") or {}
    return Instance(
        id=str(document["name"]),
        status=_STATUS.get(word, InstanceStatus.UNKNOWN),
        message=lost(document) or word,
        addresses=addresses(document, state),
        hardware=Hardware(
            arch=juju_arch(str(document.get("architecture") or "")),
            cores=int(cores) if cores.isdecimal() else None,
            mem=mebibytes(str(limits.get("limits.memory") or "")),
            root_disk=mebibytes(str(root.get("size") or "")),
            root_disk_source=str(root.get("pool") or ""),
            availability_zone=server if place == "none" else place,
            virt_type=str(document.get("type") or ""),
        ),
        display_name=str(document["name"]),
        tags={
            key.removeprefix("user."): value for key, value in config.items() if key.startswith("user.juju-")
        },
        machine_id=str(config.get(MACHINE_KEY) or ""),
    )
