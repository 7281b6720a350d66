"""The paths of pushjuju's files on a machine.

Mirrors: juju agent/paths and worker/uniter/paths.go (3.6). ``root`` stands before all paths; tests set it.
"""

from __future__ import annotations

import fcntl
import os
import zlib

from pushjuju.portable import names

PERL = "/usr/bin/perl"
AGENT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"
SOCKET_PATH_MAX = 100  # sun_path holds 108 bytes


class BadName(ValueError):
    """A name from the controller that could leave its directory."""


def _plain(name: str) -> bool:
    return bool(name) and all(c.isalnum() or c == "-" for c in name) and name.isascii()


_tags: dict[str, str] = {}  # of the units whose paths this process has used


def unit_tag(unit: str) -> str:
    """Return ``unit-web-0`` for ``web/0``; refuse anything that is not a unit name."""
    found = _tags.get(unit)
    if found is None:
        try:
            found = _tags[unit] = names.unit_tag(unit)
        except ValueError as error:
            raise BadName(str(error)) from None
    return found


def lease_name(model: str) -> str:
    """Return the name of the file that keeps a model's highest lease."""
    if not _plain(model):
        raise BadName('"%s" is not a valid model UUID' % model)
    return "lease-" + model


def marker(root: str) -> str:
    """Return the path of the file that names the controller which holds the machine."""
    return root + "/var/lib/pushjuju/machine"


def has_perl() -> bool:
    """Return True when Perl is where the hook tool client expects it."""
    return os.access(PERL, os.X_OK)


class Layout:
    """The paths of pushjuju's files below a root directory."""

    def __init__(self, root: str, program: str) -> None:
        self.root = root
        self.program = program
        self.juju = root + "/var/lib/juju"
        self.base = self.juju + "/pushjuju"
        self.journal = self.base + "/journal"
        self.blobs = self.base + "/blobs"
        self.machine_lock = self.base + "/machine-lock"
        self.agents = self.juju + "/agents"
        self.tools = self.juju + "/tools"
        self.version = os.path.basename(program)

    def agent(self, unit: str) -> str:
        """Return the agent directory of a unit."""
        return self.agents + "/" + unit_tag(unit)

    def charm(self, unit: str) -> str:
        """Return the charm directory of a unit."""
        return self.agent(unit) + "/charm"

    def unit_tools(self, unit: str) -> str:
        """Return the directory with the hook tools of a unit."""
        return self.tools + "/" + unit_tag(unit)

    def units(self) -> list[str]:
        """Return the units with files of pushjuju here; units of a Juju agent have an ``agent.conf``."""
        try:
            names = sorted(os.listdir(self.agents))
        except OSError:
            return []
        names = [name for name in names if not os.path.exists("%s/%s/agent.conf" % (self.agents, name))]
        parts = [name[5:].rpartition("-") for name in names if name.startswith("unit-")]
        return ["%s/%s" % (app, number) for app, _, number in parts if _plain(app) and number.isdigit()]

    def charms(self) -> list[str]:
        """Return the units whose charm is unpacked on the machine."""
        return [unit for unit in self.units() if os.path.exists(self.charm(unit) + "/metadata.yaml")]

    def socket(self, unit: str) -> str:
        """Return the hook tool socket of a unit: Juju's path, or a short path when Juju's is too long."""
        path = self.agent(unit) + "/agent.socket"
        if len(os.fsencode(path)) <= SOCKET_PATH_MAX:
            return path
        return "/run/pushjuju-%08x.socket" % zlib.crc32(os.fsencode(path))


def is_held(path: str) -> bool:
    """Return True when a process holds the lock of a file, which ends with the process."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def read_text(path: str, default: str = "") -> str:
    """Return the content of a small file, or the default when it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return default
    try:
        pieces: list[bytes] = []
        while True:
            data = os.read(fd, 65536)
            if not data:
                return b"".join(pieces).decode("utf-8", "replace")
            pieces.append(data)
    except OSError:
        return default
    finally:
        os.close(fd)


def name_process(name: str) -> None:
    """Name this process for ``ps`` and ``top``: its command line would be of no help to an administrator."""
    try:
        fd = os.open("/proc/self/comm", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(fd, name.encode("ascii"))
    except OSError:
        pass
    finally:
        os.close(fd)


def boot_id() -> str:
    """Return the identity of the running boot of this machine.

    A container that reboots keeps the kernel's boot id, but not the start of its first process.
    """
    return "%s-%s" % (read_text("/proc/sys/kernel/random/boot_id").strip(), process_start(1))


def process_start(pid: int) -> str:
    """Return the start time of a process in clock ticks, or "" when it has ended; pids are reused."""
    stat = read_text("/proc/%d/stat" % pid)
    fields = stat[stat.rfind(")") + 2 :].split()
    if len(fields) < 20 or fields[0] in ("Z", "X"):
        return ""
    return fields[19]
