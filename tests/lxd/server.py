"""A real LXD for tests: Debian's daemon in a folder of its own, and an image that mmdebstrap builds once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tarfile
import time
from io import BytesIO
from pathlib import Path

PACKAGES = (
    "systemd,systemd-sysv,systemd-resolved,libnss-resolve,dbus,udev,netplan.io,cloud-init,openssh-server,"
    "python3-minimal,sudo,iproute2,ca-certificates,netbase,e2fsprogs,kmod,lsb-release,locales"
)
ALIAS = "juju/debian@12/amd64"
BRIDGE = "pjlxdtest0"
SUBNET = "10.231.91.1/24"
_MASKED = (
    "systemd-binfmt.service",
    "proc-sys-fs-binfmt_misc.automount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
)
_HOOKS = (
    'echo "locale: C.UTF-8" > "$1/etc/cloud/cloud.cfg.d/90_locale.cfg"',
    'echo "datasource_list: [NoCloud, LXD, None]" > "$1/etc/cloud/cloud.cfg.d/91_ds.cfg"',
    f'for unit in {" ".join(_MASKED)}; do ln -sf /dev/null "$1/etc/systemd/system/$unit"; done',
    ': > "$1/etc/machine-id"; rm -f "$1"/etc/ssh/ssh_host_* "$1/etc/hostname"',
    'ln -sf ../run/systemd/resolve/stub-resolv.conf "$1/etc/resolv.conf"',
)
_SEED = "/var/lib/cloud/seed/nocloud-net"
_TEMPLATES = {
    "hostname.tpl": ("/etc/hostname", "{{ container.name }}\n"),
    "meta.tpl": (
        f"{_SEED}/meta-data",
        "instance-id: {{ container.name }}\nlocal-hostname: {{ container.name }}\n",
    ),
    "user.tpl": (f"{_SEED}/user-data", '{{ config_get("user.user-data", properties.default) }}'),
    "vendor.tpl": (f"{_SEED}/vendor-data", '{{ config_get("user.vendor-data", properties.default) }}'),
    "network.tpl": (
        f"{_SEED}/network-config",
        "version: 1\nconfig:\n  - {type: physical, name: eth0, subnets: [{type: dhcp, control: auto}]}\n",
    ),
}


def skip_reason() -> str:
    """Return why no LXD can run here, or an empty text."""
    if os.geteuid() != 0:
        return "a real LXD in tests needs root"
    needed = ("lxd", "lxc", "dnsmasq", "iptables", "mmdebstrap")
    missing = [name for name in needed if not shutil.which(name)]
    packages = "lxd dnsmasq-base iptables mmdebstrap"
    return f"not installed: {', '.join(missing)} (Debian: {packages})" if missing else ""


def root_file_system(cache: Path) -> Path:
    """Return the image's root as a tar file, built when it is not there."""
    found = cache / "lxd-debian12.tar"
    if not found.exists():
        cache.mkdir(parents=True, exist_ok=True)
        part = cache / f".lxd-debian12.{os.getpid()}.tar"
        hooks = [f"--customize-hook={hook}" for hook in _HOOKS]
        command = ["mmdebstrap", "-q", "--variant=minbase", f"--include={PACKAGES}", *hooks, "bookworm"]
        try:
            subprocess.run([*command, str(part)], check=True)
            part.replace(found)
        finally:
            part.unlink(missing_ok=True)
    return found


def metadata(folder: Path) -> Path:
    """Write the image's metadata and return the file."""
    templates = {
        path: {"when": ["create", "copy"], "template": name, "properties": {"default": "#cloud-config\n{}"}}
        for name, (path, _) in _TEMPLATES.items()
    }
    document = {
        "architecture": "x86_64",
        "creation_date": 1700000000,
        "properties": {},
        "templates": templates,
    }
    file = folder / "metadata.tar"
    texts = {f"templates/{name}": text for name, (_, text) in _TEMPLATES.items()}
    with tarfile.open(file, "w") as archive:
        for name, text in {"metadata.yaml": json.dumps(document), **texts}.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text.encode()), 0o644
            archive.addfile(info, BytesIO(text.encode()))
    return file


def _pool() -> dict[str, object]:
    """Return a pool that clones images where that can be made, else one that unpacks them each time."""
    if shutil.which("mkfs.btrfs") and "btrfs" in Path("/proc/filesystems").read_text():
        return {"name": "default", "driver": "btrfs", "config": {"size": "6GiB"}}
    return {"name": "default", "driver": "dir"}


class Lxd:
    """A daemon of its own, in a folder of its own, with a bridge of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "var"
        self._environ = {**os.environ, "LXD_DIR": str(self.folder), "LXC_CONF": str(folder / "lxc")}
        self._image = folder

    @classmethod
    def at(cls, folder: Path) -> Lxd:
        """Return the one that runs already in a folder."""
        return cls(folder.parent)

    def start(self) -> None:
        """Start it."""
        self.folder.mkdir(parents=True)
        self._log = (self._image / "lxd.log").open("wb")
        command = ["lxd", "--group", "root"]
        self._process = subprocess.Popen(
            command, env=self._environ, stdout=self._log, stderr=self._log, start_new_session=True
        )

    @property
    def socket(self) -> Path:
        """Where it is asked."""
        return self.folder / "unix.socket"

    def prepare(self, root: Path) -> None:
        """Give it a pool, a network and the image."""
        self.command("lxd", "waitready", "--timeout=60")
        seed = {
            "networks": [
                {
                    "name": BRIDGE,
                    "type": "bridge",
                    "config": {"ipv4.address": SUBNET, "ipv4.nat": "true", "ipv6.address": "none"},
                }
            ],
            "storage_pools": [_pool()],
            "profiles": [
                {
                    "name": "default",
                    "devices": {
                        "root": {"path": "/", "pool": "default", "type": "disk"},
                        "eth0": {"name": "eth0", "network": BRIDGE, "type": "nic"},
                    },
                }
            ],
        }
        self.command("lxd", "init", "--preseed", text=json.dumps(seed))
        self.command("lxc", "image", "import", str(metadata(self._image)), str(root), "--alias", ALIAS)

    def command(self, *words: str, text: str = "") -> str:
        """Run one of LXD's commands on it."""
        done = subprocess.run(
            words, env=self._environ, input=text, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def names(self) -> list[str]:
        """Return instances and profiles that are there beside the default one."""
        listed = json.loads(self.command("lxc", "query", "/1.0/instances"))
        profiles = json.loads(self.command("lxc", "query", "/1.0/profiles"))
        return [item for item in (*listed, *profiles) if not item.endswith("/default")]

    def close(self) -> None:
        """End it; instances, bridge and pool go before."""
        try:
            for name in json.loads(self.command("lxc", "query", "/1.0/instances")):
                self.command("lxc", "delete", "--force", name.rpartition("/")[2])
            self.command("lxc", "profile", "device", "remove", "default", "eth0")
            self.command("lxc", "network", "delete", BRIDGE)
            self.command("lxc", "profile", "device", "remove", "default", "root")
            for pool in json.loads(self.command("lxc", "query", "/1.0/storage-pools")):
                if (name := pool.rpartition("/")[2]) != "default":
                    self.command("lxc", "storage", "delete", name)
            for image in json.loads(self.command("lxc", "query", "/1.0/images")):
                self.command("lxc", "image", "delete", image.rpartition("/")[2])
            self.command("lxc", "storage", "delete", "default")
        finally:
            self._process.send_signal(signal.SIGPWR)  # ends its own helpers too
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._log.close()
            time.sleep(0.2)
            for name in ("devlxd", "shmounts"):
                subprocess.run(["umount", "-l", str(self.folder / name)], capture_output=True, check=False)
