"""Makes the OpenSSH configuration file for one call of ssh or scp.

The file names pushjuju's known_hosts; the user's own known_hosts is neither read nor changed.
Mirrors: juju cmd/juju/ssh/ssh_machine.go (3.6)
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pushjuju.core import children
from pushjuju.core.jumps import Hop
from pushjuju.core.values import dataclass

_DETOURS = ("proxyjump", "proxycommand")
# No forwarding by `~/.ssh/config`, which is included later. Options on the command line still win.
_NOTHING_LENT = (("ForwardAgent", "no"), ("ForwardX11", "no"))
DEFAULT_USER = "ubuntu"  # exists on every machine that a cloud made, with sudo


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """How OpenSSH reaches a machine."""

    alias: str  # the name on the command line of OpenSSH
    host: str
    port: int | None
    user: str  # the login; empty for OpenSSH's default
    hops: tuple[Hop, ...]  # jump hosts, the first to connect to first
    host_keys: tuple[str, ...]
    identities: tuple[Path, ...]
    # the settings of `~/.ssh/config` for the host, which count only for manual machines; else None
    own: Mapping[str, Sequence[str]] | None = None
    past_jumps: bool = False  # whether to connect without any jump host
    key_name: str = ""  # the name in known_hosts; empty to use the address
    via: Target | None = None  # the machine of the model that is the jump host, or None


def target(
    alias: str,
    ssh: Mapping[str, Any],
    *,
    user: str,
    key: Path,
    own: Mapping[str, Sequence[str]] | None = None,
    hops: Sequence[Hop] = (),
    key_name: str = "",
    via: Target | None = None,
) -> Target:
    """Return the target for the SSH entry of a machine.

    Args:
        ssh: {host, port, user, host_keys, identities}.
        user: The login that the user named; empty for `ubuntu`, or for the login of a manual machine.
        own: The settings of `~/.ssh/config` for the host, or None for a machine that a cloud made.
        hops: Jump hosts, the first to connect to first.
        key_name: The name in known_hosts; empty to use the address.
        via: The host of a container.
    """
    settings = own or {}
    keys = [Path(text).expanduser() for text in settings.get("identityfile", ())]
    return Target(
        alias=alias,
        host=next(iter(settings.get("hostname", ())), str(ssh["host"])),
        port=int(ssh["port"]) if ssh.get("port") else None,
        user=user or (str(ssh.get("user") or "") if own is not None else DEFAULT_USER),
        hops=tuple(hops),
        host_keys=tuple(ssh.get("host_keys") or ()),
        identities=(
            key,
            *(Path(item) for item in ssh.get("identities", ())),
            *(path for path in keys if path.exists()),
        ),
        own=own,
        key_name=key_name,
        via=via,
    )


def direct(item: Target) -> Target:
    """Return a target without any jump host, not even those of `~/.ssh/config`."""
    return replace(item, hops=(), past_jumps=True)


def own_settings(host: str) -> dict[str, list[str]]:
    """Return the settings of a host that OpenSSH reads from `~/.ssh/config`: keyword -> values.

    OpenSSH gets our alias later, which no section of that file matches, so the settings are read by the
    host's name.
    """
    program = shutil.which("ssh")
    if program is None or host.startswith("-"):
        return {}
    done = children.run([program, "-G", host], environ=os.environ)
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        found.setdefault(key, []).append(value)
    return found


def goes_through(settings: Mapping[str, Sequence[str]]) -> bool:
    """Return True when `~/.ssh/config` has a jump host or proxy command for a host."""
    return any(value != "none" for key in _DETOURS for value in settings.get(key, ()))


def known_hosts_lines(item: Target) -> str:
    """Return the lines for known_hosts with the keys that the provider reported."""
    if item.via:
        return known_hosts_lines(item.via) + _lines_of(item)
    return _lines_of(item)


def _lines_of(item: Target) -> str:
    name = item.key_name or (item.host if item.port in (None, 22) else f"[{item.host}]:{item.port}")
    return "".join(f"{name} {key}\n" for key in item.host_keys)


def config_text(
    targets: list[Target], *, known_hosts: list[Path], own_known_hosts: Path, check_host_keys: bool
) -> str:
    """Return the configuration file for some targets.

    Args:
        targets: All machines of the call.
        known_hosts: The files with host keys; new keys are written to the first file.
        own_known_hosts: The model's file, which keeps the keys of jump hosts.
        check_host_keys: False to accept any host key.
    """
    hosts = {item.via.alias: item.via for item in targets if item.via}
    every = [*targets, *hosts.values()]
    sections = [_section(item, known_hosts, check=check_host_keys) for item in every]
    hops = {hop.host: next(iter(item.identities), None) for item in every for hop in item.hops}
    sections += [_hop(host, key, own_known_hosts, check=check_host_keys) for host, key in hops.items()]
    if any(item.own is not None for item in every):
        sections.append("Match all\nInclude ~/.ssh/config\n")
    elif hops:  # the jump hosts may be defined there
        sections.append(f"Host {' '.join(hops)}\n  Include ~/.ssh/config\n")
    return "\n".join(sections)


def _hop(host: str, key: Path | None, known_hosts: Path, *, check: bool) -> str:
    """Return the section of a jump host; user and port are in ProxyJump."""
    trust = _trust([known_hosts], "accept-new" if check else "no")
    lines = [*trust, *_NOTHING_LENT, *([("IdentityFile", _quoted(key))] if key else [])]
    return f"Host {host}\n" + "".join(f"  {name} {value}\n" for name, value in lines)


def _trust(known_hosts: list[Path], strict: str) -> list[tuple[str, str]]:
    files = "/dev/null" if strict == "no" else " ".join(_quoted(path) for path in known_hosts)
    return [
        ("UserKnownHostsFile", files),
        ("GlobalKnownHostsFile", "/dev/null"),
        ("StrictHostKeyChecking", strict),
    ]


def _section(item: Target, known_hosts: list[Path], *, check: bool) -> str:
    # Insist on a key that the provider reported; else accept a first key, and insist on it from then on.
    strict = "no" if not check else "yes" if item.host_keys else "accept-new"
    lines = [
        ("HostName", item.host),
        ("Port", str(item.port) if item.port else ""),
        ("User", item.user),
        *_detours(item),
        ("HostKeyAlias", item.key_name),
        *_trust(known_hosts, strict),
        *_NOTHING_LENT,
        ("PasswordAuthentication", "no"),
        ("ServerAliveInterval", "30"),
        *(("IdentityFile", _quoted(path)) for path in item.identities),
        ("LogLevel", "ERROR" if not check else ""),
    ]
    return f"Host {item.alias}\n" + "".join(f"  {name} {value}\n" for name, value in lines if value)


def _detours(item: Target) -> list[tuple[str, str]]:
    """Return the jump host options of a target; those of the model win over `~/.ssh/config`."""
    if item.via:
        return [("ProxyJump", item.via.alias)]
    if item.past_jumps:
        return [("ProxyJump", "none")]
    if item.hops:
        return [("ProxyJump", ",".join(map(str, item.hops)))]
    own = item.own or {}
    return [(name, value) for name in _DETOURS for value in own.get(name, ()) if value != "none"]


def _quoted(path: Path) -> str:
    """Return a path for a line of an ssh_config, where `%` begins a token."""
    return '"{}"'.format(str(path).replace("%", "%%").replace('"', '\\"'))
