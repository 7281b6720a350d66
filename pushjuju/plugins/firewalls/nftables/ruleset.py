"""The text of the nftables table: which packets a machine accepts, and the order of the rules.

The chain sees each packet before its destination is rewritten, so it also guards ports that a container
runtime publishes. The policy of the chain accepts, and its last rule refuses: when somebody empties the
table, the machine can still be reached. No rule refers to other tables, and a packet that this chain accepts
still passes through all other tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pushjuju.core.firewall import EVERYWHERE, IngressRule, MachineRules

TABLE = "pushjuju"
BEFORE_NAT = -150  # after connection tracking (-200), before destination NAT (-100)
# Interfaces to containers and virtual machines on the machine itself, with no other hosts behind them.
_INNER = '{ "lo", "docker0", "podman0", "cni0", "lxcbr0", "lxdbr0", "incusbr0", "virbr0" }'
_ICMP = ("destination-unreachable", "time-exceeded", "parameter-problem")
_ICMP6 = (
    "destination-unreachable", "packet-too-big", "time-exceeded", "parameter-problem", "nd-router-advert",
    "nd-neighbor-solicit", "nd-neighbor-advert", "mld-listener-query",
)  # fmt: skip


def text(rules: MachineRules, owner: str) -> str:
    """Return the script that replaces the table, as a whole or not at all.

    Args:
        owner: The UUID of the model, for a comment: letters, digits and hyphens.
    """
    lines = [
        f"# Firewall rules of a machine of model {owner}, kept by pushjuju; changes here are overwritten.",
        f"table inet {TABLE}",
        f"delete table inet {TABLE}",
        f"table inet {TABLE} {{",
        *(f"\t{line}" for line in _sets(rules.mates)),
        "\tchain incoming {",
        f"\t\ttype filter hook prerouting priority {BEFORE_NAT}; policy accept;",
        *(f"\t\t{line}" for line in _chain(rules)),
        "\t}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _sets(mates: Sequence[str]) -> list[str]:
    lines = []
    for name, kind, members in (
        ("mates4", "ipv4_addr", [item for item in mates if not _is_six(item)]),
        ("mates6", "ipv6_addr", [item for item in mates if _is_six(item)]),
    ):
        elements = f" elements = {{ {', '.join(members)} }};" if members else ""
        lines.append(f"set {name} {{ type {kind}; flags interval;{elements} }}")
    return lines


def _chain(rules: MachineRules) -> list[str]:
    return [
        f"iifname {_INNER} accept",
        "fib daddr type != local accept",
        "ct state established,related accept",
        f"icmp type {_list(_ICMP)} accept",
        f"icmpv6 type {_list(_ICMP6)} accept",
        "udp sport 67 udp dport 68 accept",
        "udp sport 547 udp dport 546 accept",
        "ip saddr @mates4 accept",
        "ip6 saddr @mates6 accept",
        *_from(rules.ssh, f"tcp dport {rules.ssh_port}"),
        *(line for rule in rules.ingress for line in _ingress(rule)),
        "drop",
    ]


def _ingress(rule: IngressRule) -> list[str]:
    protocol, first, last = rule.range.protocol, rule.range.from_port, rule.range.to_port
    if protocol == "icmp":
        return _from(rule.sources, "meta l4proto icmp", "meta l4proto ipv6-icmp")
    return _from(rule.sources, f"{protocol} dport {first if first == last else f'{first}-{last}'}")


def _from(sources: Iterable[str], match: str, match6: str = "") -> list[str]:
    """Return the rules that accept packets from the sources; `match6` replaces the match for IPv6."""
    sources = list(sources)
    match6 = match6 or match
    if set(EVERYWHERE) <= set(sources) and match == match6:
        return [f"{match} accept"]
    four = [item for item in sources if not _is_six(item)]
    six = [item for item in sources if _is_six(item)]
    lines = [f"ip saddr {_list(four)} {match} accept"] if four else []
    return lines + ([f"ip6 saddr {_list(six)} {match6} accept"] if six else [])


def _list(items: Iterable[str]) -> str:
    return f"{{ {', '.join(items)} }}"


def _is_six(cidr: str) -> bool:
    return ":" in cidr
