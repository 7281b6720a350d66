"""Keys of a model on real machines: who may log in, with the system's own ssh."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.charms.client import Client

pytestmark = pytest.mark.machine


def _key(folder: Path, comment: str) -> tuple[Path, str]:
    """Make a key; return its private half and the public line."""
    path = folder / comment
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path], check=True)
    return path, path.with_suffix(".pub").read_text().strip()


def _gets_in(key: Path, address: str, user: str = "ubuntu") -> bool:
    options = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    words = ["ssh", "-F", "none", "-i", str(key), "-o", "IdentitiesOnly=yes"]
    words += [part for option in options for part in ("-o", option)]
    done = subprocess.run([*words, f"{user}@{address}", "true"], capture_output=True, check=False)
    return done.returncode == 0


def _address(client: Client, machine: str) -> str:
    return str(client.json("show-machine", machine)["machines"][machine]["dns-name"])


def test_a_key_gets_in_everywhere_until_it_is_removed(client: Client) -> None:
    kim, line = _key(client.work, "kim@laptop")
    other, _ = _key(client.work, "other")
    client.run("add-machine")
    first = _address(client, "0")
    assert not _gets_in(kim, first)
    client.run("add-ssh-key", line)
    assert _gets_in(kim, first)
    assert not _gets_in(other, first)
    client.run("add-machine")
    second = _address(client, "1")
    assert _gets_in(kim, second)
    assert "(kim@laptop)" in client.run("ssh-keys")
    client.run("remove-ssh-key", "kim@laptop")
    assert not _gets_in(kim, first)
    assert not _gets_in(kim, second)
    assert client.run("ssh", "0", "cat .ssh/authorized_keys").count("ssh-ed25519") == 1
