"""Makes the nftables table of a machine, puts it there, and restores the table after reboots.

Two files do that: the table, and a systemd unit that loads the table before the network starts, and again
after a service that flushes all rules. Without systemd, the first contact after a reboot loads the table.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from pushjuju.core.errors import RemoteFailed
from pushjuju.core.firewall import EVERYWHERE, IngressRule, MachineRules
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.providers import ModelInfo
from pushjuju.plugins.api.targets import ScriptResult

TABLE = "pushjuju"
BEFORE_NAT = -150  # after connection tracking (-200), before destination NAT (-100)
# Interfaces to containers and virtual machines on the machine itself, with no other hosts behind them.
_INNER = '{ "lo", "docker0", "podman0", "cni0", "lxcbr0", "lxdbr0", "incusbr0", "virbr0" }'
_ICMP = ("destination-unreachable", "time-exceeded", "parameter-problem")
_ICMP6 = (
    "destination-unreachable", "packet-too-big", "time-exceeded", "parameter-problem", "nd-router-advert",
    "nd-neighbor-solicit", "nd-neighbor-advert", "mld-listener-query",
)  # fmt: skip


def ruleset(rules: MachineRules, owner: str) -> str:
    """Return the script that replaces the table, as a whole or not at all.

    The chain sees each packet before its destination is rewritten, so it also guards ports that a container
    runtime publishes. The policy of the chain accepts, and its last rule refuses: when somebody empties the
    table, the machine can still be reached. No rule refers to other tables, and a packet that this chain
    accepts still passes through all other tables.

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


FOLDER = "/etc/pushjuju"
RULES = f"{FOLDER}/firewall.nft"
SERVICE = "pushjuju-firewall.service"
UNITS = "/etc/systemd/system"
_NO_NFT = 91  # exit status of a script that did not find nft

# Services that load rules at boot; some of them flush all rules first.
_LOADERS = "nftables.service netfilter-persistent.service ufw.service firewalld.service"
_UNIT = f"""[Unit]
Description=Firewall rules of pushjuju
DefaultDependencies=no
Wants=network-pre.target
Before=network-pre.target shutdown.target
After=local-fs.target {_LOADERS}
PartOf=nftables.service
ReloadPropagatedFrom=nftables.service
Conflicts=shutdown.target
ConditionPathExists={RULES}
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=@nft@ -f {RULES}
ExecReload=@nft@ -f {RULES}

[Install]
WantedBy=sysinit.target
"""
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH LC_ALL=C"
# The rules are loaded before the file is saved: rules that do not load are not kept. The unit is written
# only when it differs.
_APPLY = f"""{_PATH}
set -eu
umask 022
nft=$(command -v nft) || exit {_NO_NFT}
mkdir -p {FOLDER}
printf %s {{rules}} > {RULES}.new
"$nft" -f {RULES}.new
sync {RULES}.new 2>/dev/null || true
mv {RULES}.new {RULES}
[ -d /run/systemd/system ] || exit 0
unit=$(printf %s {{unit}} | sed "s|@nft@|$nft|")
if [ "$(cat {UNITS}/{SERVICE} 2>/dev/null)" != "$unit" ]; then
  mkdir -p {UNITS}/sysinit.target.wants
  printf '%s\\n' "$unit" > {UNITS}/.{SERVICE}.new
  mv {UNITS}/.{SERVICE}.new {UNITS}/{SERVICE}
fi
if [ ! -L {UNITS}/sysinit.target.wants/{SERVICE} ]; then
  ln -sfn {UNITS}/{SERVICE} {UNITS}/sysinit.target.wants/{SERVICE}
  systemctl daemon-reload && systemctl --no-block start {SERVICE} || true
fi
"""
_CLEAR = f"""{_PATH}
if [ -e {UNITS}/{SERVICE} ] || [ -L {UNITS}/sysinit.target.wants/{SERVICE} ]; then
  rm -f {UNITS}/sysinit.target.wants/{SERVICE} {UNITS}/{SERVICE} {UNITS}/.{SERVICE}.new
  [ ! -d /run/systemd/system ] || systemctl stop {SERVICE} 2>/dev/null
  [ ! -d /run/systemd/system ] || systemctl daemon-reload
fi
rm -f {RULES} {RULES}.new
rmdir {FOLDER} 2>/dev/null
command -v nft >/dev/null || exit 0
nft list table inet {TABLE} >/dev/null 2>&1 || exit 0
exec nft delete table inet {TABLE}
"""


class NftablesFirewall:
    """Guards the machines of one model by an nftables table on each machine."""

    def __init__(self, model: ModelInfo) -> None:
        self._owner = model.uuid

    async def apply(self, machine: GuardedMachine, rules: MachineRules) -> None:
        """Replace the machine's table atomically; open connections survive.

        Raises:
            RemoteFailed: The rules could not be loaded; the error has the reason.
        """
        table = ruleset(rules, self._owner)
        done = await machine.run(_APPLY.format(rules=shlex.quote(table), unit=shlex.quote(_UNIT)))
        if done.rc == _NO_NFT:
            raise RemoteFailed(
                f"the firewall rules of machine {machine.machine_id} are not in force: "
                "there is no nft on it; install the package nftables there"
            )
        _check(done, f"the firewall rules of machine {machine.machine_id} are not in force")

    async def clear(self, machine: GuardedMachine) -> None:
        """Remove the table, its file and the systemd unit."""
        _check(
            await machine.run(_CLEAR), f"the firewall of machine {machine.machine_id} cannot be taken away"
        )


def _check(done: ScriptResult, problem: str) -> None:
    if done.rc != 0:
        raise RemoteFailed(problem, detail=(done.stderr or done.stdout).strip()[-2000:])
