"""Puts the nftables table on a machine, and restores the table after reboots.

Two files do that: the table, and a systemd unit that loads the table before the network starts, and again
after a service that flushes all rules. Without systemd, the first contact after a reboot loads the table.
"""

from __future__ import annotations

import shlex

from pushjuju.core.errors import RemoteFailed
from pushjuju.core.firewall import MachineRules
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.providers import ModelInfo
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.plugins.firewalls.nftables import ruleset

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
nft list table inet {ruleset.TABLE} >/dev/null 2>&1 || exit 0
exec nft delete table inet {ruleset.TABLE}
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
        table = ruleset.text(rules, self._owner)
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
