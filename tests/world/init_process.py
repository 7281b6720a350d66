"""Finds the systemd of a real machine on the local cloud, whose namespaces tests enter."""

from __future__ import annotations

from pathlib import Path

from pushjuju.plugins.providers.nspawn.cgroups import Cgroup


def init_process(cgroup: str) -> int | None:
    """Return the process id, on the host, of the process 1 of a machine, or None when the machine is off.

    systemd forks in its own cgroup, and after the host's process ids have wrapped around, a fork's id may be
    lower than systemd's. So only the id inside the machine tells.
    """
    depth = len(_ids("self")) + 1
    for pid in Cgroup.of(cgroup).pids():
        ids = _ids(str(pid))
        if len(ids) == depth and ids[-1] == "1":
            return pid
    return None


def _ids(pid: str) -> list[str]:
    """Return a process's id in each nested namespace, the host's first; nothing for an ended process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return []
    return next((line.split()[1:] for line in lines if line.startswith("NSpid:")), [])
