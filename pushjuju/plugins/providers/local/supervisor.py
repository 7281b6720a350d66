"""Starts a machine's systemd-nspawn so that it outlives us and comes back after a reboot."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from pushjuju.core import children
from pushjuju.plugins.providers.local.files import STORAGE
from pushjuju.plugins.providers.local.system import which
from pushjuju.plugins.providers.nspawn.cgroups import Cgroup

_NSPAWN = Path("/run/systemd/nspawn")
_ENTRY_S = 2.0  # how long the loop may take to enter the machine's cgroup

# nspawn leaves with 133 when the machine wants a reboot. Writing 0 moves the writing (sub)shell itself.
_LOOP = """cd /; umask 022
groups=$1; shift
for group in $groups; do echo 0 > "$group/supervisor/cgroup.procs" || exit 1; done
while :; do
  ( for group in $groups; do echo 0 > "$group/machine/cgroup.procs" || exit 1; done; exec "$@" )
  code=$?
  echo "machine ended with code $code"
  [ "$code" -eq 133 ] || exit "$code"
done
"""


def nspawn_command(folder: Path, hostname: str, name: str) -> list[str]:
    """Return the command that boots a machine.

    Args:
        folder: The machine's folder with `root` and `vol`.
        name: Its name on this host, which no machine of another controller has; also its network namespace.
    """
    volumes = str(folder / "vol").replace("\\", "\\\\").replace(":", "\\:")
    return [
        which("systemd-nspawn") or "systemd-nspawn",
        "--quiet",
        f"--directory={folder / 'root'}",
        f"--machine={name}",
        f"--hostname={hostname}",
        "--register=no",
        "--keep-unit",
        f"--network-namespace-path=/run/netns/{name}",
        "--resolv-conf=off",
        "--timezone=off",
        "--link-journal=no",
        "--kill-signal=SIGRTMIN+3",
        "--console=pipe",
        "--capability=CAP_NET_ADMIN",
        f"--bind={volumes}:/{STORAGE}:rbind",
        *(f"--bind={device}" for device in loop_devices()),
        "--boot",
    ]


def loop_devices() -> list[str]:
    """Return this host's loop devices: with them a machine mounts its own files when it boots."""
    folder = Path("/dev")
    found = sorted(str(path) for path in folder.glob("loop[0-9]*") if path.is_block_device())
    return [str(folder / "loop-control"), *found] if (folder / "loop-control").exists() else []


def spawn(folder: Path, hostname: str, name: str, cgroup: Cgroup) -> int:
    """Start the loop in a session of its own; return its pid.

    It has no tie to this process: it lives in the machine's cgroup and writes to `console.log`. It holds
    nothing that the caller had open: a lock (`flock 9`) or a pipe of a shell would be held with it.
    """
    groups = " ".join(str(item) for item in cgroup.folders)
    argv = ["sh", "-c", _LOOP, f"pushjuju-{hostname}", groups, *nspawn_command(folder, hostname, name)]
    environ = {
        **children.SYSTEM,
        "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1",
        # The machine's network is its own, so are the kernel's settings of it: bridges need them inside.
        "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network",
        "SYSTEMD_LOG_LEVEL": "warning",
    }
    log = str(folder / "console.log")
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        *((os.POSIX_SPAWN_CLOSE, number) for number in _inherited()),
    ]
    pid = children.spawn("/bin/sh", argv, environ, file_actions=actions, setsid=True)
    end = time.monotonic() + _ENTRY_S
    while not cgroup.populated() and time.monotonic() < end:  # until then it would be listed as stopped
        time.sleep(0.001)
    return pid


def _inherited() -> list[int]:
    """Return the descriptors past stderr that a child would get: those that our caller left open for us."""
    found = []
    for number in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
        with contextlib.suppress(OSError):  # the one that listed them is closed by now
            if number > 2 and os.get_inheritable(number):
                found.append(number)
    return found


def forget(root: Path, name: str) -> None:
    """Take away what systemd-nspawn leaves of an ended machine: the lock of its root, its exchange folder.

    Args:
        root: The machine's root, still mounted (the lock is named for its device and inode).
        name: As in `spawn`.
    """
    with contextlib.suppress(FileNotFoundError):
        seen = root.stat()
        (_NSPAWN / "locks" / f"inode-{seen.st_dev}:{seen.st_ino}").unlink()
    with contextlib.suppress(OSError):
        (_NSPAWN / "propagate" / name).rmdir()


def wait_if_child(pid: int) -> None:
    """Collect one ended loop if it is our child."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
