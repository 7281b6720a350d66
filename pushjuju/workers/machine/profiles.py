"""Gives containers the LXD profiles of their charms before the hooks of these charms run.

Mirrors: juju worker/instancemutater (3.6)
"""

from __future__ import annotations

from pushjuju.core.errors import PushjujuError
from pushjuju.plugins.api.providers import Profiled
from pushjuju.services.entities.charm import charm_profiles
from pushjuju.store.rows.records import Machine
from pushjuju.workers.events import Event
from pushjuju.workers.runtime import Runtime

FEATURE = "charm-profiles"


class ProfilesFailed(
    PushjujuError, message="cannot apply the LXD profiles of charms", code="profiles-failed"
):
    """A container lacks the profiles of its charms; its units wait for the next attempt."""


async def apply(runtime: Runtime, machine: Machine) -> None:
    """Give a machine the profiles that the charms of its units need, and no others, if its cloud can.

    Raises:
        ProfilesFailed: The cloud did not apply the profiles.
    """
    if FEATURE not in runtime.features(machine.provider):
        return
    with runtime.ctx.read(machine.model) as tx:
        wanted = charm_profiles.as_plugin_sees(tx, machine.id)
        present, problem = charm_profiles.applied(tx, machine)
        known = charm_profiles.can_have(tx, machine)
        keep = frozenset(charm_profiles.wanted(tx))
    documents = {item.name: item.document() for item in wanted}
    if not known:  # record that units now wait for their profiles
        with runtime.ctx.write(machine.model) as tx:
            charm_profiles.note(tx, machine, present)
    if documents == present and not problem:
        return
    provider = runtime.provider_of(machine)
    if not isinstance(provider, Profiled):
        raise ProfilesFailed(
            f"the provider of machine {machine.id} declares profiles, but does not support them"
        )
    runtime.tell(Event(entity=f"machine {machine.id}", text=f"profiles: {', '.join(documents) or 'none'}"))
    try:
        await provider.set_profiles(machine.instance_id, wanted, keep)
    except PushjujuError as error:
        with runtime.ctx.write(machine.model) as tx:
            charm_profiles.note(tx, machine, present, f"cannot apply charm profiles: {error.full_text}")
        raise ProfilesFailed(
            f"machine {machine.id} cannot have the LXD profiles of its charms", detail=error.full_text
        ) from error
    runtime.checkpoint("profiles-applied")
    with runtime.ctx.write(machine.model) as tx:
        charm_profiles.note(tx, machine, documents)


async def sweep(runtime: Runtime, machine: Machine) -> None:
    """Delete the profiles of charms that no unit of the model uses, after a container was removed."""
    if FEATURE not in runtime.features(machine.provider):
        return
    with runtime.ctx.read(machine.model) as tx:
        had = bool(charm_profiles.applied(tx, machine)[0])
        keep = frozenset(charm_profiles.wanted(tx))
    provider = runtime.provider_of(machine)
    if had and isinstance(provider, Profiled):
        await provider.set_profiles("", (), keep)


def lacking(runtime: Runtime, machine: Machine) -> frozenset[str]:
    """Return the applications whose units wait for a profile on a machine."""
    if FEATURE not in runtime.features(machine.provider):
        return frozenset()
    with runtime.ctx.read(machine.model) as tx:
        return charm_profiles.lacking(tx, machine)
