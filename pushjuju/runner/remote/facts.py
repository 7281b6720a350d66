"""What the machine is, told at every contact: read from /proc, /sys and netlink; no program is started."""

from __future__ import annotations

import _socket
import os
import sys

from pushjuju.runner.remote import layout, toolclient
from pushjuju.runner.remote.layout import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ARCHES = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64el", "i686": "i386", "armv7l": "armhf"}
_RTM_GETADDR, _RTM_NEWADDR, _NLMSG_DONE = 22, 20, 3
_REQUEST_DUMP = 0x301
_IFA_ADDRESS, _IFA_LOCAL, _IFA_FLAGS = 1, 2, 8
_USELESS_FLAGS = 0x08 | 0x20 | 0x40  # duplicate, deprecated, still tentative


def gather() -> dict[str, Any]:
    """Return the facts of this machine."""
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
        "perl": toolclient.has_perl(),
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


def nics() -> list[dict[str, Any]]:
    """Return the network devices except loopback, with their addresses."""
    by_index = addresses()
    found = []
    try:
        names = sorted(os.listdir("/sys/class/net"))
    except OSError:
        return []
    for name in names:
        base = "/sys/class/net/" + name
        flags = read_text(base + "/flags").strip()
        if not flags or int(flags, 16) & 0x8:
            continue
        index = int(read_text(base + "/ifindex", "0").strip() or 0)
        nic = {"name": name, "mac": read_text(base + "/address").strip(), "up": bool(int(flags, 16) & 1)}
        found.append(dict(nic, addresses=by_index.get(index, [])))
    return found


def addresses() -> dict[int, list[dict[str, str]]]:
    """Return the addresses by index of their device, asked from the kernel over netlink."""
    found: dict[int, list[dict[str, str]]] = {}
    try:
        sock = _socket.socket(16, _socket.SOCK_RAW | _socket.SOCK_CLOEXEC, 0)
    except OSError:
        return found
    try:
        sock.settimeout(2.0)
        body = bytes(8)
        head = (16 + len(body)).to_bytes(4, sys.byteorder) + _RTM_GETADDR.to_bytes(2, sys.byteorder)
        head += _REQUEST_DUMP.to_bytes(2, sys.byteorder) + (1).to_bytes(4, sys.byteorder) + bytes(4)
        sock.send(head + body)
        while _read_messages(sock.recv(1 << 16), found):
            pass
    except OSError:
        pass
    finally:
        sock.close()
    return found


def _read_messages(data: bytes, found: dict[int, list[dict[str, str]]]) -> bool:
    """Read one datagram of netlink messages; return False after the last one."""
    at = 0
    while at + 16 <= len(data):
        size = int.from_bytes(data[at : at + 4], sys.byteorder)
        kind = int.from_bytes(data[at + 4 : at + 6], sys.byteorder)
        if size < 16 or kind in (_NLMSG_DONE, 2):
            return False
        if kind == _RTM_NEWADDR:
            _read_address(data[at + 16 : at + size], found)
        at += (size + 3) & ~3
    return True


def _read_address(body: bytes, found: dict[int, list[dict[str, str]]]) -> None:
    family, prefix, flags, scope = body[0], body[1], body[2], body[3]
    index = int.from_bytes(body[4:8], sys.byteorder)
    attributes: dict[int, bytes] = {}
    at = 8
    while at + 4 <= len(body):
        size = int.from_bytes(body[at : at + 2], sys.byteorder)
        if size < 4:
            break
        attributes[int.from_bytes(body[at + 2 : at + 4], sys.byteorder)] = body[at + 4 : at + size]
        at += (size + 3) & ~3
    raw = attributes.get(_IFA_LOCAL) or attributes.get(_IFA_ADDRESS)
    if _IFA_FLAGS in attributes:
        flags = int.from_bytes(attributes[_IFA_FLAGS], sys.byteorder)
    if raw is None or scope >= 253 or flags & _USELESS_FLAGS or len(raw) not in (4, 16):
        return
    found.setdefault(index, []).append({"value": _text(family, raw), "cidr": _cidr(family, raw, prefix)})


def _text(family: int, raw: bytes) -> str:
    return _socket.inet_ntop(family, raw)


def _cidr(family: int, raw: bytes, prefix: int) -> str:
    bits = len(raw) * 8
    mask = ((1 << prefix) - 1) << (bits - prefix)
    network = (int.from_bytes(raw, "big") & mask).to_bytes(len(raw), "big")
    return "%s/%d" % (_text(family, network), prefix)


def gateway() -> str:
    """Return the default gateway, empty if there is none."""
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
