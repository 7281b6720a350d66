"""Runs programs whose calls of fsync do nothing, so that they need not wait for the disk.

dpkg waits for the disk some thousand times while it installs a base. A base that fails is deleted, and a
finished base is synced once, so a seccomp filter lets these calls return at once, for the program and its
children. systemd-nspawn has `--suppress-sync` for the same purpose. Where the kernel refuses the filter, the
program takes longer.
"""

from __future__ import annotations

import platform
import struct
import sys
from collections.abc import Sequence

# Machine -> the kernel's number of the architecture, and of fsync, fdatasync, sync_file_range, syncfs, sync.
_CALLS = {"x86_64": (0xC000003E, (74, 75, 277, 306, 162)), "aarch64": (0xC00000B7, (82, 83, 84, 267, 81))}
_LOAD, _EQUALS, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _DONE = 0x7FFF0000, 0x00050000  # results of the filter: allow; skip and report success
_NUMBER, _ARCH = 0, 4  # offsets of these fields in the kernel's description of a call
# Installs the seccomp filter and executes the program.
_BECOME = """
import ctypes, os, sys
steps = bytes.fromhex(sys.argv[1])
class Filter(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
if steps:
    buffer = ctypes.create_string_buffer(steps)
    PR_SET_SECCOMP, MODE_FILTER = 22, 2
    given = Filter(len(steps) // 8, ctypes.addressof(buffer))
    ctypes.CDLL(None).prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(given), 0, 0)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(f"E: cannot run {sys.argv[2]}: {error.strerror}")
"""


def words(argv: Sequence[str]) -> list[str]:
    """Return the command line that runs a program without waiting for the disk."""
    return [sys.executable, "-I", "-S", "-c", _BECOME, _filter(platform.machine()).hex(), *argv]


def _filter(machine: str) -> bytes:
    """Return the seccomp filter; empty for an unknown architecture."""
    if machine not in _CALLS:
        return b""
    arch, numbers = _CALLS[machine]
    count = len(numbers)
    steps = [(_LOAD, 0, 0, _ARCH), (_EQUALS, 0, count + 1, arch), (_LOAD, 0, 0, _NUMBER)]
    steps += [(_EQUALS, count - place, 0, number) for place, number in enumerate(numbers)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DONE)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
