"""Writes `authorized_keys` of the users of a machine: the keys that may log in.

The lines of pushjuju end with a mark that names the model; all other lines stay. A script runs as the user
who owns the file, never as root in a user's home. Writing twice changes nothing. A machine that refuses the
keys delays no hook.

Mirrors: juju worker/authenticationworker (3.6)
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from pushjuju.core.errors import Overtaken, PushjujuError, RemoteFailed
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.basis import logs
from pushjuju.services.entities.model import ssh_keys
from pushjuju.store.rows.records import Machine
from pushjuju.workers.events import Event
from pushjuju.workers.reach import ScriptRunner
from pushjuju.workers.runtime import Runtime

TIMEOUT_S = 30.0
LOGGER = "juju.worker.authenticationworker"
_USER = "ubuntu"  # the user whose logins Juju allows, where the user exists
# Arguments: the home, the mark. The lines come on standard input: 200 RSA keys are too long for an argument.
# The file is replaced in one step, and only when its content changes.
_WRITE = """set -e
umask 077
file="$1/.ssh/authorized_keys"
lines=$(cat)
[ -n "$lines" ] || [ -e "$file" ] || exit 0
mkdir -p "$1/.ssh"
touch "$file"
{ grep -vF -e " $2" "$file" || [ $? -eq 1 ]; [ -z "$lines" ] || printf '%s\\n' "$lines"; } > "$file.pushjuju"
if cmp -s "$file" "$file.pushjuju"; then rm -f "$file.pushjuju"; else mv -f "$file.pushjuju" "$file"; fi
"""


def mark(model: str) -> str:
    """Return the end of the lines that belong to a model."""
    return f"pushjuju:{model}"


def script(machine: Machine, keys: Sequence[str]) -> str:
    """Return a POSIX shell script for root that gives the machine's users exactly these keys of the model."""
    users = dict.fromkeys((str(machine.ssh.get("user") or _USER), _USER))
    ours = mark(machine.model)
    wanted = "".join(f"{key} {ours}\n" for key in keys)
    named = " ".join(shlex.quote(user) for user in users)
    return f"""set -e
keys={shlex.quote(wanted)}
for user in {named}; do
  home=$(getent passwd "$user" | cut -d: -f6)
  [ -n "$home" ] && [ -d "$home" ] || continue
  set -- /bin/sh -c {shlex.quote(_WRITE)} sh "$home" {shlex.quote(ours)}
  [ "$(id -u "$user")" = 0 ] || set -- runuser -u "$user" -- "$@"
  printf '%s' "$keys" | "$@"
done
"""


async def write(runtime: Runtime, machine: Machine, session: MachineSession) -> None:
    """Write a model's keys to a machine; when the machine refuses, report this and try again later."""
    with runtime.ctx.read(machine.model) as tx:
        keys = ssh_keys.lines(tx)
    try:
        done = await session.exec(script=script(machine, keys), timeout=TIMEOUT_S)
        if done.exit != 0:
            raise RemoteFailed(f"machine {machine.id} does not take the keys", detail=done.stderr.strip())
    except Overtaken:
        raise
    except RemoteFailed as error:
        _note(runtime, machine, error)
        return
    runtime.checkpoint("keys-written")
    with runtime.ctx.write(machine.model) as tx:
        ssh_keys.written(tx, machine.id, keys)
    runtime.tell(Event(entity=f"machine {machine.id}", text="keys written"))


def _note(runtime: Runtime, machine: Machine, error: RemoteFailed) -> None:
    text = error.full_text
    with runtime.ctx.write(machine.model) as tx:
        entity, now = f"machine-{machine.id}", runtime.ctx.clock.now()
        logs.append(tx, entity, "ERROR", LOGGER, text, now=now)
    runtime.tell(Event(entity=f"machine {machine.id}", text=text, state="failed"))


async def clear(runtime: Runtime, machine: Machine) -> None:
    """Remove the model's keys from a machine that leaves the model; a forced removal ignores failures."""
    with runtime.ctx.read(machine.model) as tx:
        if not machine.last_seen or not ssh_keys.ever(tx):
            return
    ssh = machine.ssh
    target = SSHTarget(
        host=str(ssh["host"]),
        port=int(ssh.get("port") or 22),
        user=str(ssh.get("user") or _USER),
        host_keys=tuple(ssh.get("host_keys") or ()) or None,
        proxy_jump=str(ssh.get("jump") or ""),
        identities=tuple(Path(item) for item in ssh.get("identities", ())),
    )
    runner = ScriptRunner(runtime.base_ctx, runtime.connector, machine.model)
    try:
        done = await runner.run_script(target, script(machine, ()), sudo=True, timeout_s=TIMEOUT_S)
        if done.rc != 0:
            raise RemoteFailed(f"machine {machine.id} keeps the keys", detail=done.stderr.strip())
    except PushjujuError as error:
        if not machine.forced:
            raise
        runtime.tell(
            Event(
                entity=f"machine {machine.id}", text=f"the keys could not be removed: {error}", state="failed"
            )
        )
