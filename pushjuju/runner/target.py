"""The address of a machine, and how to log in there."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pushjuju.core.values import dataclass


class HostKeys(Protocol):
    """The host keys of a model's machines."""

    def find(self, name: str, *, word: str = "") -> list[str]:
        """Return the keys known under a name; with `word`, only those with this comment."""
        ...

    def add(self, name: str, key: str) -> None:
        """Add a key; other processes may add keys at the same time."""

    def accept(self, name: str, key: str) -> list[str]:
        """Add the first key of a machine; return the keys that are known under the name then."""
        ...

    def remove(self, name: str) -> None:
        """Delete the keys of a name, whose machine was removed or has a new key that the user accepts."""

    def how_to_forget(self, name: str) -> str:
        """Return the command that deletes the keys of a name."""
        ...

    def how_to_accept(self, name: str, key: str) -> str:
        """Return the command that accepts a key instead of the provider's."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineTarget:
    """How a machine is reached over SSH."""

    host: str  # name or address, or an alias of ``~/.ssh/config``
    port: int | None = None  # port, or None for the port of ``~/.ssh/config``, else 22
    # login, or None for that of ``~/.ssh/config``, else the local user's. ``sudo -n`` makes it root.
    user: str | None = None
    jump: MachineTarget | None = None  # the jump host, or None
    # private keys offered in addition to the agent's and the configured ones
    identity_files: tuple[Path, ...] = ()
    # the model's host keys, or their file; the first contact adds the machine's key
    known_hosts: Path | HostKeys | None = None
    # public keys known from the provider (``ssh-ed25519 AAAA...``); no other key is then accepted
    host_keys: tuple[str, ...] = ()
    host_key_alias: str | None = None  # name in ``known_hosts`` in place of an address that may change
    connect_timeout: float = 20.0  # seconds to the end of the login
    use_ssh_config: bool = True  # True to use ``~/.ssh/config`` and the SSH agent

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{user}{self.host}{port}"
