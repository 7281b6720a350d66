"""Writes the files that differ between machines: name, keys, addresses, apt.

The files are written through the mounted overlay: with a write to the upper layer itself, machines have seen
old content.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from pushjuju.plugins.providers.local.prepare import USER, account
from pushjuju.plugins.providers.local.system import make_folder, put_file
from pushjuju.plugins.providers.nspawn.layout import Record

STORAGE = "var/lib/juju/storage"


def new_host_key() -> tuple[bytes, str]:
    """Return a new SSH host key: the private key in OpenSSH's format, and the public key as one line."""
    from pushjuju.plugins.providers.local import host_key  # importing cryptography takes long

    return host_key.new_host_key()


def write_identity(
    root: Path,
    record: Record,
    *,
    host_key: bytes,
    authorized_keys: Sequence[str],
    nameservers: Sequence[str],
    apt_options: Sequence[str],
) -> None:
    """Write all files that differ between machines of one base.

    Args:
        authorized_keys: Public keys that may log in as `ubuntu` and `root`.
        apt_options: Lines of configuration that apt needs on this host.
    """
    name = record.hostname
    put_file(root, "etc/hostname", f"{name}\n")
    put_file(root, "etc/hosts", _hosts(record))
    put_file(root, "etc/machine-id", f"{uuid.uuid4().hex}\n", mode=0o444)
    put_file(root, "etc/resolv.conf", "".join(f"nameserver {server}\n" for server in nameservers))
    put_file(root, "etc/ssh/ssh_host_ed25519_key", host_key, mode=0o600)
    put_file(root, "etc/ssh/ssh_host_ed25519_key.pub", f"{record.host_key} root@{name}\n")
    if apt_options:
        put_file(root, "etc/apt/apt.conf.d/95pushjuju-host", "".join(f"{line};\n" for line in apt_options))
    keys = "".join(f"{key.strip()}\n" for key in authorized_keys)
    for user in ("root", USER):
        found = account(root, user)
        if found:
            owner, home = found
            make_folder(root, f"{home}/.ssh", mode=0o700, owner=owner)
            put_file(root, f"{home}/.ssh/authorized_keys", keys, mode=0o600, owner=owner)
    make_folder(root, STORAGE)
    if record.nonce:
        put_file(root, "var/lib/juju/nonce.txt", record.nonce)


def _hosts(record: Record) -> str:
    return (
        "127.0.0.1 localhost\n"
        f"{record.address} {record.hostname}\n"
        "::1 localhost ip6-localhost ip6-loopback\n"
        "ff02::1 ip6-allnodes\n"
        "ff02::2 ip6-allrouters\n"
    )
