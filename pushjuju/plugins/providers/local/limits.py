"""Computes how many machines can run at once under the limits of this host's kernel."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushjuju.plugins.api.findings import Finding, Fix

MACHINES = 250  # the most in the /24 that a controller chooses by itself
_MEMORY_MIB = 30  # MiB of an idle machine


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of the kernel."""

    name: str  # the limit's name in `sysctl`
    each: float  # how much one machine uses, as measured
    base: int  # how much the host itself uses
    wanted: int  # a value that suffices for `MACHINES`
    what: str  # what happens beyond the limit
    raised: bool = False  # True when the start of the first machine raises the limit

    @property
    def path(self) -> Path:
        """The limit's file below /proc/sys."""
        return Path("/proc/sys", *self.name.split("."))

    def room(self, value: int) -> int:
        """Return how many machines can run with a value of the limit."""
        return max(int((value - self.base) / self.each), 0)


LIMITS = (
    Limit("fs.inotify.max_user_instances", 8, 8, 8192, "further machines hang while they boot", raised=True),
    Limit("fs.inotify.max_user_watches", 60, 4096, 65536, "further machines hang while they boot"),
    Limit("kernel.pid_max", 25, 1000, 32768, "no process can be started any more"),
    Limit("net.ipv4.neigh.default.gc_thresh3", 1, 16, 1024, "machines cannot reach each other"),
    Limit("kernel.keys.root_maxkeys", 20, 200, 20000, "services in machines do not start"),
    Limit("kernel.pty.max", 4, 64, 4096, "no terminal can be opened"),
)


def values(limits: Sequence[Limit] = LIMITS) -> dict[str, int]:
    """Return the values of the limits that this kernel has: name -> value."""
    found = {}
    for limit in limits:
        try:
            found[limit.name] = int(limit.path.read_text(encoding="ascii").split()[0])
        except (OSError, ValueError, IndexError):
            continue
    return found


def changeable() -> bool:
    """Return True when this process can change limits; inside most containers it cannot."""
    try:
        return not os.statvfs("/proc/sys/fs").f_flag & os.ST_RDONLY
    except OSError:
        return False


def findings(known: Mapping[str, int], memory_mib: int, *, can_change: bool) -> list[Finding]:
    """Return a finding for each limit on the number of machines, with the command that raises the limit.

    Args:
        known: The result of `values`.
        memory_mib: The memory of this host.
        can_change: The result of `changeable`.
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
