"""How plugins reach machines: address and login, and functions that run scripts there."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pushjuju.core.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptResult:
    """The outcome of a script on a machine.

    Attributes:
        host_key: The host key of the machine in OpenSSH's format; empty when the transport does not know it.
    """

    rc: int
    stdout: str = ""
    stderr: str = ""
    host_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SSHTarget:
    """The address and login for SSH to a machine.

    Attributes:
        host_keys: Host keys in OpenSSH's format; with None, the first key that the machine shows is trusted.
        proxy_jump: `user@host:port` of a jump host, or empty.
        identities: Private key files that are offered in addition to the controller's own key.
    """

    host: str
    port: int = 22
    user: str = "ubuntu"
    host_keys: tuple[str, ...] | None = None
    proxy_jump: str = ""
    identities: tuple[Path, ...] = ()


class ContainerHost(Protocol):
    """A machine of the model that hosts containers; every call uses its SSH connection."""

    @property
    def machine_id(self) -> str:
        """The machine's id in the model."""
        ...

    async def run(self, script: str, *, timeout_s: float = 60.0) -> ScriptResult:
        """Run a POSIX shell script on the machine as root; raises the errors of `RemoteRunner.run_script`."""
        ...

    async def relay(self, program: str) -> Path:
        """Return the path of a local socket that leads to a program on the machine.

        For each connection to the socket, a Python program runs on the machine as root, with the connection
        as its standard input and output. The socket exists until this command of pushjuju ends.

        Args:
            program: The text of the program, for Python 3.8 without other packages.

        Raises:
            TransportError: The machine does not answer.
        """
        ...


class RemoteRunner(Protocol):
    """Runs scripts on machines over SSH, with the controller's own transport."""

    async def run_script(
        self,
        target: SSHTarget,
        script: str,
        *,
        sudo: bool = False,
        interactive: bool = False,
        timeout_s: float = 60.0,
    ) -> ScriptResult:
        """Run a POSIX shell script on a machine and return its outcome.

        Args:
            target: Address and login of the machine.
            script: The text of the script, which goes through standard input, never through argv.
            sudo: Run it as root, through sudo unless the login is root already.
            interactive: True when ssh or sudo may ask the user for a password.
            timeout_s: Seconds after which the script is aborted.

        Raises:
            AuthFailed: The machine refuses the login.
            SudoRefused: The login worked, but root rights were refused.
            TransportError: The machine does not answer or shows another host key, or the connection broke.
        """
        ...
