"""The requests to retry or contact machines. Mirrors: juju cmd/juju/machine/retryprovisioning.go (3.6)"""

from __future__ import annotations

from collections.abc import Sequence

from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.machine import machines


def contact(ctx: Context, model: str, machine_id: str, reason: str) -> None:
    """Let a machine be contacted at once, as `see_again` does."""
    with ctx.change(model) as tx:
        machines.see_again(tx, machine_id, reason)


def retry_provisioning(ctx: Context, model: str, ids: Sequence[str]) -> list[str]:
    """Retry the start of machines that failed to start, by default of all of them; return their ids."""
    with ctx.change(model) as tx:
        chosen = [machines.require_id(text) for text in ids] or machines.not_started(tx)
        for machine_id in chosen:
            machines.retry_start(tx, machine_id)
    return chosen
