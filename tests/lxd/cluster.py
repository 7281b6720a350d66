"""A real cluster for tests: two daemons of one computer, the second in a network of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.lxd.server import BRIDGE, SPACE, Lxd, disks_and_cards

PORT = 18444
ONE, TWO = "10.231.91.1", "10.231.91.2"  # the first is the bridge's own address
_CARD = {"name": "eth0", "nictype": "bridged", "parent": BRIDGE, "type": "nic"}
# Machines in machines need one cgroup tree; hosts with two have it in part only.
_UNIFIED = "mount -t tmpfs none /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup"
_JOIN = f"ip link set lo up && ip link add {BRIDGE} type bridge && ip address add {TWO}/24 dev {BRIDGE}"
_JOINED = f"ip link set {SPACE} master {BRIDGE} && ip link set {SPACE} up && ip link set {BRIDGE} up"


class Cluster:
    """Members `one` and `two`; instances of both are on the bridge of the test's first daemon."""

    def __init__(self, folder: Path) -> None:
        alone = ("unshare", "--mount", "--propagation=slave", "sh", "-c", f'{_UNIFIED} && exec "$0" "$@"')
        self.one = Lxd(folder / "one", alone)
        self.two = Lxd(folder / "two", ("ip", "netns", "exec", SPACE, *alone))

    def start(self, root: Path) -> None:
        """Start both and let them join."""
        self._wire()
        self.one.start()
        self.one.command("lxc", "config", "set", "core.https_address", f"{ONE}:{PORT}")
        seed = {**disks_and_cards(_CARD), "cluster": {"server_name": "one", "enabled": True}}
        self.one.command("lxd", "init", "--preseed", text=json.dumps(seed))
        self.one.take_image(root)
        self.two.start()
        token = self.one.command("lxc", "cluster", "add", "two").split()[-1]
        size = {"entity": "storage-pool", "name": "default", "key": "size", "value": "6GiB"}
        joins = {
            "server_name": "two",
            "enabled": True,
            "server_address": f"{TWO}:{PORT}",
            "cluster_token": token,
            "member_config": [size],
        }
        self.two.command("lxd", "init", "--preseed", text=json.dumps({"cluster": joins}))

    def _wire(self) -> None:
        """Make a network for the second one, on the bridge of the first daemon."""
        inside = ("ip", "netns", "exec", SPACE, "sh", "-c", f"{_JOIN} && {_JOINED}")
        for words in (
            ("ip", "netns", "add", SPACE),
            ("ip", "link", "add", f"{SPACE}h", "master", BRIDGE, "type", "veth", "peer", "name", SPACE),
            ("ip", "link", "set", f"{SPACE}h", "up"),
            ("ip", "link", "set", SPACE, "netns", SPACE),
            inside,
        ):
            subprocess.run(words, check=True, capture_output=True)

    def close(self) -> None:
        """End both."""
        try:
            self.one.empty()
        finally:
            self.two.kill()  # one alone does not end in good order: neither is the majority
            self.one.kill()
