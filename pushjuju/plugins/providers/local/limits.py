"""How many machines the limits of this host's kernel let run at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushjuju.plugins.api.findings import Finding, Fix

MACHINES = 250  # what fits into the /24 that a controller takes by itself
_MEMORY_MIB = 30  # of an idle machine


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit.

    Attributes:
        name: As `sysctl` has it.
        each: The use of one machine, as measured.
        base: The use of the host itself.
        wanted: A value that is enough for `MACHINES`.
        raised: The first machine's start raises it by itself.
        what: The consequence of going beyond it.
    """

    name: str
    each: float
    base: int
    wanted: int
    what: str
    raised: bool = False

    @property
    def path(self) -> Path:
        """Its file below /proc/sys."""
        return Path("/proc/sys", *self.name.split("."))

    def room(self, value: int) -> int:
        """Return how many machines a value lets run."""
        return max(int((value - self.base) / self.each), 0)


LIMITS = (
    Limit("fs.inotify.max_user_instances", 8, 8, 8192, "further machines hang while they boot", raised=True),
    Limit("fs.inotify.max_user_watches", 60, 4096, 65536, "further machines hang while they boot"),
    Limit("kernel.pid_max", 25, 1000, 32768, "nothing can be started any more"),
    Limit("net.ipv4.neigh.default.gc_thresh3", 1, 16, 1024, "machines lose sight of each other"),
    Limit("kernel.keys.root_maxkeys", 20, 200, 20000, "services in machines do not start"),
    Limit("kernel.pty.max", 4, 64, 4096, "nobody gets a terminal"),
)


def values(limits: Sequence[Limit] = LIMITS) -> dict[str, int]:
    """Return the limits that this kernel has: name -> value."""
    found = {}
    for limit in limits:
        try:
            found[limit.name] = int(limit.path.read_text(encoding="ascii").split()[0])
        except (OSError, ValueError, IndexError):
            continue
    return found


def changeable() -> bool:
    """Return True when limits can be changed here; inside most containers they cannot."""
    try:
        return not os.statvfs("/proc/sys/fs").f_flag & os.ST_RDONLY
    except OSError:
        return False


def findings(known: Mapping[str, int], memory_mib: int, *, can_change: bool) -> list[Finding]:
    """Return what bounds the number of machines, each with the command that lifts it.

    Args:
        known: As `values` returns it.
        memory_mib: Memory of this host.
        can_change: As `changeable` returns it.
    """
    found = []
    for limit in LIMITS:
        value = known.get(limit.name)
        if value is None:
            continue
        room = limit.room(value)
        name = f"{limit.name} = {value}"
        if limit.raised and can_change and value < limit.wanted:
            message, good = f"{name}: raised to {limit.wanted} when a machine starts", True
        elif room >= MACHINES:
            message, good = f"{name}: enough for {MACHINES} machines and more", True
        else:
            message, good = f"{name}: enough for about {room} machines; beyond, {limit.what}", False
        fix = None if good else Fix(command=("sysctl", "-w", f"{limit.name}={limit.wanted}"))
        found.append(Finding(name=limit.name, ok=good, message=message, fix=fix, required=False))
    room = memory_mib // _MEMORY_MIB
    message = f"{memory_mib} MiB: about {room} idle machines"
    found.append(Finding(name="memory", ok=room >= 1, message=message, required=False))
    return found
