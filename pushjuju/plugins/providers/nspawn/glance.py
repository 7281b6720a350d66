"""Finds the machines that do not run, with two file system calls for each machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pushjuju.plugins.providers.nspawn.cgroups import Cgroup, hierarchies
from pushjuju.plugins.providers.nspawn.layout import Layout


def stopped(data_dir: Path, instances: Iterable[str]) -> set[str]:
    """Return the instances that do not run, of those with a folder in the controller's directory.

    Args:
        data_dir: The directory of the controller's data.
        instances: Ids of instances, of any provider.
    """
    layout, tree = Layout.of(data_dir), tuple(hierarchies())
    if not (tree and layout.machines.is_dir()):
        return set()  # without access to cgroups, the state of machines is unknown
    known = set(instances).intersection(path.name for path in layout.machines.iterdir())
    return {name for name in known if not Cgroup(layout.cgroup(name), tree).populated()}
