"""The table of a machine: what it says, and that nft takes it."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from pushjuju.core.errors import RemoteFailed
from pushjuju.core.firewall import EVERYWHERE, IngressRule, MachineRules
from pushjuju.core.model.ports import PortRange
from pushjuju.plugins.api.firewalls import GuardedMachine
from pushjuju.plugins.api.providers import ModelInfo
from pushjuju.plugins.api.targets import ScriptResult
from pushjuju.plugins.firewalls import nftables
from pushjuju.plugins.firewalls.nftables.firewall import NftablesFirewall, ruleset

MODEL = ModelInfo(uuid="aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", name="shop", controller_uuid="c")
WEB, RANGE, PING = PortRange("tcp", 80, 80), PortRange("udp", 8000, 8010), PortRange("icmp", -1, -1)
RULES = {
    "nothing open": MachineRules(),
    "nobody may log in": MachineRules(ssh=()),
    "everything": MachineRules(
        ingress=(
            IngressRule(PING, EVERYWHERE),
            IngressRule(WEB, EVERYWHERE),
            IngressRule(PortRange("tcp", 0, 65535), ("10.0.0.0/8", "fd00::/8")),
            IngressRule(RANGE, ("10.1.0.0/16",)),
        ),
        mates=("10.0.0.2/31", "fd00::2/128"),
        ssh=("192.0.2.1/32", "2001:db8::/32"),
        ssh_port=2222,
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_nft_takes_it_twice(name: str) -> None:
    """The second time it replaces the first."""
    if os.geteuid() or not shutil.which("nft"):
        pytest.skip("nft needs root")
    script = ruleset(RULES[name], MODEL.uuid)
    twice = 'nft -f - <<< "$0" && nft -f - <<< "$0" && nft list tables'
    done = subprocess.run(
        ["unshare", "--net", "bash", "-c", twice, script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "table inet pushjuju\n", "")


def test_who_is_let_in() -> None:
    lines = [line.strip() for line in ruleset(RULES["everything"], MODEL.uuid).splitlines()]
    assert lines[lines.index("ip saddr @mates4 accept") :] == [
        "ip saddr @mates4 accept",
        "ip6 saddr @mates6 accept",
        "ip saddr { 192.0.2.1/32 } tcp dport 2222 accept",
        "ip6 saddr { 2001:db8::/32 } tcp dport 2222 accept",
        "ip saddr { 0.0.0.0/0 } meta l4proto icmp accept",
        "ip6 saddr { ::/0 } meta l4proto ipv6-icmp accept",
        "tcp dport 80 accept",
        "ip saddr { 10.0.0.0/8 } tcp dport 0-65535 accept",
        "ip6 saddr { fd00::/8 } tcp dport 0-65535 accept",
        "ip saddr { 10.1.0.0/16 } udp dport 8000-8010 accept",
        "drop",
        "}",
        "}",
    ]
    assert "set mates4 { type ipv4_addr; flags interval; elements = { 10.0.0.2/31 }; }" in lines


def test_the_policy_lets_in() -> None:
    """Who empties the table is not shut out."""
    assert "hook prerouting priority -150; policy accept;" in ruleset(MachineRules(), MODEL.uuid)


@pytest.mark.parametrize(
    ("provider_type", "asked", "guarded"),
    [("local", False, True), ("local", True, True), ("manual", False, False), ("manual", True, True),
     ("ec2", True, False)],
)  # fmt: skip
def test_which_machines_are_guarded(provider_type: str, asked: bool, guarded: bool) -> None:
    found = nftables.pushjuju_open_firewall(model=MODEL, asked=asked, provider_type=provider_type)
    assert (found is not None) is guarded


@pytest.mark.parametrize(
    ("done", "message", "detail"),
    [
        (
            ScriptResult(rc=91),
            (
                "the firewall rules of machine 0 are not in force: "
                "there is no nft on it; install the package nftables there"
            ),
            "",
        ),
        (
            ScriptResult(rc=1, stderr="Error: Operation not supported\n"),
            "the firewall rules of machine 0 are not in force",
            "Error: Operation not supported",
        ),
    ],
)
async def test_what_fails_is_told(done: ScriptResult, message: str, detail: str) -> None:
    async def run(script: str) -> ScriptResult:
        assert script
        return done

    machine = GuardedMachine(machine_id="0", instance_id="i-0", run=run)
    with pytest.raises(RemoteFailed) as failed:
        await NftablesFirewall(MODEL).apply(machine, MachineRules())
    assert (failed.value.message, failed.value.detail) == (message, detail)
