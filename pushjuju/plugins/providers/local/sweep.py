"""Finds and removes everything that machines of one controller left on this host.

A normal removal leaves nothing. An interrupted removal, a killed test run or a deleted data directory leave
things that have no record any more; they are found by the controller's prefix.
"""

from __future__ import annotations

from pathlib import Path

from pushjuju.plugins.providers.local import network
from pushjuju.plugins.providers.local.machines import remove
from pushjuju.plugins.providers.local.system import mounts_below, remove_tree, run
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup, hierarchies
from pushjuju.plugins.providers.nspawn.layout import Layout

_NETNS = Path("/run/netns")
_PROPAGATE = Path("/run/systemd/nspawn/propagate")
_DEVICES = Path("/sys/class/net")


def leftovers(layout: Layout) -> list[str]:
    """Return what this host has with the controller's prefix or in its folder; needs root for nft."""
    found = [f"cgroup {path}" for path in _cgroups(layout)]
    found += [f"namespace {name}" for name in _named(_NETNS, layout)]
    found += [f"device {name}" for name in _named(_DEVICES, layout)]
    found += [f"mount {point}" for point in mounts_below(layout.state)]
    found += [f"folder {name} of systemd-nspawn" for name in _named(_PROPAGATE, layout)]
    if f"table inet {layout.bridge}" in run(["nft", "list", "tables"], check=False).splitlines():
        found.append(f"nft table {layout.bridge}")
    if layout.state.exists():
        found.append(f"folder {layout.state}")
    return found


def sweep(layout: Layout) -> None:
    """End all machines of a controller, and remove everything with its prefix. Needs root."""
    for folder in sorted(layout.machines.iterdir()) if layout.machines.is_dir() else []:
        if folder.is_dir():
            remove(layout, folder.name, grace_s=0)
    for path in _cgroups(layout):
        cgroup = Cgroup.of(f"{layout.prefix}/{path.name}")
        cgroup.kill()
        cgroup.remove()
    for item in hierarchies():
        if (item.path / layout.prefix).is_dir():
            (item.path / layout.prefix).rmdir()
    for name in _named(_DEVICES, layout):
        run(["ip", "link", "del", name], check=False)
    for name in _named(_NETNS, layout):
        run(["ip", "netns", "del", name], check=False)
    for name in _named(_PROPAGATE, layout):
        (_PROPAGATE / name).rmdir()
    network.remove_network(layout)
    remove_tree(layout.state)


def _cgroups(layout: Layout) -> list[Path]:
    tops = (item.path / layout.prefix for item in hierarchies())
    return [path for top in tops if top.is_dir() for path in sorted(top.iterdir()) if path.is_dir()]


def _named(folder: Path, layout: Layout) -> list[str]:
    if not folder.is_dir():
        return []
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name == layout.bridge or name.startswith(f"{layout.prefix}-")]
