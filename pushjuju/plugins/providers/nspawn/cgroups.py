"""The cgroup of each machine: sets limits, shows what runs, and ends all processes of the machine.

On a host without systemd, nspawn machines would share one cgroup, and stopping a service in one machine would
stop it in the others. Works on v2, v1 and hybrid hosts:

    <hierarchy>/<prefix>/<id>/              limits
                             /supervisor    the shell that starts systemd-nspawn again after a reboot
                             /machine       systemd-nspawn, which makes payload/ and supervisor/ below
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from pushjuju.core.errors import ProviderError
from pushjuju.core.values import dataclass

_V1 = ("name=systemd", "memory", "cpu", "pids")
_V2_CONTROLLERS = "+cpu +memory +pids"
_CPU_PERIOD_US = 100_000
_MAX_PIDS = 16384
_REMOVE_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted cgroup hierarchy; `controller` is empty for v2."""

    path: Path
    controller: str = ""


def hierarchies(mountinfo: str | None = None) -> list[Hierarchy]:
    """Return the hierarchies in which machines get a cgroup, from the text of /proc/self/mountinfo."""
    text = mountinfo if mountinfo is not None else Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    found: dict[str, Hierarchy] = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        point, (kind, _, options) = before.split(" ")[4], after.split(" ", 2)
        if kind == "cgroup2":
            found.setdefault("", Hierarchy(Path(point)))
        elif kind == "cgroup":
            for controller in set(options.split(",")) & set(_V1):
                found.setdefault(controller, Hierarchy(Path(point), controller))
    unique = {item.path: item for item in found.values()}
    return list(unique.values())


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The cgroup of one machine, in all hierarchies."""

    name: str
    tree: tuple[Hierarchy, ...]

    @classmethod
    def of(cls, name: str) -> Cgroup:
        """Return the cgroup with a name on this host; the cgroup need not exist."""
        return cls(name, tuple(hierarchies()))

    @property
    def folders(self) -> list[Path]:
        return [item.path / self.name for item in self.tree]

    def create(self, *, cores: int | None, mem: int | None) -> None:
        """Make the cgroup with its limits.

        Args:
            cores: The number of processors whose time the machine may use; None for no limit.
            mem: MiB of memory; None for no limit.
        """
        if not self.tree:
            raise ProviderError("this host has no cgroups mounted", hint="pushjuju doctor")
        for item in self.tree:
            folder = item.path / self.name
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ProviderError(f"cannot make the cgroup {folder}: {error.strerror}") from error
            if not item.controller:
                for parent in (item.path, folder.parent, folder):
                    _try_write(parent / "cgroup.subtree_control", _V2_CONTROLLERS)
            for leaf in ("supervisor", "machine"):
                (folder / leaf).mkdir(exist_ok=True)
        self._limit(cores, mem)

    def _limit(self, cores: int | None, mem: int | None) -> None:
        wanted = {"pids.max": str(_MAX_PIDS)}
        if mem:
            wanted |= dict.fromkeys(("memory.max", "memory.limit_in_bytes"), str(mem * 1024 * 1024))
        if cores:
            wanted |= {
                "cpu.max": f"{cores * _CPU_PERIOD_US} {_CPU_PERIOD_US}",
                "cpu.cfs_period_us": str(_CPU_PERIOD_US),
                "cpu.cfs_quota_us": str(cores * _CPU_PERIOD_US),
            }
        for folder in self.folders:
            for name, value in wanted.items():
                if (folder / name).exists():
                    _try_write(folder / name, value)

    def pids(self) -> list[int]:
        """Return the ids of all processes in the cgroup, in any hierarchy."""
        found: set[int] = set()
        for top in self.folders:
            for folder, _, _ in os.walk(top):
                found.update(_procs(Path(folder)))
        return sorted(found)

    def _main(self) -> Path | None:
        """Return the folder where systemd-nspawn makes leaf cgroups, or None when all are in `machine`."""
        for controller in ("", "name=systemd"):
            for item in self.tree:
                if item.controller == controller:
                    return item.path / self.name
        return None

    def populated(self) -> bool:
        """Return True when any process of the machine runs; needs no root rights."""
        main = self._main()
        events = _read(main / "cgroup.events") if main else ""
        return "populated 1" in events if events else bool(self.pids())

    def machine_populated(self) -> bool:
        """Return True when the machine itself runs, and not only the loop that starts it."""
        main = self._main()
        return main is not None and any(_procs(Path(folder)) for folder, _, _ in os.walk(main / "machine"))

    def nspawn_pids(self) -> list[int]:
        """Return the process ids of systemd-nspawn itself, without those inside the machine."""
        main = self._main()
        return _procs(main / "machine" / "supervisor") + _procs(main / "machine") if main else []

    def supervisor_pids(self) -> list[int]:
        """Return the process ids of the loop that restarts the machine."""
        main = self._main()
        return _procs(main / "supervisor") if main else []

    def kill(self, wait_s: float = 5.0) -> None:
        """Kill every process of the machine."""
        deadline = time.monotonic() + wait_s
        while True:
            for item in self.tree:
                if not item.controller:
                    _try_write(item.path / self.name / "cgroup.kill", "1")
            pids = self.pids()
            if not pids:
                return
            send(pids, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise ProviderError(f"processes of {self.name} do not end: {', '.join(map(str, pids))}")
            time.sleep(0.01)

    def remove(self) -> None:
        """Delete the cgroup, and its parent when the parent is empty; a missing cgroup is no error."""
        deadline = time.monotonic() + _REMOVE_WAIT_S
        left = [top for top in self.folders if top.exists()]
        while left:
            for top in left:
                for folder, _, _ in os.walk(top, topdown=False):
                    _try_rmdir(Path(folder))
            left = [top for top in left if top.exists()]
            if left and time.monotonic() > deadline:
                raise ProviderError(f"the cgroup {left[0]} cannot be removed")
            if left:
                time.sleep(0.01)
        for top in self.folders:
            _try_rmdir(top.parent)


def send(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to processes; processes that have ended are ignored."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _procs(folder: Path) -> list[int]:
    return [int(word) for word in _read(folder / "cgroup.procs").split()]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _try_write(path: Path, text: str) -> None:
    """Write a limit to a cgroup file; without that controller on the host, the machine has no such limit."""
    try:
        path.write_text(text, encoding="ascii")
    except OSError:
        return


def _try_rmdir(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
