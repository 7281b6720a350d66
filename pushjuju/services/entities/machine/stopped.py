"""Finds machines on this host that are stopped, so that `status` need not contact them."""

from __future__ import annotations

from collections.abc import Mapping

from pushjuju.services.entities.basis.context import Context

STOPPED = "is stopped; the next command that needs the machine starts it"


def stopped(ctx: Context, cloud_type: str, running: Mapping[str, str]) -> set[str]:
    """Return the ids of the machines that are stopped.

    Args:
        cloud_type: The type of the model's cloud; only machines of a `local` cloud are on this host.
        running: Instance -> id of its machine, for machines that ran at their last contact.
    """
    if cloud_type != "local" or not running:
        return set()
    from pushjuju.plugins.providers.nspawn import glance  # commands on other clouds do without

    return {running[instance] for instance in glance.stopped(ctx.controller.machines, running)}
