"""Machines of this host that are off, known before a command has tried to reach them."""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.services.entities.basis.context import Context

STOPPED = "is stopped; the next command that needs the machine starts it"


def stopped(ctx: Context, cloud_type: str, running: Mapping[str, str]) -> set[str]:
    """Return the ids of the machines that are off.

    Args:
        cloud_type: Of the model's cloud; only `local` has its machines on this host.
        running: Instance -> id of its machine, of those that ran when they were seen last.
    """
    if cloud_type != "local" or not running:
        return set()
    from pushjuju.plugins.providers.nspawn import glance  # commands on other clouds do without

    return {running[instance] for instance in glance.stopped(ctx.controller.machines, running)}
