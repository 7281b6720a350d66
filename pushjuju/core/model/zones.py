"""Chooses the availability zone of a machine. Pure. Mirrors: juju worker/provisioner (3.6)"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence


def candidates(
    zones: Sequence[str], *, wanted: Collection[str] = (), derived: Collection[str] = ()
) -> list[str]:
    """Return the zones that a machine may go to.

    Args:
        zones: The zones that the cloud offers for the machine, in the cloud's order.
        wanted: The constraint `zones`; empty for any zone.
        derived: Zones that the machine's placement or volumes require; empty when they require no zone.
    """
    return [zone for zone in zones if (not wanted or zone in wanted) and (not derived or zone in derived)]


def choose(
    zones: Sequence[str],
    population: Mapping[str, int],
    *,
    failed: Collection[str] = (),
    draw: Callable[[Sequence[str]], str],
) -> str | None:
    """Return the zone with the fewest machines of the group; None when every zone has failed.

    Args:
        zones: Zones as `candidates` returns them.
        population: Zone -> machines of the distribution group; a zone without machines may be missing.
        failed: Zones in which the machine failed to start in this round.
    """
    open_ones = [zone for zone in zones if zone not in failed]
    if not open_ones:
        return None
    fewest = min(population.get(zone, 0) for zone in open_ones)
    return draw([zone for zone in open_ones if population.get(zone, 0) == fewest])
