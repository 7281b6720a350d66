"""Turns a cloud-config document into one shell script, for machines without cloud-init. Pure.

As with cloud-init, a step that fails is logged and the next steps still run. Every step may run again.
"""

from __future__ import annotations

import base64
import gzip
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pushjuju.core.errors import NotValid

KEYS = (
    "bootcmd", "hostname", "write_files", "users", "apt", "package_update", "package_upgrade", "packages",
    "runcmd",
)  # fmt: skip
"""The keys of cloud-config that the script applies, in this order; other keys are left out."""

_SOURCES = "/etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources"
_UPDATE = {"apt": "apt-get update -q", "dnf": "dnf -y -q makecache"}
_UPGRADE = {"apt": "apt-get upgrade -y -q", "dnf": "dnf -y -q upgrade"}
_INSTALL = {"apt": "apt-get install -y -q", "dnf": "dnf -y -q install"}


def unknown_keys(document: Mapping[str, Any]) -> list[str]:
    """Return the keys of a document that the script leaves out."""
    return sorted(set(document) - set(KEYS))


def to_script(document: Mapping[str, Any], packager: str = "apt") -> str:
    """Return the shell script, with `apt` or `dnf`, that applies a document; empty for nothing to do."""
    lines = [_command(item) for item in _list(document, "bootcmd")]
    if document.get("hostname"):
        lines += _hostname(str(document["hostname"]))
    for entry in _list(document, "write_files"):
        lines += _write_file(entry)
    for user in _list(document, "users"):
        lines += _user(user)
    if packager == "apt" and (mirror := _mirror(document.get("apt"))):
        lines += _use_mirror(mirror)
    lines += _packages(document, packager)
    lines += [_command(item) for item in _list(document, "runcmd")]
    return "".join(f"{line}\n" for line in lines)


def _packages(document: Mapping[str, Any], packager: str) -> list[str]:
    names = " ".join(shlex.quote(_package(item)) for item in _list(document, "packages"))
    lines = []
    if document.get("package_update") or document.get("package_upgrade") or names:
        lines.append(_UPDATE[packager])
    if document.get("package_upgrade"):
        lines.append(_UPGRADE[packager])
    if names:
        lines.append(f"{_INSTALL[packager]} {names}")
    return lines


def _list(document: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = document.get(key) or []
    if not isinstance(found, list | tuple):
        raise NotValid(f"user data: {key} must be a list")
    return found


def _command(item: Any) -> str:
    """Return one command as shell text; a list becomes a subshell, which contains its `exit` and `cd`."""
    if isinstance(item, str):
        return f"(\n{item}\n)"
    if isinstance(item, list | tuple):
        return shlex.join(str(word) for word in item)
    raise NotValid("user data: a command must be a text or a list of texts")


def _package(item: Any) -> str:
    return "=".join(str(part) for part in item) if isinstance(item, list | tuple) else str(item)


def _hostname(name: str) -> list[str]:
    quoted = shlex.quote(name)
    return [
        f"hostname {quoted}",
        f"echo {quoted} > /etc/hostname",
        f"grep -qw {quoted} /etc/hosts || echo 127.0.1.1 {quoted} >> /etc/hosts",
    ]


def _user(entry: Any) -> list[str]:
    if not isinstance(entry, Mapping) or not entry.get("name"):
        raise NotValid("user data: an entry of users needs a name")
    name = shlex.quote(str(entry["name"]))
    shell = shlex.quote(str(entry.get("shell", "/bin/bash")))
    lines = [f"id -u {name} >/dev/null 2>&1 || useradd -m -s {shell} {name}"]
    groups = entry.get("groups") or []
    for group in groups.split(",") if isinstance(groups, str) else groups:
        quoted = shlex.quote(str(group).strip())
        lines.append(f"getent group {quoted} >/dev/null && usermod -a -G {quoted} {name}")
    rules = entry.get("sudo") or []
    for rule in [rules] if isinstance(rules, str) else rules:
        line, file = shlex.quote(f"{entry['name']} {rule}"), "/etc/sudoers.d/90-cloud-init-users"
        lines.append("mkdir -p -m 0750 /etc/sudoers.d")
        lines.append(f"grep -qxF {line} {file} 2>/dev/null || (umask 0337 && echo {line} >> {file})")
    return [*lines, *_keys(name, _list(entry, "ssh_authorized_keys"))]


def _keys(user: str, keys: Sequence[Any]) -> list[str]:
    """Return the lines that add public keys to a user's authorized_keys; keys that are there already stay."""
    if not keys:
        return []
    lines = [f"home=$(getent passwd {user} | cut -d: -f6)", f'install -d -m 0700 -o {user} "$home/.ssh"']
    for key in keys:
        line = shlex.quote(str(key))
        file = '"$home/.ssh/authorized_keys"'
        lines.append(f"grep -qxF {line} {file} 2>/dev/null || echo {line} >> {file}")
    return [*lines, f'chown {user} "$home/.ssh/authorized_keys"', 'chmod 0600 "$home/.ssh/authorized_keys"']


def _mirror(apt: Any) -> str:
    """Return the package mirror that the cloud-config key `apt` sets, or ""."""
    primary = apt.get("primary") if isinstance(apt, Mapping) else None
    entries = primary if isinstance(primary, list | tuple) else []
    return next((str(item["uri"]) for item in entries if isinstance(item, Mapping) and item.get("uri")), "")


def _use_mirror(mirror: str) -> list[str]:
    first = r"""awk '/^deb /{for(i=2;i<=NF;i++)if($i~/^https?:/){print $i;exit}} /^URIs:/{print $2;exit}'"""
    escaped = shlex.quote(mirror.replace("\\", r"\\").replace("&", r"\&").replace("|", r"\|"))
    replace = f'sed -i "s|$old|"{escaped}"|g" "$file"'
    return [
        f"old=$(cat {_SOURCES} 2>/dev/null | {first} | sed 's/[.[*^$|\\\\]/\\\\&/g')",
        f'for file in {_SOURCES}; do [ -z "$old" ] || [ ! -f "$file" ] || {replace}; done',
    ]


def _write_file(entry: Any) -> list[str]:
    if not isinstance(entry, Mapping) or not entry.get("path"):
        raise NotValid("user data: an entry of write_files needs a path")
    path, content = shlex.quote(str(entry["path"])), entry.get("content", "")
    data = base64.b64encode(_decoded(content, str(entry.get("encoding", "")))).decode()
    mode, owner = (
        shlex.quote(str(entry.get("permissions", "0644"))),
        shlex.quote(str(entry.get("owner", "root:root"))),
    )
    arrow = ">>" if entry.get("append") else ">"
    return [
        f'mkdir -p "$(dirname {path})"',
        f"echo {data} | base64 -d {arrow} {path}",
        f"chmod {mode} {path}",
        f"chown {owner} {path}",
    ]


def _decoded(content: Any, encoding: str) -> bytes:
    data = content if isinstance(content, bytes) else str(content).encode()
    words = encoding.replace("+", " ").split()
    try:
        if {"b64", "base64"} & set(words):
            data = base64.b64decode(data)
        if {"gz", "gzip"} & set(words):
            data = gzip.decompress(data)
    except (ValueError, OSError, EOFError) as error:
        raise NotValid(f"user data: content is not {encoding}", detail=str(error)) from error
    return data
