"""How machines are reached over SSH: targets, and plain scripts for providers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushjuju.core import limits
from pushjuju.core.errors import BadAnswer, ConnectionLost, SudoRefused, Unreachable
from pushjuju.core.jumps import Hop
from pushjuju.core.names import machine_tag, parent_machine
from pushjuju.plugins.api.targets import ScriptResult, SSHTarget
from pushjuju.runner.ssh.transport import Connector
from pushjuju.runner.target import MachineTarget
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.model import jump_hosts
from pushjuju.store.rows.records import Machine

if TYPE_CHECKING:
    import asyncssh

NO_SUDO = 97  # exit status of AS_ROOT when root rights were refused
AS_ROOT = (
    'if [ "$(id -u)" = 0 ]; then exec /bin/sh -s; fi; '
    f"sudo -n true || exit {NO_SUDO}; exec sudo -n /bin/sh -s"
)


def reach(ctx: Context, model: str, ssh: Mapping[str, Any], *, config: bool) -> MachineTarget:
    """Return a target from what a machine's row keeps, with the jump hosts on the way.

    Args:
        ssh: {host, port, user, host_keys, jump, identities}.
        config: Whether the user's own SSH configuration and agent count.
    """
    known_hosts = ctx.controller.known_hosts(model)
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


def key_alias(machine: Machine) -> str | None:
    """Return the name of a container in files of host keys; None for others, which go by their address.

    Containers on different hosts may have the same address.
    """
    return machine_tag(machine.id) if parent_machine(machine.id) else None


def _way(ctx: Context, model: str, hops: Sequence[Hop]) -> MachineTarget | None:
    """Return the last jump host, with the others on the way to it, or None without jump hosts.

    They are a user's: their keys and configuration count besides the controller's key.
    """
    way: MachineTarget | None = None
    for hop in hops:
        way = MachineTarget(
            host=hop.host,
            port=hop.port,
            user=hop.user or None,
            jump=way,
            identity_files=(ctx.controller.private_key,),
            known_hosts=ctx.controller.known_hosts(model),
        )
    return way


class ScriptRunner:
    """Runs plain scripts for providers, over the controller's own transport."""

    def __init__(self, ctx: Context, connector: Connector, model: str) -> None:
        self._ctx = ctx
        self._connector = connector
        self._model = model

    async def run_script(
        self,
        target: SSHTarget,
        script: str,
        *,
        sudo: bool = False,
        interactive: bool = False,
        timeout_s: float = 60.0,
    ) -> ScriptResult:
        """Run a POSIX shell script on a machine; its text travels over standard input.

        Nobody is asked for a password: a controller may run without a terminal.

        Raises:
            SudoRefused: Logged in, but not allowed to become root.
            TransportError: No login, or the connection broke.
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
        async with self._connector.connect(reach(self._ctx, self._model, ssh, config=True)) as connection:
            try:
                async with asyncio.timeout(timeout_s):
                    done = await run_command(connection.ssh, command, script)
                    key = connection.ssh.get_server_host_key()
            except TimeoutError as error:
                raise Unreachable(f"a script on {target.host} did not end in {timeout_s:.0f} s") from error
            except connection.failures as error:
                text = f"the connection to {target.host} was lost while a script ran there"
                raise ConnectionLost(text, detail=str(error)) from error
        if done.status is None:  # the connection went before the script had ended
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
    """How a script ended; no status: the connection went first."""

    status: int | None
    stdout: str
    stderr: str


async def run_command(ssh: asyncssh.SSHClientConnection, command: str, script: str) -> Ended:
    """Run a command with a script on its standard input; one that ends before it reads is taken as it is."""
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
