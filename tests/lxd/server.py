"""A real LXD for tests: Debian's daemon in a folder of its own, and an image that mmdebstrap builds once."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

PACKAGES = (
    "systemd,systemd-sysv,systemd-resolved,libnss-resolve,dbus,udev,netplan.io,cloud-init,openssh-server,"
    "python3-minimal,sudo,iproute2,ca-certificates,netbase,e2fsprogs,kmod,lsb-release,locales"
)
ALIAS = "juju/debian@12/amd64"
BRIDGE = "pjlxdtest0"
SUBNET, DHCP = "10.231.91.1/24", "10.231.91.10-10.231.91.250"
SPACE = "pjlxdtest"  # the network of the cluster's second member
RUNS = Path("/var/tmp/pjlxd")  # a folder per run beside it
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
    """A daemon of its own, in a folder of its own.

    Args:
        folder: Where all of it is; a run's folder has one for each daemon.
        before: Words that a daemon's command comes after: it may run in namespaces of its own.
    """

    def __init__(self, folder: Path, before: tuple[str, ...] = ()) -> None:
        self.folder, self._image, self._before = folder / "var", folder, before
        # Whoever works with an LXD of her own (LXD_SOCKET, a remote) must not find it emptied.
        others = {name: value for name, value in os.environ.items() if not name.startswith(("LXD_", "LXC_"))}
        self._environ = {**others, "LXD_DIR": str(self.folder), "LXD_CONF": str(folder / "lxc")}

    @classmethod
    def at(cls, folder: Path) -> Lxd:
        """Return the one that runs already in a folder."""
        return cls(folder.parent)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.folder.mkdir(parents=True)
        with (self._image / "lxd.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*self._before, "lxd", "--group", "root"],
                env=self._environ,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        (self._image / "pid").write_text(str(self._process.pid))
        self.command("lxd", "waitready", "--timeout=60")

    @property
    def pid(self) -> int:
        """Its process."""
        return int((self._image / "pid").read_text())

    @property
    def socket(self) -> Path:
        """Where it is asked."""
        return self.folder / "unix.socket"

    def prepare(self, root: Path) -> None:
        """Give it a pool, a network and the image."""
        network = {"ipv4.address": SUBNET, "ipv4.nat": "true", "ipv6.address": "none"}
        network["ipv4.dhcp.ranges"] = DHCP
        seed = {
            "networks": [{"name": BRIDGE, "type": "bridge", "config": network}],
            **disks_and_cards({"name": "eth0", "network": BRIDGE, "type": "nic"}),
        }
        self.command("lxd", "init", "--preseed", text=json.dumps(seed))
        self.take_image(root)

    def take_image(self, root: Path) -> None:
        """Give it the image."""
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
        """End it with all that it has; instances go first, in good order."""
        try:
            self.empty()
        finally:
            end(self._image)
            self._process.wait()

    def empty(self) -> None:
        """Delete all instances."""
        for name in json.loads(self.command("lxc", "query", "/1.0/instances")):
            self.command("lxc", "delete", "--force", name.rpartition("/")[2])

    def kill(self) -> None:
        """End it at once; nothing may run in it."""
        self._process.kill()
        self._process.wait()
        end(self._image)


def disks_and_cards(card: Mapping[str, str]) -> dict[str, object]:
    """Return the part of a preseed that says what instances have."""
    root = {"path": "/", "pool": "default", "type": "disk"}
    profile = {"name": "default", "devices": {"root": root, "eth0": dict(card)}}
    return {"storage_pools": [_pool()], "profiles": [profile]}


def end(folder: Path) -> None:
    """End the daemon of a folder, if it runs, and take away all that it had; the folder too.

    This is for killed runs too: it needs nothing but the folder.
    """
    with contextlib.suppress(FileNotFoundError, ValueError, ProcessLookupError):
        pid = int((folder / "pid").read_text())
        if b"lxd" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGPWR)  # ends its instances and its own helpers too
            _await_end(pid)
    _end_monitors(folder)
    for file in folder.glob("var/networks/*/dnsmasq.pid"):  # it says `pid: NUMBER`
        with contextlib.suppress(ValueError, ProcessLookupError):
            os.kill(int(file.read_text().split()[-1].strip("'")), signal.SIGKILL)
    for path in folder.glob("var/networks/*"):
        _quietly("ip", "link", "delete", path.name)
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for mount in reversed([item for item in mounts if item.startswith(f"{folder}/")]):
        _quietly("umount", "-l", mount)
    shutil.rmtree(folder, ignore_errors=True)


def _await_end(pid: int) -> None:
    for _ in range(300):
        with contextlib.suppress(ChildProcessError):  # of another run
            os.waitpid(pid, os.WNOHANG)
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)


def _end_monitors(folder: Path) -> None:
    """End containers whose daemon is gone."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(f"[lxc monitor] {folder}/".encode()):
                pid = path.parent.name
                inside = (path.parent / "task" / pid / "children").read_text().split()
                for number in (*inside, pid):
                    os.kill(int(number), signal.SIGKILL)


def _quietly(*words: str) -> None:
    subprocess.run(words, capture_output=True, check=False)


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """Give a run its folder, for as long as no other run is at work; what killed ones left goes first."""
    with Path(f"{RUNS}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError("another run on a real LXD is at work: wait for its end") from None
        _sweep()
        folder = Path(f"{RUNS}-{os.getpid()}")
        folder.mkdir(mode=0o711)
        try:
            yield folder
        finally:
            _sweep()


def _sweep() -> None:
    for folder in RUNS.parent.glob(f"{RUNS.name}-*"):
        for daemon in folder.iterdir():
            end(daemon)
        shutil.rmtree(folder, ignore_errors=True)
    _quietly("ip", "netns", "delete", SPACE)
