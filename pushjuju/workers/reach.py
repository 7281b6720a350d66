"""Builds SSH targets of machines, and runs plain scripts on machines for providers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer, ConnectionLost, SudoRefused, Unreachable
from pushjuju.core.jumps import Hop
from pushjuju.core.names import machine_tag, parent_machine
from pushjuju.core.values import dataclass
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import HostKeys, MachineTarget
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import host_keys
from pushjuju.services.entities.model import jump_hosts
from pushjuju.store.rows.records import Machine

if TYPE_CHECKING:
    import asyncssh

NO_SUDO = 97  # exit status of AS_ROOT when root rights were refused
# The quotes let the shell of any login read it, also fish and tcsh.
AS_ROOT = (
    """exec /bin/sh -c 'if [ "$(id -u)" = 0 ]; then exec /bin/sh -s; fi; """
    f"sudo -n true || exit {NO_SUDO}; exec sudo -n /bin/sh -s'"
)


def reach(ctx: Context, model: str, ssh: Mapping[str, Any], *, config: bool) -> MachineTarget:
    """Return the SSH target of a machine from its row, with its jump hosts.

    Args:
        ssh: {host, port, user, host_keys, jump, identities}.
        config: True to use the user's own SSH configuration and agent, too.
    """
    known_hosts = _known_hosts(ctx, model)
    with ctx.read(model) as tx:
        hops = jump_hosts.to(tx, ssh)
    return MachineTarget(
        host=str(ssh["host"]),
        port=int(ssh["port"]) if ssh.get("port") else None,
        user=ssh.get("user") or None,
        jump=_way(ctx, model, hops),
        identity_files=(ctx.controller.private_key, *(Path(item) for item in ssh.get("identities", ()))),
        known_hosts=known_hosts,
        host_keys=tuple(ssh.get("host_keys") or ()),
        use_ssh_config=config,
    )


def host_keys_of(ctx: Context, model: str) -> HostKeys:
    return host_keys.of(ctx, model)


def _known_hosts(ctx: Context, model: str) -> Path | HostKeys:
    place = ctx.store.place
    return ctx.controller.known_hosts(model) if isinstance(place, Path) else host_keys_of(ctx, model)


def key_alias(machine: Machine) -> str | None:
    """Return a container's name in known_hosts files; None for machines that are listed by address.

    Containers on different hosts may have the same address.
    """
    return machine_tag(machine.id) if parent_machine(machine.id) else None


def _way(ctx: Context, model: str, hops: Sequence[Hop]) -> MachineTarget | None:
    """Return the last jump host, with the others on the way to it, or None without jump hosts.

    Jump hosts are a user's, so the user's keys and SSH configuration are used, too.
    """
    way: MachineTarget | None = None
    for hop in hops:
        way = MachineTarget(
            host=hop.host,
            port=hop.port,
            user=hop.user or None,
            jump=way,
            identity_files=(ctx.controller.private_key,),
            known_hosts=_known_hosts(ctx, model),
        )
    return way


class ScriptRunner:
    """Runs plain scripts on machines for providers, over the controller's SSH connections."""

    def __init__(self, ctx: Context, connector: Connector, model: str, *, to_strangers: bool = False) -> None:
        """Make a runner for the machines of a model.

        Args:
            to_strangers: True for machines that have proved nothing yet: only the controller's key is
                offered, no SSH configuration of the user counts, and no host key is remembered.
        """
        self._ctx = ctx
        self._connector = connector
        self._model = model
        self._to_strangers = to_strangers

    async def run_script(
        self,
        target: SSHTarget,
        script: str,
        *,
        sudo: bool = False,
        interactive: bool = False,
        timeout_s: float = 60.0,
    ) -> ScriptResult:
        """Run a POSIX shell script on a machine; its text is sent over standard input.

        No password is asked for: a controller may run without a terminal.

        Raises:
            SudoRefused: The login succeeded, but the user may not become root.
            TransportError: The login failed, or the connection was lost.
        """
        del interactive
        ssh = {
            "host": target.host,
            "port": target.port,
            "user": target.user,
            "host_keys": target.host_keys,
            "jump": target.proxy_jump,
            "identities": target.identities,
        }
        command = AS_ROOT if sudo else "/bin/sh -s"
        way = reach(self._ctx, self._model, ssh, config=not self._to_strangers)
        if self._to_strangers:
            way = replace(way, known_hosts=None)
        async with self._connector.connect(way) as connection:
            try:
                async with asyncio.timeout(timeout_s):
                    done = await run_command(connection.ssh, command, script)
                    key = connection.ssh.get_server_host_key()
            except TimeoutError as error:
                raise Unreachable(f"a script on {target.host} did not end in {timeout_s:.0f} s") from error
            except connection.failures as error:
                text = f"the connection to {target.host} was lost while a script ran there"
                raise ConnectionLost(text, detail=str(error)) from error
        if done.status is None:  # the connection was lost before the script ended
            raise ConnectionLost(f"the connection to {target.host} was lost while a script ran there")
        result = ScriptResult(
            rc=done.status,
            stdout=done.stdout,
            stderr=done.stderr,
            host_key=key.export_public_key().decode().strip() if key else "",
        )
        if sudo and result.rc == NO_SUDO:
            raise SudoRefused(
                f"sudo was refused on {target.host}",
                detail=result.stderr.strip(),
                hint=f"let {target.user or 'the login user'} run sudo without a password there",
            )
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a script ended; the status is None when the connection was lost before the end."""

    status: int | None
    stdout: str
    stderr: str


async def run_command(ssh: asyncssh.SSHClientConnection, command: str, script: str) -> Ended:
    """Run a command with a script on its standard input, which the command need not read to its end."""
    process = await ssh.create_process(command, errors="replace")
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(script)
        process.stdin.write_eof()
    stdout, stderr = await asyncio.gather(_all(process.stdout), _all(process.stderr))
    await process.wait_closed()
    return Ended(status=process.exit_status, stdout=stdout, stderr=stderr)


async def _all(stream: asyncssh.SSHReader[str]) -> str:
    found = ""
    while piece := await stream.read(limits.SCRIPT_OUTPUT):
        found += piece
        if len(found) > limits.SCRIPT_OUTPUT:
            raise BadAnswer(f"a script printed more than {limits.SCRIPT_OUTPUT} characters")
    return found
