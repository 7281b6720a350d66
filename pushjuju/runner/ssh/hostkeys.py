"""The model's own ``known_hosts`` file: a machine's first key is added, each later key is compared.

The format is OpenSSH's, so that ``ssh -o UserKnownHostsFile=...`` and ``ssh-keygen -R`` work with it.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import shlex
from pathlib import Path

from pushjuju.core.values import dataclass

ACCEPTED = "accepted"
"""The comment of keys that a user accepted instead of the keys that the provider reported."""


def entry_name(host: str, port: int) -> str:
    """Return the name of a machine in a known_hosts file."""
    return host if port == 22 else f"[{host}]:{port}"


def fingerprint(key: str) -> str:
    """Return type and SHA-256 fingerprint of a public key line, as ssh-keygen prints them."""
    kind, _, rest = key.partition(" ")
    data = rest.split(" ")[0]
    try:
        digest = hashlib.sha256(base64.b64decode(data, validate=True)).digest()
    except ValueError:
        return f"{kind} (not readable)"
    return f"{kind} SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def normal(key: str) -> str:
    """Return type and data of a public key line, without comment."""
    return " ".join(key.split()[:2])


@dataclass(frozen=True, slots=True)
class HostKeyFile:
    """A known_hosts file."""

    path: Path  # the file; it need not exist

    def find(self, name: str, *, word: str = "") -> list[str]:
        """Return the keys known under a name; with `word`, only those with this comment."""
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return []
        found = []
        for line in text.splitlines():
            names, _, key = line.strip().partition(" ")
            if not key or names.startswith(("#", "@")) or name not in names.split(","):
                continue
            if not word or word in key.split()[2:]:
                found.append(normal(key))
        return found

    def add(self, name: str, key: str) -> None:
        """Add a key; other processes may add keys at the same time."""
        self._add(name, normal(key), only_first=False)

    def accept(self, name: str, key: str) -> list[str]:
        """Add the first key of a machine; return the keys that are known under the name then."""
        return self._add(name, normal(key), only_first=True)

    def _add(self, name: str, key: str, *, only_first: bool) -> list[str]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(fd, "a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            known = self.find(name)
            if key in known or (known and only_first):
                return known
            file.write(f"{name} {key}\n")
            file.flush()
            os.fsync(file.fileno())
        return [*known, key]

    def remove(self, name: str) -> None:
        """Delete the keys of a name, whose machine was removed or has a new key that the user accepts."""
        if not self.path.exists():
            return
        with self.path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            lines = file.read().splitlines(keepends=True)
            keep = [line for line in lines if name not in line.partition(" ")[0].split(",")]
            file.seek(0)
            file.truncate()
            file.write("".join(keep))

    def how_to_forget(self, name: str) -> str:
        """Return the command that deletes the keys of a name."""
        return f"ssh-keygen -f {self.path} -R '{name}'"

    def how_to_accept(self, name: str, key: str) -> str:
        """Return the command that accepts a key instead of the provider's."""
        return f"echo '{name} {key} {ACCEPTED}' >> {shlex.quote(str(self.path))}"
