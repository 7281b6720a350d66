"""A delay line: what goes into one TUN device comes out of the other so many milliseconds later, both ways.

Run as `delay.py NAMESPACE MILLISECONDS`: device NAMESPACE here, device `uplink` there. For kernels without
netem.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUNSETIFF = 0x400454CA
NO_INFO_TUN = 0x1001
PACKET = 65536
CLONE_NEWNET = 0x40000000


def device(name: str) -> int:
    """Make a TUN device in the present namespace."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), NO_INFO_TUN))
    return fd


def enter(namespace: str) -> None:
    """Go into a network namespace."""
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(fd)


def carry(first: int, second: int, delay_s: float) -> None:
    """Carry packets for ever."""
    other = {first: second, second: first}
    waiting: deque[tuple[float, int, bytes]] = deque()  # the delay is the same for all, so they stay in order
    poller = select.epoll()
    for fd in other:
        poller.register(fd, select.EPOLLIN)
    while True:
        patience = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
        for fd, _ in poller.poll(patience):
            now = time.monotonic()
            while True:
                try:
                    waiting.append((now + delay_s, other[fd], os.read(fd, PACKET)))
                except BlockingIOError:
                    break
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, fd, packet = waiting.popleft()
            with contextlib.suppress(OSError):  # the device is full or down: lost, as on a wire
                os.write(fd, packet)


def main() -> None:
    """Join this namespace and another one."""
    here = device(sys.argv[1])
    enter(sys.argv[1])
    there = device("uplink")
    print("ready", flush=True)
    carry(here, there, float(sys.argv[2]) / 1000)


if __name__ == "__main__":
    main()
