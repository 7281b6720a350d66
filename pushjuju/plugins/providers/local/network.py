"""The bridge, addresses, namespaces and NAT for the machines of one controller.

The first machine creates the bridge and its nftables table; the last machine removes them.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pushjuju.core.errors import NotValid, ProviderError
from pushjuju.plugins.providers.local.system import locked, run
from pushjuju.plugins.providers.nspawn.layout import Layout

_HOST_LOCK = Path("/run/lock/pushjuju-network.lock")
_INOTIFY = Path("/proc/sys/fs/inotify/max_user_instances")
_INOTIFY_WANTED = 8192  # with the kernel's default of 128, only about 15 machines can boot
_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")

IPv4Network = ipaddress.IPv4Network


def choose_subnet(key: str, taken: Iterable[str]) -> IPv4Network:
    """Return a 10.x.y.0/24 network that this host does not use.

    Args:
        key: A text that decides where the search begins, so that a controller gets the same subnet again.
        taken: Networks and addresses in use (from routes, addresses, name servers).
    """
    used = [ipaddress.IPv4Network(item, strict=False) for item in taken]
    first = int(key, 16)
    for step in range(128 * 256):
        number = (first + step) % (128 * 256)
        subnet = IPv4Network(f"10.{64 + number // 256}.{number % 256}.0/24")
        if not any(subnet.overlaps(other) for other in used):
            return subnet
    raise ProviderError("no subnet 10.x.y.0/24 is free on this host", hint="set `subnet` of the local cloud")


def parse_subnet(text: str) -> IPv4Network:
    """Return the cloud's `subnet` as a network."""
    try:
        subnet = IPv4Network(text)
    except ValueError as error:
        raise NotValid(f'subnet "{text}" of the local cloud is not valid', detail=str(error)) from error
    if not 16 <= subnet.prefixlen <= 29:
        raise NotValid(f'subnet "{text}" of the local cloud must be between /16 and /29')
    return subnet


def ensure_network(layout: Layout, wanted: IPv4Network | None) -> IPv4Network:
    """Make the missing parts of the controller's bridge, forwarding and NAT; return the subnet.

    The caller holds the layout's lock.

    Args:
        layout: Names and folders of the controller.
        wanted: The subnet that the user chose, or None for the subnet used before, or a free one.
    """
    kept = _kept_subnet(layout)
    if kept and Path("/sys/class/net", layout.bridge).exists():
        subnet = kept
    else:
        with locked(_HOST_LOCK):
            subnet = wanted or _free_subnet(layout, kept)
            _make_bridge(layout, subnet)
        network = {"subnet": str(subnet), "bridge": layout.bridge}
        (layout.state / "network.json").write_text(json.dumps(network), encoding="utf-8")
        _raise_limits()
    run(["nft", "-f", "-"], stdin=nat_rules(layout.bridge, subnet))
    return subnet


def _kept_subnet(layout: Layout) -> IPv4Network | None:
    try:
        return IPv4Network(json.loads((layout.state / "network.json").read_text(encoding="utf-8"))["subnet"])
    except (OSError, ValueError, KeyError):
        return None


def _free_subnet(layout: Layout, kept: IPv4Network | None) -> IPv4Network:
    taken = [*_routes(), *nameservers()]
    if kept and not any(kept.overlaps(IPv4Network(item, strict=False)) for item in taken):
        return kept
    return choose_subnet(layout.prefix[2:], taken)


def _routes() -> list[str]:
    routes = json.loads(run(["ip", "-j", "-4", "route", "show", "table", "all"]) or "[]")
    return [route["dst"] for route in routes if route["dst"] not in ("default", "0.0.0.0/0")]


def nameservers() -> list[str]:
    """Return the host's IPv4 name servers without loopback stubs, which machines cannot reach."""
    for path in ("/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"):
        found = _nameservers_in(path)
        if found:
            return found
    return []


def _nameservers_in(path: str) -> list[str]:
    try:
        words = [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except OSError:
        return []
    servers = [line[1] for line in words if len(line) > 1 and line[0] == "nameserver"]
    return [server for server in servers if ":" not in server and not server.startswith("127.")]


def _make_bridge(layout: Layout, subnet: IPv4Network) -> None:
    # Without a fixed MAC address, the bridge takes the lowest of its ports', which changes with each machine.
    mac = hardware_address(layout.prefix[2:], 1)
    lines = [] if Path("/sys/class/net", layout.bridge).exists() else [
        f"link add {layout.bridge} address {mac} type bridge"
    ]  # fmt: skip
    gateway = next(subnet.hosts())
    lines += [
        f"addr replace {gateway}/{subnet.prefixlen} brd + dev {layout.bridge}",
        f"link set {layout.bridge} up",
    ]
    run(["ip", "-batch", "-"], stdin="\n".join(lines) + "\n")


def hardware_address(key: str, index: int) -> str:
    """Return the locally administered MAC address for an IP address.

    The next machine with the same IP address gets the same MAC address, so that neighbours with the old entry
    in their ARP table reach it at once.

    Args:
        key: Six hexadecimal digits that identify the controller.
        index: The number of the address in the subnet; 1 is the bridge.
    """
    digits = f"02{key}{index:04x}"
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def _raise_limits() -> None:
    if int(_INOTIFY.read_text(encoding="ascii")) < _INOTIFY_WANTED:
        with contextlib.suppress(OSError):  # read-only in containers: a few machines still run; doctor warns
            _INOTIFY.write_text(str(_INOTIFY_WANTED), encoding="ascii")
    if _FORWARD.read_text(encoding="ascii").strip() != "1":
        try:
            _FORWARD.write_text("1", encoding="ascii")
        except OSError as error:
            hint = "on the host: sysctl -w net.ipv4.ip_forward=1"
            raise ProviderError("this host does not forward packets", detail=str(error), hint=hint) from None


def nat_rules(bridge: str, subnet: IPv4Network) -> str:
    """Return the nft script that replaces the controller's table atomically."""
    return f"""table inet {bridge}
delete table inet {bridge}
table inet {bridge} {{
  chain outgoing {{
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr {subnet} ip daddr != {subnet} masquerade
  }}
  chain passing {{
    type filter hook forward priority filter; policy accept;
    iifname "{bridge}" accept
    oifname "{bridge}" accept
  }}
}}
"""


def remove_network(layout: Layout) -> None:
    """Remove the bridge and the table, if they exist. The caller holds the layout's lock."""
    if Path("/sys/class/net", layout.bridge).exists():
        run(["ip", "link", "del", layout.bridge], check=False)
    run(["nft", "delete", "table", "inet", layout.bridge], check=False)
    (layout.state / "network.json").unlink(missing_ok=True)


def free_index(subnet: IPv4Network, used: Sequence[int]) -> int:
    """Return the lowest number of an address that no machine uses."""
    taken = set(used)
    for index in range(2, subnet.num_addresses - 1):
        if index not in taken:
            return index
    raise ProviderError(f"the subnet {subnet} of the local cloud is full", hint="set a larger `subnet`")


def make_namespace(layout: Layout, index: int, subnet: IPv4Network) -> None:
    """Make a machine's network namespace, with `eth0` on the bridge. The caller holds the layout's lock."""
    name = layout.namespace(index)
    mac = hardware_address(layout.prefix[2:], index)
    remove_namespace(layout, index)
    outside = (
        f"netns add {name}\n"
        f"link add {name} type veth peer name eth0 address {mac} netns {name}\n"
        f"link set {name} master {layout.bridge} up\n"
    )
    run(["ip", "-batch", "-"], stdin=outside)
    inside = (
        "link set lo up\n"
        f"addr add {subnet[index]}/{subnet.prefixlen} brd + dev eth0\n"
        "link set eth0 up\n"
        f"route add default via {next(subnet.hosts())}\n"
    )
    run(["ip", "-n", name, "-batch", "-"], stdin=inside)


def remove_namespace(layout: Layout, index: int) -> None:
    """Remove a machine's namespace and network device, if they exist."""
    name = layout.namespace(index)
    if Path("/sys/class/net", name).exists():
        run(["ip", "link", "del", name], check=False)
    if Path("/run/netns", name).exists():
        run(["ip", "netns", "del", name])
