"""Checks what this host has, and what it lacks, for local machines."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pushjuju.core import children
from pushjuju.plugins.api.findings import Finding, Fix
from pushjuju.plugins.providers.local.network import nameservers
from pushjuju.plugins.providers.local.system import PATH, run, which
from pushjuju.plugins.providers.nspawn.cgroups import hierarchies

# command, package, purpose, True when nothing works without the command
_COMMANDS = (
    ("systemd-nspawn", "systemd-container", "boots the machines", True),
    ("ip", "iproute2", "makes bridges and namespaces", True),
    ("nft", "nftables", "lets machines reach the network", True),
    ("mount", "mount", "mounts the machines' roots", True),
    ("mmdebstrap", "mmdebstrap", "builds root file systems of bases", True),
    ("dpkg-deb", "dpkg", "unpacks the keyring of Ubuntu", False),
)
_KEYRINGS = (
    (
        "/usr/share/keyrings/debian-archive-keyring.gpg",
        "debian-archive-keyring",
        "checks archives of Debian bases",
    ),
)


def look_at_host(environ_user: str = "") -> list[Finding]:
    """Return the findings that need no root rights.

    Args:
        environ_user: A text with the user's name, which messages end with.
    """
    findings = [_command(*item) for item in _COMMANDS]
    for path, package, use in _KEYRINGS:
        there = Path(path).exists()
        findings.append(
            Finding(
                name=package,
                ok=there,
                message=f"{package} {use}",
                fix=Fix(packages=(package,)),
                required=False,
            )
        )
    trees = hierarchies()
    findings.append(Finding(name="cgroups", ok=bool(trees), message=_cgroup_text(trees != [])))
    servers = nameservers()
    findings.append(
        Finding(
            name="name servers",
            ok=bool(servers),
            message=", ".join(servers) or f"no server for machines in /etc/resolv.conf{environ_user}",
            required=False,
        )
    )
    return findings


def forward_finding(problem: str) -> Finding:
    """Return the finding on forwarded packets; `problem` is the text of `forwarding_problem`."""
    return Finding(
        name="forwarding",
        ok=not problem,
        message=problem or "packets of machines are forwarded",
        required=False,
    )


def forwarding_problem() -> str:
    """Return the firewall of this host that drops forwarded packets, or an empty text. Needs root.

    A rule that accepts packets in pushjuju's table does not overrule another table that drops them.
    """
    if which("nft") is None:
        return ""
    dump = run(["nft", "--json", "list", "chains"], check=False) or "{}"
    for item in json.loads(dump).get("nftables", []):
        chain = item.get("chain", {})
        if chain.get("hook") == "forward" and chain.get("policy") == "drop":
            table = f"{chain['family']} {chain['table']}"
            return f"nftables table {table} drops forwarded packets: machines reach only this host"
    return ""


def _command(command: str, package: str, use: str, required: bool) -> Finding:
    there = which(command) is not None
    message = f"{command} {use}" if there else f"{command} is missing: it {use}"
    return Finding(name=command, ok=there, message=message, fix=Fix(packages=(package,)), required=required)


def _cgroup_text(there: bool) -> str:
    return "control groups are mounted" if there else "no control groups are mounted at /sys/fs/cgroup"


def rights(*, sudo: bool) -> Finding:
    """Return the finding on root rights, for a user whose sudo works without a password or not."""
    if os.geteuid() == 0:
        return Finding(name="root rights", ok=True, message="running as root")
    if sudo:
        return Finding(name="root rights", ok=True, message="sudo works without a password")
    there = which("sudo") is not None
    return Finding(
        name="root rights",
        ok=False,
        message="sudo asks for a password" if there else "not root, and sudo is not installed",
        fix=Fix(command=("sudo", "-v")) if there else Fix(packages=("sudo",)),
    )


# name, purpose, the command that tries the feature, its package, the kernel module
_PROBES = (
    ("overlay", "mount points of type overlay", "mount", "mount", "overlay"),
    ("bridge", "network bridges", "ip", "iproute2", "bridge"),
    ("veth", "network device pairs", "ip", "iproute2", "veth"),
    ("nat", "address translation by nftables", "nft", "nftables", "nft_masq"),
)
_UNTRIED = "not tried, because"
_NAT = "table inet probe { chain c { type nat hook postrouting priority srcnat; masquerade; }; }"


def probe_kernel(folder: Path) -> dict[str, str]:
    """Try the kernel features that machines need, in temporary namespaces. Needs root.

    Args:
        folder: A directory on the machines' file system; the nearest existing parent is used.

    Returns:
        Name of each probe -> the error text, empty when the feature works.
    """
    while not folder.is_dir():
        folder = folder.parent
    net = ["unshare", "--net"]
    return {
        "overlay": _try_overlay(folder),
        "bridge": _try([*net, "ip", "link", "add", "probe", "type", "bridge"]),
        "veth": _try([*net, "ip", "link", "add", "probe", "type", "veth", "peer", "name", "peer"]),
        "nat": _try([*net, "nft", _NAT]),
    }


def _try_overlay(folder: Path) -> str:
    overlay = ["mount", "-t", "overlay", "overlay", "-o", "lowerdir=low,upperdir=up,workdir=work", "root"]
    try:
        with tempfile.TemporaryDirectory(prefix=".pushjuju-probe-", dir=folder) as place:
            for name in ("low", "up", "work", "root"):
                Path(place, name).mkdir()
            return _try(["unshare", "--mount", *overlay], cwd=place)
    except OSError as error:
        return f"{_UNTRIED} {folder} cannot be written: {error.strerror}"


def _try(argv: Sequence[str], cwd: str = children.NEUTRAL) -> str:
    try:
        done = children.run(argv, environ={"PATH": PATH}, cwd=cwd)
    except FileNotFoundError:
        return f"{argv[0]} is not installed"
    return "" if done.returncode == 0 else (done.stderr.strip() or f"exit code {done.returncode}")


def kernel_findings(problems: dict[str, str]) -> list[Finding]:
    """Return the findings for the result of `probe_kernel`.

    A probe whose command is missing tells nothing about the kernel; its fix is the command's package.
    """
    return [_kernel_finding(*probe, problem=problems.get(probe[0], "")) for probe in _PROBES]


def _kernel_finding(name: str, use: str, command: str, package: str, module: str, *, problem: str) -> Finding:
    subject = f"kernel: {name}"
    if which(command) is None:
        message = f"{use}: {_UNTRIED} {command} is missing"
        return Finding(name=subject, ok=False, message=message, fix=Fix(packages=(package,)))
    if problem.startswith(_UNTRIED):  # no module of the kernel mends a disk
        return Finding(name=subject, ok=False, message=f"{use}: {problem}")
    loader = () if which("modprobe") else ("kmod",)
    fix = Fix(packages=loader, command=("modprobe", module))
    return Finding(name=subject, ok=not problem, message=f"{use}: {problem or 'work'}", fix=fix)
