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
    """How a machine is reached over SSH.

    Attributes:
        host: Name or address, or an alias of ``~/.ssh/config``.
        port: Port, or None for the port of ``~/.ssh/config``, else 22.
        user: Login, or None for that of ``~/.ssh/config``, else the local user's. ``sudo -n`` makes it root.
        jump: The jump host, or None.
        identity_files: Private keys offered in addition to the agent's and the configured ones.
        known_hosts: The model's host keys, or their file; the first contact adds the machine's key.
        host_keys: Public keys known from the provider (``ssh-ed25519 AAAA...``); no other key is then
            accepted.
        host_key_alias: Name in ``known_hosts`` in place of an address that may change.
        connect_timeout: Seconds to the end of the login.
        use_ssh_config: True to use ``~/.ssh/config`` and the SSH agent.
    """

    host: str
    port: int | None = None
    user: str | None = None
    jump: MachineTarget | None = None
    identity_files: tuple[Path, ...] = ()
    known_hosts: Path | HostKeys | None = None
    host_keys: tuple[str, ...] = ()
    host_key_alias: str | None = None
    connect_timeout: float = 20.0
    use_ssh_config: bool = True

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{user}{self.host}{port}"
