"""Starts a machine's systemd-nspawn in a loop that outlives this process and does reboots."""

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
_ENTRY_S = 2.0  # seconds in which the loop has to enter the machine's cgroup

# nspawn exits with 133 when the machine reboots. Writing 0 moves the writing (sub)shell into the cgroup.
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
        folder: The machine's folder, with `root` and `vol`.
        name: The machine's name, unique on this host; its network namespace has the same name.
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
    """Return this host's loop devices, with which a machine mounts files of its own at boot."""
    folder = Path("/dev")
    found = sorted(str(path) for path in folder.glob("loop[0-9]*") if path.is_block_device())
    return [str(folder / "loop-control"), *found] if (folder / "loop-control").exists() else []


def spawn(folder: Path, hostname: str, name: str, cgroup: Cgroup) -> int:
    """Start the loop in a session of its own; return its process id.

    The loop lives in the machine's cgroup and writes to `console.log`. It inherits no open file of the
    caller: otherwise it would keep a lock (`flock 9`) or a shell's pipe open.
    """
    groups = " ".join(str(item) for item in cgroup.folders)
    argv = ["sh", "-c", _LOOP, f"pushjuju-{hostname}", groups, *nspawn_command(folder, hostname, name)]
    environ = {
        **children.SYSTEM,
        "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1",
        # The machine may change the kernel settings of its network namespace, as bridges need.
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
    while not cgroup.populated() and time.monotonic() < end:  # before that, list shows the machine as stopped
        time.sleep(0.001)
    return pid


def _inherited() -> list[int]:
    """Return the file descriptors above stderr that a child would inherit from this process."""
    found = []
    for number in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
        with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed by now
            if number > 2 and os.get_inheritable(number):
                found.append(number)
    return found


def forget(root: Path, name: str) -> None:
    """Remove what systemd-nspawn leaves of an ended machine: the lock of its root, and its exchange folder.

    Args:
        root: The machine's root, still mounted, because device and inode are part of the lock's name.
        name: The name that was passed to `spawn`.
    """
    with contextlib.suppress(FileNotFoundError):
        seen = root.stat()
        (_NSPAWN / "locks" / f"inode-{seen.st_dev}:{seen.st_ino}").unlink()
    with contextlib.suppress(OSError):
        (_NSPAWN / "propagate" / name).rmdir()


def wait_if_child(pid: int) -> None:
    """Collect the exit status of an ended loop, when the loop is a child of this process."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
