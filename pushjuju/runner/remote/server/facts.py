"""Reads the facts of the machine at every contact, from /proc and netlink, without starting a program.

Devices come from netlink and not from /sys, which may show the devices of the host in a container.
"""

from __future__ import annotations

import _socket
import os
import sys

from pushjuju.runner.remote.base import layout
from pushjuju.runner.remote.base.layout import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ARCHES = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64el", "i686": "i386", "armv7l": "armhf"}
_RTM_NEWLINK, _RTM_GETLINK, _RTM_NEWADDR, _RTM_GETADDR = 16, 18, 20, 22
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_REQUEST_DUMP = 0x301
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_MASTER = 1, 3, 4, 10
_IFF_UP, _IFF_LOOPBACK = 0x1, 0x8
_IFA_ADDRESS, _IFA_LOCAL, _IFA_FLAGS = 1, 2, 8
_USELESS_FLAGS = 0x08 | 0x20 | 0x40  # duplicate, deprecated, still tentative


def gather(connection: str = "") -> dict[str, object]:
    """Return the facts of this machine; the fact ``ssh`` is sshd's description of the connection."""
    machine = os.uname().machine
    return {
        "python": "%d.%d.%d" % sys.version_info[:3],
        "arch": _ARCHES.get(machine, machine),
        "boot_id": layout.boot_id(),
        "hostname": os.uname().nodename,
        "os": os_release(),
        "cores": cores(),
        "mem_mib": memory_mib(),
        "nics": nics(),
        "gateway": gateway(),
        "perl": layout.has_perl(),
        "ssh": connection,
    }


def os_release() -> dict[str, str]:
    """Return id and version_id of the operating system."""
    values = {}
    for line in (read_text("/etc/os-release") or read_text("/usr/lib/os-release")).splitlines():
        key, _, value = line.partition("=")
        values[key] = value.strip("\"'")
    return {"id": values.get("ID", ""), "version_id": values.get("VERSION_ID", "")}


def cores() -> int:
    """Return the number of processors that may be used."""
    try:
        return len(os.sched_getaffinity(0))
    except OSError:
        return os.cpu_count() or 1


def memory_mib() -> int:
    """Return the memory of the machine in MiB."""
    for line in read_text("/proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return 0


def nics() -> list[dict[str, object]]:
    """Return the network devices except loopback, by name, with their addresses."""
    devices: dict[int, dict[str, Any]] = {}
    for body in _dump(_RTM_GETLINK, _RTM_NEWLINK, bytes(16)):
        _read_link(body, devices)
    for device in devices.values():
        parent = devices.get(device.pop("master"))
        if parent is not None:
            device["parent"] = parent["name"]
    for body in _dump(_RTM_GETADDR, _RTM_NEWADDR, bytes(8)):
        _read_address(body, devices)
    return sorted(devices.values(), key=lambda device: device["name"])


def _dump(request: int, answer: int, body: bytes) -> list[bytes]:
    """Ask the kernel over netlink for all objects of a kind; return the bodies of the answers."""
    found: list[bytes] = []
    try:
        sock = _socket.socket(16, _socket.SOCK_RAW | _socket.SOCK_CLOEXEC, 0)
    except OSError:
        return found
    try:
        sock.settimeout(2.0)
        head = (16 + len(body)).to_bytes(4, sys.byteorder) + request.to_bytes(2, sys.byteorder)
        head += _REQUEST_DUMP.to_bytes(2, sys.byteorder) + (1).to_bytes(4, sys.byteorder) + bytes(4)
        sock.send(head + body)
        while _read_messages(sock.recv(1 << 16), answer, found):
            pass
    except OSError:
        pass
    finally:
        sock.close()
    return found


def _read_messages(data: bytes, answer: int, found: list[bytes]) -> bool:
    """Read one datagram of netlink messages; return False after the last one."""
    at = 0
    while at + 16 <= len(data):
        size = int.from_bytes(data[at : at + 4], sys.byteorder)
        kind = int.from_bytes(data[at + 4 : at + 6], sys.byteorder)
        if size < 16 or kind in (_NLMSG_DONE, _NLMSG_ERROR):
            return False
        if kind == answer:
            found.append(data[at + 16 : at + size])
        at += (size + 3) & ~3
    return True


def _attributes(body: bytes, at: int) -> dict[int, bytes]:
    """Return the attributes that follow the fixed part of a netlink body."""
    found: dict[int, bytes] = {}
    while at + 4 <= len(body):
        size = int.from_bytes(body[at : at + 2], sys.byteorder)
        if size < 4:
            break
        found[int.from_bytes(body[at + 2 : at + 4], sys.byteorder)] = body[at + 4 : at + size]
        at += (size + 3) & ~3
    return found


def _read_link(body: bytes, devices: dict[int, dict[str, object]]) -> None:
    index = int.from_bytes(body[4:8], sys.byteorder)
    flags = int.from_bytes(body[8:12], sys.byteorder)
    attributes = _attributes(body, 16)
    if flags & _IFF_LOOPBACK:
        return
    name = attributes.get(_IFLA_IFNAME, b"").rstrip(b"\0").decode("utf-8", "replace")
    mac = ":".join("%02x" % byte for byte in attributes.get(_IFLA_ADDRESS, b""))
    mtu, master = (
        int.from_bytes(attributes.get(key, b""), sys.byteorder) for key in (_IFLA_MTU, _IFLA_MASTER)
    )
    device = {"name": name, "mac": mac, "up": bool(flags & _IFF_UP), "addresses": []}
    devices[index] = dict(device, mtu=mtu, master=master)


def _read_address(body: bytes, devices: dict[int, dict[str, Any]]) -> None:
    family, prefix, flags, scope = body[0], body[1], body[2], body[3]
    device = devices.get(int.from_bytes(body[4:8], sys.byteorder))
    attributes = _attributes(body, 8)
    raw = attributes.get(_IFA_LOCAL) or attributes.get(_IFA_ADDRESS)
    if _IFA_FLAGS in attributes:
        flags = int.from_bytes(attributes[_IFA_FLAGS], sys.byteorder)
    if device is None or raw is None or scope >= 253 or flags & _USELESS_FLAGS or len(raw) not in (4, 16):
        return
    device["addresses"].append({"value": _text(family, raw), "cidr": _cidr(family, raw, prefix)})


def _text(family: int, raw: bytes) -> str:
    return _socket.inet_ntop(family, raw)


def _cidr(family: int, raw: bytes, prefix: int) -> str:
    bits = len(raw) * 8
    mask = ((1 << prefix) - 1) << (bits - prefix)
    network = (int.from_bytes(raw, "big") & mask).to_bytes(len(raw), "big")
    return "%s/%d" % (_text(family, network), prefix)


def gateway() -> str:
    """Return the default gateway, or "" when the machine has no default route."""
    for line in read_text("/proc/net/route").splitlines()[1:]:
        fields = line.split()
        if (
            len(fields) > 7
            and fields[1] == "00000000"
            and fields[7] == "00000000"
            and fields[2] != "00000000"
        ):
            return _socket.inet_ntop(_socket.AF_INET, int(fields[2], 16).to_bytes(4, sys.byteorder))
    return ""
