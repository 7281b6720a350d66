"""The cloud-config document of a new machine. Mirrors: juju cloudconfig (3.6)

It comes from a template for the family of the base, in the package or in the data directory's `templates/`,
and from the model's `cloudinit-userdata`. The machine's host key is made here, so that the first login can
check it: it derives from the controller's key and the request, so that a repeated start has the same key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from pushjuju.charms.format.yamlload import load
from pushjuju.core import cloudinit
from pushjuju.core.base import Base
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.providers import StartRequest
from pushjuju.store.datadir import ControllerDir
from pushjuju.workers.provision import proxies

KEYS = (
    "cloudinit-userdata",
    "container-inherit-properties",
    "enable-os-refresh-update",
    "enable-os-upgrade",
    "apt-mirror",
    *proxies.KEYS,
)
_FAMILIES = {"centos": "centos", "rocky": "centos", "almalinux": "centos", "debian": "debian"}
_OF_CLOUD_INIT = ("manage_etc_hosts", "output", "ssh_deletekeys", "ssh_keys", "ssh_pwauth")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostIdentity:
    """The SSH host key of a machine, in OpenSSH's form."""

    public: str
    private: str = field(repr=False)


def host_identity(controller: ControllerDir, nonce: str) -> HostIdentity:
    """Return the host key for a request: always the same for one request, and different for others."""
    secret = controller.private_key.read_bytes()
    seed = hmac.new(secret, b"pushjuju host key\0" + nonce.encode(), hashlib.sha256).digest()
    from pushjuju.store import ssh_key  # imports cryptography, which is slow

    private, public = ssh_key.pair_of(seed)
    return HostIdentity(public=public, private=private)


def wanted(config: Mapping[str, Any]) -> dict[str, object]:
    """Return the document for a machine that exists already: proxies, mirror, `cloudinit-userdata`."""
    asked = parse(str(config.get("cloudinit-userdata") or ""))
    own: dict[str, object] = {}
    if files := proxies.files(config):
        own["write_files"] = files
    if commands := proxies.snap_commands(config):
        own["runcmd"] = commands
    if mirror := str(config.get("apt-mirror") or ""):
        own["apt"] = {"primary": [{"arches": ["default"], "uri": mirror}]}
    if asked.get("packages"):
        own["package_update"] = True
    return cloudinit.merge(own, asked)


def host_keys(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the public host keys in a document; () when the machine makes its own host keys."""
    keys = document.get("ssh_keys")
    pairs = keys.items() if isinstance(keys, Mapping) else ()
    return tuple(str(key).strip() for name, key in pairs if str(name).endswith("_public") and key)


def for_script(
    request: StartRequest, config: Mapping[str, Any], identity: HostIdentity, overrides: Path
) -> dict[str, object]:
    """Return the document of a machine that boots without user data and makes its own host key.

    The arguments and errors are those of `whole`.
    """
    found = whole(request, config, identity, overrides)
    return {key: value for key, value in found.items() if key not in _OF_CLOUD_INIT}


def packager(base: Base) -> str:
    """Return the program that installs packages on a base: `apt` or `dnf`."""
    return "dnf" if _FAMILIES.get(base.os) == "centos" else "apt"


def parse(text: str) -> dict[str, Any]:
    """Return `cloudinit-userdata` as a document."""
    if not text.strip():
        return {}

    return cloudinit.check(load(text))  # was checked when a user set it


def whole(
    request: StartRequest,
    config: Mapping[str, Any],
    identity: HostIdentity,
    overrides: Path,
    inherited: Mapping[str, Any] | None = None,
) -> dict[str, object]:
    """Return the whole document of a machine that boots with user data.

    Args:
        config: The model's values of `KEYS`.
        overrides: A folder of templates that win over the package's templates.
        inherited: The keys that a container inherits from its host; they win over all others.
    """
    name = f"{_FAMILIES.get(request.base.os, 'ubuntu')}.yaml.j2"
    from pushjuju.workers.provision import rendering  # imports jinja2, which is slow

    try:
        document = load(rendering.render(overrides, name, _values(request, config, identity)))
    except NotValid as error:
        raise NotValid(f"the template {name} of user data cannot be used: {error}") from None
    if not isinstance(document, dict):
        raise NotValid(f"the template {name} of user data is not a YAML map")
    asked = parse(str(config.get("cloudinit-userdata") or ""))
    return cloudinit.merge(document, {**asked, **(inherited or {})})


def _values(request: StartRequest, config: Mapping[str, Any], identity: HostIdentity) -> dict[str, object]:
    return {
        "hostname": request.hostname,
        "authorized_keys": list(request.authorized_keys),
        "host_private": identity.private,
        "host_public": identity.public,
        "refresh": bool(config.get("enable-os-refresh-update", True)),
        "upgrade": bool(config.get("enable-os-upgrade", True)),
        "apt_mirror": str(config.get("apt-mirror") or ""),
        "files": proxies.files(config),
        "commands": proxies.snap_commands(config),
        "base": request.base,
        "tags": dict(request.tags),
    }
