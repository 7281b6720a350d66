"""A small applier of cloud-config for machines without cloud-init. Layer: plugins (`local`).

The document becomes one shell script that runs once at first boot, before sshd: a machine that answers SSH
has its user data, as Juju's agent starts after cloud-init. A failing step is logged and does not keep the
machine.
"""

from __future__ import annotations

import base64
import gzip
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pushjuju.core.errors import NotValid
from pushjuju.plugins.providers.local.system import put_file, put_link

KEYS = ("package_update", "package_upgrade", "packages", "write_files", "bootcmd", "runcmd")
"""Keys of cloud-config that are applied; others are reported."""

_SCRIPT = "var/lib/juju/user-data.sh"
_UNIT = "etc/systemd/system/pushjuju-user-data.service"
_SERVICE = f"""[Unit]
Description=User data of this machine
After=network.target
Before=ssh.service
ConditionPathExists=/{_SCRIPT}

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sh /{_SCRIPT} >>/var/log/cloud-init-output.log 2>&1; rm -f /{_SCRIPT}'
TimeoutStartSec=20min
Environment=DEBIAN_FRONTEND=noninteractive HOME=/root LANG=C.UTF-8

[Install]
WantedBy=multi-user.target
"""


def unknown_keys(document: Mapping[str, Any]) -> list[str]:
    """Return the keys of a document that this applier leaves out."""
    return sorted(set(document) - set(KEYS))


def to_script(document: Mapping[str, Any]) -> str:
    """Return the shell script that applies a cloud-config document; empty when there is nothing to do.

    Raises:
        NotValid: A value has the wrong form.
    """
    lines = [_command(item) for item in _list(document, "bootcmd")]
    for entry in _list(document, "write_files"):
        lines += _write_file(entry)
    if document.get("package_update") or document.get("package_upgrade") or document.get("packages"):
        lines.append("apt-get update -q")
    if document.get("package_upgrade"):
        lines.append("apt-get upgrade -y -q")
    if _list(document, "packages"):
        names = " ".join(shlex.quote(_package(item)) for item in document["packages"])
        lines.append(f"apt-get install -y -q {names}")
    lines += [_command(item) for item in _list(document, "runcmd")]
    return "".join(f"{line}\n" for line in lines)


def _list(document: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = document.get(key) or []
    if not isinstance(found, list | tuple):
        raise NotValid(f"user data: {key} must be a list")
    return found


def _command(item: Any) -> str:
    """Return one command; a list is its words, and in a subshell so that `exit` and `cd` stay its own."""
    if isinstance(item, str):
        return f"(\n{item}\n)"
    if isinstance(item, list | tuple):
        return shlex.join(str(word) for word in item)
    raise NotValid("user data: a command must be a text or a list of texts")


def _package(item: Any) -> str:
    return "=".join(str(part) for part in item) if isinstance(item, list | tuple) else str(item)


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


def write_user_data(root: Path, script: str) -> None:
    """Put the script into a machine's root, to run at first boot."""
    put_file(root, _SCRIPT, script, mode=0o700)
    put_file(root, _UNIT, _SERVICE)
    put_link(root, f"etc/systemd/system/multi-user.target.wants/{Path(_UNIT).name}", f"/{_UNIT}")
