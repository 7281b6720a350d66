"""The address of a machine, and how to log in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineTarget:
    """How a machine is reached over SSH.

    Attributes:
        host: Name or address, or an alias of ``~/.ssh/config``.
        port: None for what ``~/.ssh/config`` says, else 22.
        user: None for what ``~/.ssh/config`` says, else the local user's name. Not root: ``sudo -n`` is used.
        jump: A machine to go through first.
        identity_files: Private keys offered beside the agent's and the configured ones.
        known_hosts: The model's own file of host keys; a key is accepted into it on first contact.
        host_keys: Public keys known from the provider (``ssh-ed25519 AAAA...``); then no other is accepted.
        host_key_alias: Name in ``known_hosts`` instead of the address, for machines whose address changes.
        connect_timeout: Seconds to the end of the login.
        use_ssh_config: Whether ``~/.ssh/config`` and the SSH agent are looked at.
    """

    host: str
    port: int | None = None
    user: str | None = None
    jump: MachineTarget | None = None
    identity_files: tuple[Path, ...] = ()
    known_hosts: Path | None = None
    host_keys: tuple[str, ...] = ()
    host_key_alias: str | None = None
    connect_timeout: float = 20.0
    use_ssh_config: bool = True

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{user}{self.host}{port}"
