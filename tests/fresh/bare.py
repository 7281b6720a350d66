"""A computer with Python, git and certificates, nothing else: for commands that promise to install the rest.

It is a root file system made by mmdebstrap, in namespaces of processes and mounts of its own. Its network is
the host's. Of the host it gets what is configuration: where apt and pip find packages, certificates, proxies.
All of it lies in memory, where many small files cost little. When this process ends, however it ends, the
kernel ends all processes of the bare computer and undoes its mounts.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pushjuju.plugins.providers.local.bases import host_apt_options

REPOSITORY = Path(__file__).parents[2]
_PACKAGES = ("python3", "git", "ca-certificates", "sudo")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CARRIED = re.compile(r"PIP_|UV_|SSL_CERT_|REQUESTS_CA_|CURL_CA_|(https?|ftp|all|no)_proxy$", re.IGNORECASE)
_CONFIGURATION = ("etc/apt", "usr/share/keyrings", "etc/ssl/certs", "usr/local/share/ca-certificates")
# Keeps memory for files, in a namespace of mounts of its own, until its input ends.
_MEMORY = """
import subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", sys.argv[1]], check=True)
print("ready", flush=True)
sys.stdin.read()
"""
# The first process of the bare computer: mounts what a computer has, then lives until its input ends.
_INIT = """
import os, signal, subprocess, sys
place, template, files, home, *shown = sys.argv[1:]
root = place + "/root"
def mount(*words):
    subprocess.run(["mount", *words], check=True)
mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", place)
for name in ("root", "up", "work"):
    os.mkdir(place + "/" + name)
mount("-t", "overlay", "-o", f"lowerdir={template},upperdir={place}/up,workdir={place}/work", "overlay", root)
# Machines are overlays too, and none of them can lie on another.
os.makedirs(root + home)
mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root + home)
subprocess.run(["cp", "-a", files + "/.", root], check=True)
mount("-t", "proc", "proc", root + "/proc")
mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root + "/run")
for name in ("/sys", "/dev"):
    mount("--rbind", name, root + name)
for name in shown:
    os.makedirs(root + name, exist_ok=True)
    mount("--rbind", name, root + name)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever loses its parent is buried here
print("ready", flush=True)
sys.stdin.read()
"""
_UID = "1000"


@dataclass(frozen=True, slots=True)
class Memory:
    """Files in memory that several bare computers share.

    Attributes:
        keeper: The process on this host that leads into their namespace of mounts.
        template: The root file system of new bare computers, which stays as it is.
        files: What each of them gets besides, by user.
        bases: Where roots of machines are kept; the same path here and there.
    """

    keeper: int
    template: Path
    files: Path
    bases: Path

    @property
    def namespace(self) -> list[str]:
        """The words before a command that sees these files."""
        return ["nsenter", f"--mount=/proc/{self.keeper}/ns/mnt", "--"]

    def seen(self, path: Path) -> Path:
        """Return how this process reaches one of the files."""
        return Path(f"/proc/{self.keeper}/root", path.relative_to("/"))


@dataclass(frozen=True, slots=True)
class Bare:
    """A bare computer that runs.

    Attributes:
        init: The process on this host that leads into its namespaces.
        root: Its root directory inside its namespace of mounts.
        user: Who works there: `root`, or an account with sudo.
        home: That account's home directory.
        bases: Where roots of machines are kept.
    """

    init: int
    root: Path
    user: str
    home: Path
    bases: Path

    def run(self, *argv: str) -> str:
        """Run a command in the checkout; it must succeed. Return what it printed."""
        done = self.tried(*argv)
        shown = done.stdout + done.stderr
        assert done.returncode == 0, f"{' '.join(argv)} -> {done.returncode}\n{shown}"
        return shown

    def tried(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout and return how it ended."""
        carried = [f"{name}={value}" for name, value in os.environ.items() if _CARRIED.match(name)]
        own = [f"HOME={self.home}", f"USER={self.user}", f"PATH={_PATH}", "LANG=C.UTF-8"]
        own.append("PIP_NO_COMPILE=1")  # most modules are never imported here
        place = ["env", "-i", f"--chdir={self.home}/pushjuju", f"PUSHJUJU_CACHE={self.bases}"]
        return self.enter(self.user, *place, *own, *carried, *argv)

    def seen(self, path: Path) -> Path:
        """Return how this process reaches a file of the bare computer."""
        return Path(f"/proc/{self.init}/root", self.root.relative_to("/"), path.relative_to("/"))

    def has(self, command: str) -> bool:
        """Return whether a command is there."""
        return (
            self.enter("root", "env", "-i", f"PATH={_PATH}", "sh", "-c", f"command -v {command}").returncode
            == 0
        )

    def enter(self, user: str, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a command there with this process's environment and return how it ended."""
        space = f"/proc/{self.init}/ns"
        return subprocess.run(
            [
                *("nsenter", f"--mount={space}/mnt", f"--pid={space}/pid_for_children"),
                *("chroot", f"--userspec={user}:{user}", self.root, *argv),
            ],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )


@contextmanager
def memory(folder: Path) -> Iterator[Memory]:
    """Make a bare root file system of this host's release in memory, below a new folder."""
    folder.mkdir()
    with _keeps(["unshare", "--mount", sys.executable, "-I", "-c", _MEMORY, folder]) as keeper:
        made = Memory(keeper, folder / "template", folder / "files", folder / "bases")
        made.seen(made.bases).mkdir()
        _build_root(made)
        yield made


def _build_root(made: Memory) -> None:
    release = platform.freedesktop_os_release()
    options = [f"--aptopt={option}" for option in host_apt_options()]
    options += ["--dpkgopt=force-unsafe-io", f"--include={','.join(_PACKAGES)}"]
    argv = [
        "mmdebstrap",
        "--quiet",
        "--variant=minbase",
        *options,
        release["VERSION_CODENAME"],
        made.template,
    ]
    subprocess.run([*made.namespace, *argv], check=True)
    root = made.seen(made.template)
    (root / "etc/apt/sources.list").unlink()
    for name in _CONFIGURATION:
        if Path("/", name).is_dir():
            subprocess.run(["cp", "-a", f"/{name}/.", root / name], check=True)
    # What is written here is thrown away: it need not survive a loss of power.
    (root / "etc/dpkg/dpkg.cfg.d/unsafe").write_text("force-unsafe-io\n", encoding="ascii")
    for name in ("etc/resolv.conf", "etc/hosts"):
        shutil.copy(Path("/", name), root / name)


@contextmanager
def running(shared: Memory, folder: Path, *, user: str) -> Iterator[Bare]:
    """Run a bare computer with a copy of this checkout; what it writes is gone afterwards.

    The state of its controllers lies at the same path here and there, and not in memory: names of machines
    are made from that path, so that whoever sweeps finds them.

    Args:
        shared: What it shares with other bare computers.
        folder: Where its files lie; a new folder, whose name no other bare computer has.
        user: Who works there; an account with sudo is made unless it is `root`.
    """
    place, home = folder / "place", folder / "home"
    place.mkdir(parents=True)
    files = shared.seen(shared.files / folder.name)
    inside = files / home.relative_to("/")
    _copy_checkout(inside / "pushjuju")
    packages = _carry_pip(files, inside)
    state = home / "pushjuju/state"
    shutil.copytree(inside / "pushjuju/state", state)
    if user != "root":
        subprocess.run(["chown", "-R", f"{_UID}:{_UID}", inside, state], check=True)
    words = [place, shared.template, shared.files / folder.name, home, state, shared.bases, *packages]
    namespaces = [*shared.namespace, "unshare", "--mount", "--pid", "--fork", "--kill-child"]
    with _keeps([*namespaces, sys.executable, "-I", "-c", _INIT, *words]) as init:
        bare = Bare(init, place / "root", user, home, shared.bases)
        if user != "root":
            _add_account(bare)
        yield bare


def _add_account(bare: Bare) -> None:
    rule = f"{bare.user} ALL=(ALL) NOPASSWD:ALL"
    script = f"useradd -u {_UID} -d {bare.home} {bare.user} && echo '{rule}' > /etc/sudoers.d/{bare.user}"
    done = bare.enter("root", "env", f"PATH={_PATH}", "sh", "-c", script)
    assert done.returncode == 0, done.stderr


@contextmanager
def _keeps(argv: Sequence[str | Path]) -> Iterator[int]:
    """Run a process that is ready when it says so, and lives until its input ends."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process.pid
        finally:
            process.stdin.close()


def _carry_pip(root: Path, home: Path) -> list[Path]:
    """Copy pip's configuration and the files that it names; return the folders that it names."""
    pip = [sys.executable, "-m", "pip", "config"]
    known = subprocess.run([*pip, "debug"], capture_output=True, text=True, check=True).stdout
    files = [Path(path) for path in re.findall(r"^\s+(/.*), exists: True$", known, re.MULTILINE)]
    values = subprocess.run([*pip, "list"], capture_output=True, text=True, check=True).stdout
    named = [Path(path) for path in re.findall(r"(?:file://|[' ])(/[\w./+-]+)", values)]
    for path in [*files, *filter(Path.is_file, named)]:
        own = Path.home()
        target = home / path.relative_to(own) if path.is_relative_to(own) else root / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    # A local index keeps its packages beside its pages.
    folders = {path.parent if path.name == "simple" else path for path in named if path.is_dir()}
    return sorted(folders)


def _copy_checkout(target: Path) -> None:
    """Copy what belongs to the checkout, as it is now; nothing that a build or a controller left."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        if not source.exists() and not source.is_symlink():
            continue  # deleted and not yet committed
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target / name, follow_symlinks=False)
