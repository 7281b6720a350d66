"""OpenSSH's own client pointed at a machine: a configuration file made for one call.

Layer: cli. Host keys are those that pushjuju knows; nothing of the person's own known_hosts is touched.
Mirrors: juju cmd/juju/ssh/ssh_machine.go (3.6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANUAL = "manual"
DEFAULT_USER = "ubuntu"  # every machine that a cloud made has it, with sudo


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A machine as OpenSSH must reach it.

    Attributes:
        alias: The name that the call uses.
        user: Login; empty for OpenSSH's default.
        own_config: Whether `~/.ssh/config` counts (machines that were taken in).
    """

    alias: str
    host: str
    port: int | None
    user: str
    jump: str
    host_keys: tuple[str, ...]
    identities: tuple[Path, ...]
    own_config: bool


def target(alias: str, ssh: Mapping[str, Any], *, user: str, key: Path, provider: str) -> Target:
    """Return the target of a machine's row.

    Args:
        alias: The name to use.
        ssh: {host, port, user, host_keys, jump, identities}.
        user: The login that was asked for; empty for `ubuntu`, or the own one of a machine that was taken in.
        key: The controller's private key.
        provider: Who made the machine.
    """
    return Target(
        alias=alias,
        host=str(ssh["host"]),
        port=int(ssh["port"]) if ssh.get("port") else None,
        user=user or (str(ssh.get("user") or "") if provider == MANUAL else DEFAULT_USER),
        jump=str(ssh.get("jump") or ""),
        host_keys=tuple(ssh.get("host_keys") or ()),
        identities=(key, *(Path(item) for item in ssh.get("identities", ()))),
        own_config=provider == MANUAL,
    )


def known_hosts_lines(item: Target) -> str:
    """Return the known_hosts lines of the keys that the provider told."""
    name = item.host if item.port in (None, 22) else f"[{item.host}]:{item.port}"
    return "".join(f"{name} {key}\n" for key in item.host_keys)


def config_text(targets: list[Target], *, known_hosts: list[Path], check_host_keys: bool) -> str:
    """Return the configuration file for some targets."""
    sections = [_section(item, known_hosts, check=check_host_keys) for item in targets]
    if any(item.own_config for item in targets):
        sections.append("Include ~/.ssh/config\n")
    return "\n".join(sections)


def _section(item: Target, known_hosts: list[Path], *, check: bool) -> str:
    # A key that the provider told must be shown; any other is accepted once and then checked.
    strict = "no" if not check else "yes" if item.host_keys else "accept-new"
    files = "/dev/null" if not check else " ".join(_quoted(path) for path in known_hosts)
    lines = [
        ("HostName", item.host),
        ("Port", str(item.port) if item.port else ""),
        ("User", item.user),
        ("ProxyJump", item.jump),
        ("UserKnownHostsFile", files),
        ("GlobalKnownHostsFile", "/dev/null"),
        ("StrictHostKeyChecking", strict),
        ("PasswordAuthentication", "no"),
        ("ServerAliveInterval", "30"),
        *(("IdentityFile", _quoted(path)) for path in item.identities),
        ("LogLevel", "ERROR" if not check else ""),
    ]
    return f"Host {item.alias}\n" + "".join(f"  {name} {value}\n" for name, value in lines if value)


def _quoted(path: Path) -> str:
    return f'"{path}"'
