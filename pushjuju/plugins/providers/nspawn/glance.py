"""Finds out which machines are off, from two looks at files of this host each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pushjuju.plugins.providers.nspawn.cgroups import Cgroup, hierarchies
from pushjuju.plugins.providers.nspawn.layout import Layout


def stopped(data_dir: Path, instances: Iterable[str]) -> set[str]:
    """Return the machines of a controller that do not run, of those that have a folder here.

    Args:
        data_dir: Where the controller's providers keep their machines.
        instances: Ids of instances, of whatever provider.
    """
    layout, tree = Layout.of(data_dir), tuple(hierarchies())
    if not (tree and layout.machines.is_dir()):
        return set()  # cgroups cannot be seen from here, so nothing is known
    known = set(instances).intersection(path.name for path in layout.machines.iterdir())
    return {name for name in known if not Cgroup(layout.cgroup(name), tree).populated()}
