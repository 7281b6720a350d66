"""N hosts on one Linux machine: a network namespace, a root of its own and an sshd each, behind one bridge.

The network in between is plain, or a delay line of so many milliseconds of round trip. A host's root is an
overlay on this machine's, with /tmp, /root, /run and /var/lib/juju of its own, so nothing that a tool writes
there stays. Needs root, iproute2, openssh-server.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.fleet.cgroups import Group

HERE = Path(__file__).parent
SSHD = "/usr/sbin/sshd"
BED = "pjbed"  # namespace of the bridge, and stem of every name
NETWORK = "10.77"
HERE_IP, THERE_IP = "10.78.0.1", "10.78.0.2"
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bed:
    """Hosts that answer.

    Attributes:
        folder: Keys, configuration, and what peers need on every host (`share`).
        hosts: Their addresses.
        key: Private key that logs in as root everywhere.
        known_hosts: Their host keys.
        group: The control group of all that runs on them.
        roots: What each host sees as `/`.
    """

    folder: Path
    hosts: tuple[str, ...]
    key: Path
    known_hosts: Path
    group: Group
    roots: tuple[Path, ...]

    @property
    def share(self) -> Path:
        """The folder that every host sees under the same path."""
        return self.folder / "share"

    def hooks_that_ran(self) -> list[int]:
        """Return how many hooks ran on each host since the last call: every hook adds a line to a file."""
        counts = []
        for root in self.roots:
            path = root / "root" / "ran"
            counts.append(len(path.read_bytes().splitlines()) if path.exists() else 0)
            path.unlink(missing_ok=True)
        return counts


def address(number: int) -> str:
    """Return the address of a host, counted from 0."""
    return f"{NETWORK}.{number // 250}.{number % 250 + 2}"


@contextlib.contextmanager
def bed(folder: Path, count: int, *, round_trip_ms: float = 0.0) -> Iterator[Bed]:
    """Make hosts; they end with the block, whatever happens in it."""
    group = Group(f"{BED}-hosts")
    with contextlib.ExitStack() as stack:
        stack.callback(_end, group, count)
        _keys(folder)
        _network(count)
        stack.enter_context(_link(round_trip_ms))
        daemons = [_host(folder, number, group) for number in range(count)]
        made = Bed(
            folder=folder,
            hosts=tuple(address(number) for number in range(count)),
            key=folder / "id_ed25519",
            known_hosts=folder / "known_hosts",
            group=group,
            roots=tuple(Path(f"/proc/{daemon.pid}/root") for daemon in daemons),
        )
        _await(made.hosts)
        yield made


# --- keys and configuration -------------------------------------------------------------------------------


def _keys(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("id_ed25519", "ssh_host_ed25519_key"):
        if not (folder / name).exists():
            _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name)
    shutil.copy(folder / "id_ed25519.pub", folder / "authorized_keys")
    host_key = " ".join((folder / "ssh_host_ed25519_key.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text("".join(f"{address(n)} {host_key}\n" for n in range(1000)))
    (folder / "sshd_config").write_text(
        "Port 22\nUseDNS no\nUsePAM yes\nMaxStartups 1000\nMaxSessions 1000\n"
        f"PermitRootLogin prohibit-password\nHostKey {folder}/ssh_host_ed25519_key\n"
        f"AuthorizedKeysFile .ssh/authorized_keys {folder}/authorized_keys\nStrictModes no\n"
        "PidFile none\nPrintMotd no\nPrintLastLog no\nSubsystem sftp internal-sftp\n"
    )


# --- network ----------------------------------------------------------------------------------------------


def _network(count: int) -> None:
    """Make the namespaces, and the bridge between them."""
    lines = [f"netns add {BED}", *(f"netns add {BED}{number}" for number in range(count))]
    lines += [f"link add {BED}{n} netns {BED} type veth peer name eth0 netns {BED}{n}" for n in range(count)]
    _batch(lines)
    inside = ["link add br0 type bridge", "link set br0 up", f"addr add {NETWORK}.255.254/16 dev br0"]
    inside += [
        line for n in range(count) for line in (f"link set {BED}{n} master br0", f"link set {BED}{n} up")
    ]
    _batch(inside, BED)
    for number in range(count):
        setup = ["link set lo up", f"addr add {address(number)}/16 dev eth0", "link set eth0 up"]
        _batch([*setup, f"route add default via {NETWORK}.255.254"], f"{BED}{number}")
    _run("ip", "netns", "exec", BED, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")


@contextlib.contextmanager
def _link(round_trip_ms: float) -> Iterator[None]:
    """Join this machine and the bridge: by a pair of devices, or by a delay line."""
    if not round_trip_ms:
        _batch([f"link add {BED} type veth peer name uplink netns {BED}"])
        line = None
    else:
        command = [sys.executable, str(HERE / "delay.py"), BED, str(round_trip_ms / 2)]
        line = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert line.stdout is not None
        if line.stdout.readline() != "ready\n":
            raise RuntimeError("the delay line does not start: is /dev/net/tun there?")
    try:
        _batch([f"addr add {HERE_IP} peer {THERE_IP} dev {BED}", f"link set {BED} up"])
        _batch([f"addr add {THERE_IP} peer {HERE_IP} dev uplink", "link set uplink up"], BED)
        _batch([f"route add {NETWORK}.0.0/16 via {THERE_IP}"])
        yield
    finally:
        if line is not None:
            line.terminate()
            line.wait()


def _batch(lines: list[str], namespace: str = "") -> None:
    prefix = ["-n", namespace] if namespace else []
    subprocess.run(["ip", *prefix, "-batch", "-"], input="\n".join(lines), text=True, check=True)


def _run(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True)


# --- hosts ------------------------------------------------------------------------------------------------


def _host(folder: Path, number: int, group: Group) -> subprocess.Popen[bytes]:
    """Start a host's sshd, and beside it the agent that peers' hooks ask; return the process of sshd."""
    place = folder / "roots" / str(number)
    place.mkdir(parents=True, exist_ok=True)
    command = [
        "ip",
        "netns",
        "exec",
        f"{BED}{number}",
        "unshare",
        "--mount",
        "--uts",
        "--propagation",
        "private",
    ]
    command += ["sh", str(HERE / "host.sh"), str(place), str(folder), f"bench-{number}"]
    with (folder / "hosts.log").open("ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=group.enter,  # noqa: PLW1509 - there are no threads
            start_new_session=True,
        )


def _await(hosts: tuple[str, ...]) -> None:
    """Wait until every host shows its SSH banner.

    Raises:
        TimeoutError: One does not.
    """
    deadline = time.monotonic() + PATIENCE_S
    for host in hosts:
        while True:
            try:
                with socket.create_connection((host, 22), timeout=1) as peer:
                    if peer.recv(4) == b"SSH-":
                        break
            except OSError:
                time.sleep(0.05)
            if time.monotonic() > deadline:
                raise TimeoutError(f"host {host} does not answer; see hosts.log")


def _end(group: Group, count: int) -> None:
    group.kill()
    for name in (BED, *(f"{BED}{number}" for number in range(count))):
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    subprocess.run(["ip", "link", "del", BED], capture_output=True, check=False)
    group.remove()


def require() -> None:
    """Refuse to begin where hosts cannot be made.

    Raises:
        SystemExit: Not root, or a tool is missing.
    """
    missing = [tool for tool in ("ip", "unshare", SSHD, "ssh-keygen", "perl") if not shutil.which(tool)]
    if os.geteuid() != 0 or missing:
        raise SystemExit(f"ERROR this needs root{' and ' + ', '.join(missing) if missing else ''}")
