"""Sets up new machines, with cloud-init or a script, before any hook runs there.

Juju's agent starts after cloud-init has ended; a hook that ran earlier would find apt locked, or packages
missing.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from pushjuju.core import cloudinit_script
from pushjuju.core.base import Base
from pushjuju.core.errors import HeldElsewhere, Unreachable
from pushjuju.core.holding import HELD, claim_script
from pushjuju.plugins.api.targets import SSHTarget
from pushjuju.runner.session import MachineSession
from pushjuju.services.entities.model import model_config
from pushjuju.store.rows.records import Machine
from pushjuju.workers.events import Event
from pushjuju.workers.provision import provisioner, userdata
from pushjuju.workers.reach import ScriptRunner
from pushjuju.workers.runtime import Runtime

WAIT_S = 1800  # enough to upgrade all packages over a slow line
_LONGEST = 300  # shown characters of a machine's error text
# `cloud-init status --wait` returns at once after a failed stage, so wait for the file that marks the end.
_SCRIPT = f"""command -v cloud-init >/dev/null 2>&1 || exit 0
left={WAIT_S}
while [ ! -e /var/lib/cloud/instance/boot-finished ]; do
  [ $left -gt 0 ] || exit 75
  left=$((left - 1))
  sleep 1
done
head -c 4096 /run/cloud-init/result.json 2>/dev/null || true
"""


_APPLIED = "/var/lib/juju/pushjuju-user-data"
# Runs once: a repetition after a lost connection finds the mark, or waits for the run that goes on.
_ONCE = f"""export DEBIAN_FRONTEND=noninteractive HOME=/root LANG=C.UTF-8 PATH="$PATH:/usr/sbin:/sbin"
%(claim)s
mkdir -p /var/lib/juju
exec 9>{_APPLIED}.lock
command -v flock >/dev/null && flock -w {WAIT_S} 9
[ "$(cat {_APPLIED} 2>/dev/null)" != %(nonce)s ] || exit 0
trap "" HUP PIPE
steps() {{
:
%(script)s}}
steps 9>&- >>/var/log/cloud-init-output.log 2>&1 </dev/null
echo %(nonce)s > {_APPLIED}
"""


async def apply(runtime: Runtime, machine: Machine) -> None:
    """Run the user data of a machine that boots without user data, as a script that may install Python."""
    if not (script := _script(runtime, machine)):
        return
    runtime.tell(Event(entity=f"machine {machine.id}", text="setting itself up (user data as a script)"))
    claim = claim_script(runtime.owner_of(machine))
    once = _ONCE % {"script": script, "nonce": shlex.quote(machine.nonce), "claim": claim}
    runner = ScriptRunner(runtime.base_ctx, runtime.connector, machine.model)
    done = await runner.run_script(_target(machine), once, sudo=True, timeout_s=WAIT_S + 60.0)
    if done.rc == HELD:
        raise HeldElsewhere(detail=done.stderr.strip())
    if done.rc != 0:
        text = f"the user data ended with exit code {done.rc}: {done.stderr[-_LONGEST:]}"
        runtime.tell(Event(entity=f"machine {machine.id}", text=text, state="failed"))


def _script(runtime: Runtime, machine: Machine) -> str:
    ctx = runtime.ctx
    with ctx.read(machine.model) as tx:
        config = model_config.several(tx, userdata.KEYS)
    if provisioner.is_manual(machine):
        document = userdata.wanted(config)
    elif "script" in runtime.features(machine.provider):
        request = provisioner.request_for(runtime, machine)
        identity = userdata.host_identity(ctx.controller, request.nonce)
        document = userdata.for_script(request, config, identity, ctx.datadir.root / "templates")
        document = dict(runtime.host.user_data(request, document))
    else:
        return ""
    if left_out := cloudinit_script.unknown_keys(document):
        runtime.warn(f"machine {machine.id}: left out of the user data: {', '.join(left_out)}")
    return cloudinit_script.to_script(document, userdata.packager(Base.parse(machine.base)))


def _target(machine: Machine) -> SSHTarget:
    ssh = machine.ssh
    return SSHTarget(
        host=str(ssh["host"]),
        port=int(ssh.get("port") or 22),
        user=str(ssh.get("user") or ""),
        host_keys=tuple(ssh.get("host_keys") or ()) or None,
        proxy_jump=str(ssh.get("jump") or ""),
        identities=tuple(Path(item) for item in ssh.get("identities") or ()),
    )


async def wait(runtime: Runtime, machine: Machine, session: MachineSession) -> None:
    """Wait for the end of cloud-init on a machine that booted with user data; other machines need no wait."""
    if "user-data" not in runtime.features(machine.provider):
        return
    runtime.tell(Event(entity=f"machine {machine.id}", text="setting itself up (cloud-init)"))
    done = await session.exec(script=_SCRIPT, timeout=WAIT_S + 60.0)
    if done.exit == 75:
        raise Unreachable(f"cloud-init did not end on machine {machine.id} in {WAIT_S // 60} minutes")
    if problem := _problem(done.stdout):
        text = f"cloud-init ended with an error: {problem}"
        runtime.tell(Event(entity=f"machine {machine.id}", text=text, state="failed"))


def _problem(text: str) -> str:
    """Return the first error in cloud-init's result, or "" for no error and for a result of another shape."""
    try:
        found = json.loads(text)["v1"]["errors"]
        return str(found[0])[:_LONGEST] if found else ""
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return ""
