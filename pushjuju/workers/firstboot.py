"""Waits until a new machine has set itself up by cloud-init, before any hook runs there. Layer: workers.

Juju's agent starts at the end of cloud-init; a hook that ran beside it would find apt locked, or less
installed than the model wants.
"""

from __future__ import annotations

import json

from pushjuju.core.errors import Unreachable
from pushjuju.runner.session import MachineSession
from pushjuju.state.records import Machine
from pushjuju.workers.events import Event
from pushjuju.workers.workshop import Workshop

WAIT_S = 1800  # an upgrade of all packages over a slow line
_LONGEST = 300  # characters of what the machine says that are shown
# `cloud-init status --wait` returns at once when a stage failed: the mark of the end is waited for instead.
_SCRIPT = f"""command -v cloud-init >/dev/null 2>&1 || exit 0
left={WAIT_S}
while [ ! -e /var/lib/cloud/instance/boot-finished ]; do
  [ $left -gt 0 ] || exit 75
  left=$((left - 1))
  sleep 1
done
head -c 4096 /run/cloud-init/result.json 2>/dev/null || true
"""


async def wait(shop: Workshop, machine: Machine, session: MachineSession) -> None:
    """Wait for the end of cloud-init on a machine that boots with our document; others are ready.

    Raises:
        Unreachable: It does not end.
        TransportError: The machine was lost.
    """
    features = {kind.name: kind.features for kind in shop.host.provider_types()}
    if "user-data" not in features.get(machine.provider, ()):
        return
    shop.tell(Event(entity=f"machine {machine.id}", text="setting itself up (cloud-init)"))
    done = await session.exec(script=_SCRIPT, timeout=WAIT_S + 60.0)
    if done.exit == 75:
        raise Unreachable(f"cloud-init did not end on machine {machine.id} in {WAIT_S // 60} minutes")
    if problem := _problem(done.stdout):
        text = f"cloud-init ended with an error: {problem}"
        shop.tell(Event(entity=f"machine {machine.id}", text=text, state="failed"))


def _problem(text: str) -> str:
    """Return the first error of cloud-init's result; what a machine makes up is shown, and no more."""
    try:
        found = json.loads(text)["v1"]["errors"]
        return str(found[0])[:_LONGEST] if found else ""
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return ""
