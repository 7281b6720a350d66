"""A small SSH transport for tests: a login per script, strict about known host keys."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

import asyncssh

from pushjuju.core.errors import AuthFailed, HostKeyChanged, SudoRefused, Unreachable
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget

_RETRY_S = 0.05
_SUDO_REFUSED = 97


class TestTransport:
    """Runs scripts with private keys of the test; implements the RemoteRunner of providers."""

    __test__ = False  # tells pytest that this is no class of tests

    def __init__(self, *keys: Path) -> None:
        self._keys = keys

    async def run_script(
        self,
        target: SSHTarget,
        script: str,
        *,
        sudo: bool = False,
        interactive: bool = False,  # noqa: ARG002 (no user can answer)
        timeout_s: float = 60.0,
    ) -> ScriptResult:
        """Run a script over a connection of its own.

        Raises:
            AuthFailed: The machine refuses the login.
            HostKeyChanged: The machine's host key is not one of the known keys.
            SudoRefused: The login has no root rights.
            Unreachable: The machine does not answer.
        """
        keys = [str(path) for path in (*self._keys, *target.identities)]
        try:
            async with asyncssh.connect(
                target.host,
                target.port,
                username=target.user or "root",
                client_keys=keys,
                known_hosts=_known_hosts(target),
                agent_path=None,
                config=None,
                connect_timeout=min(timeout_s, 5.0),
            ) as connection:
                shown = connection.get_server_host_key()
                command = _as_root("/bin/sh -s") if sudo else "/bin/sh -s"
                process = await connection.create_process(command)
                with contextlib.suppress(BrokenPipeError):  # the command has ended: its exit status says why
                    process.stdin.write(script)
                    process.stdin.write_eof()
                done = await process.wait(timeout=timeout_s)
        except asyncssh.HostKeyNotVerifiable as error:
            raise HostKeyChanged(str(error)) from error
        except asyncssh.PermissionDenied as error:
            raise AuthFailed(str(error)) from error
        except (OSError, asyncssh.Error, TimeoutError) as error:
            raise Unreachable(f"{target.host} does not answer: {error}") from error
        if done.exit_status == _SUDO_REFUSED:
            raise SudoRefused(str(done.stderr))
        host_key = shown.export_public_key().decode().strip() if shown else ""
        rc = done.exit_status if done.exit_status is not None else 255
        return ScriptResult(rc=rc, stdout=str(done.stdout), stderr=str(done.stderr), host_key=host_key)

    async def wait_for(
        self, target: SSHTarget, script: str = "exit 0\n", *, within_s: float = 60.0
    ) -> ScriptResult:
        """Run a script as root, as soon as the machine allows the login.

        Raises:
            Unreachable: The machine does not allow the login in time.
        """
        deadline = time.monotonic() + within_s
        while True:
            try:
                return await self.run_script(target, script, sudo=True)
            except (Unreachable, AuthFailed):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_RETRY_S)


def _as_root(command: str) -> str:
    """Return a command line that runs a command as root, whatever POSIX shell the login has."""
    refused = f"sudo -n true 2>/dev/null || exit {_SUDO_REFUSED}"
    return f'if [ "$(id -u)" = 0 ]; then exec {command}; fi; {refused}; exec sudo -n {command}'


def _known_hosts(target: SSHTarget) -> bytes | None:
    if target.host_keys is None:
        return None
    host = target.host if target.port == 22 else f"[{target.host}]:{target.port}"
    return "".join(f"{host} {key}\n" for key in target.host_keys).encode()


def new_key(path: Path) -> str:
    """Write a new private key and return its public line."""
    key = asyncssh.generate_private_key("ssh-ed25519", comment="pushjuju-tests")
    key.write_private_key(path)
    return key.export_public_key().decode().strip()
