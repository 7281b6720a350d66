"""Machines as plugins reach them: where they are, and what runs scripts there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """How a script on a machine ended.

    Attributes:
        host_key: The key that the machine showed, in OpenSSH's form; empty if the transport does not know it.
    """

    rc: int
    stdout: str = ""
    stderr: str = ""
    host_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SSHTarget:
    """Where and how a machine answers SSH.

    Attributes:
        host_keys: Public keys in OpenSSH's form; when None, the first key that the machine shows is trusted.
        proxy_jump: `user@host:port` of a jump host, or empty.
        identities: Private key files to offer beside the controller's own.
    """

    host: str
    port: int = 22
    user: str = "ubuntu"
    host_keys: tuple[str, ...] | None = None
    proxy_jump: str = ""
    identities: tuple[Path, ...] = ()


class ContainerHost(Protocol):
    """A machine of the model that containers are made on; all goes over its SSH connection."""

    @property
    def machine_id(self) -> str:
        """Its id in the model."""
        ...

    async def run(self, script: str, *, timeout_s: float = 60.0) -> ScriptResult:
        """Run a POSIX shell script on the host as root; its errors are those of `RemoteRunner.run_script`."""
        ...

    async def relay(self, program: str) -> Path:
        """Return a socket on this computer that stands for something there.

        For each connection to it a Python program runs on the machine as root, with the connection as its
        standard input and output; it ends with the connection. The socket is there until the run ends.

        Args:
            program: Its text, for Python 3.8 without other packages.

        Raises:
            TransportError: The machine does not answer.
        """
        ...


class RemoteRunner(Protocol):
    """Runs one script on a machine over SSH; the controller's own transport stands behind it."""

    async def run_script(
        self,
        target: SSHTarget,
        script: str,
        *,
        sudo: bool = False,
        interactive: bool = False,
        timeout_s: float = 60.0,
    ) -> ScriptResult:
        """Run a POSIX shell script on a machine and return how it ended.

        Args:
            target: Machine and login.
            script: Its text; travels in the channel, never in argv.
            sudo: Run it as root, through sudo unless the login is root already.
            interactive: True when the user may be asked for a password (login or sudo).
            timeout_s: Seconds until the script is given up.

        Raises:
            AuthFailed: The machine refuses the login.
            SudoRefused: Logged in, but not allowed to become root.
            TransportError: No answer, another host key than before, or the connection broke.
        """
        ...
