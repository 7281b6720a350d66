"""Basic steps on this host: commands, locks, mounts, files.

Every function blocks; the provider calls them in threads.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pushjuju.core import children
from pushjuju.core.errors import ProviderError

PATH = children.SYSTEM_PATH
_DETAIL = 4000


def run(argv: Sequence[str], *, stdin: str = "", cwd: Path | None = None, check: bool = True) -> str:
    """Run a command and return what it printed.

    Args:
        argv: The command; its first word is only searched in the system's directories.
        stdin: Text for the command's standard input.
        cwd: The working directory; None for `/`, so that the command keeps no directory of the caller busy.
        check: True to raise an error when the command fails; otherwise its output is returned.

    Raises:
        ProviderError: The command is missing, or it failed and `check` is True.
    """
    try:
        done = children.run(
            argv, environ=children.SYSTEM, cwd=cwd or children.NEUTRAL, stdin=stdin, umask=0o022
        )
    except FileNotFoundError as error:
        raise ProviderError(f"cannot run {argv[0]}: it is not installed", hint="pushjuju doctor") from error
    if check and done.returncode != 0:
        raise ProviderError(
            f"{Path(argv[0]).name} failed with exit code {done.returncode}",
            detail=f"{' '.join(argv)}\n{done.stderr.strip()[-_DETAIL:]}",
        )
    return done.stdout


def which(command: str) -> str | None:
    """Return the path of a system command, or None when it is missing."""
    candidates = (f"{folder}/{command}" for folder in PATH.split(":"))
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes and threads; the lock file is deleted afterwards.

    The holder deletes the file before it releases the lock. A waiter that gets the lock of a deleted file
    tries again with a new file.
    """
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # the folder was deleted between the two calls, with the last machine
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _same_file(descriptor, path):
            break
        os.close(descriptor)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def mounts_below(folder: Path) -> list[str]:
    """Return the mount points at or below a folder, in the order in which they can be unmounted."""
    top = os.path.realpath(folder)
    found = []
    for line in (
        Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    ):
        point = _unescape(line.split(" ")[4])
        if point == top or point.startswith(top + "/"):
            found.append(point)
    return found[::-1]


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def unmount_below(folder: Path) -> None:
    """Unmount everything at or below a folder."""
    for lazy in ((), ("-l",)):
        for point in mounts_below(folder):
            run(["umount", *lazy, point], check=False)
        if not mounts_below(folder):
            return
    left = mounts_below(folder)
    raise ProviderError(
        f"{folder} cannot be removed: something is still mounted there", detail="\n".join(left)
    )


def remove_tree(folder: Path) -> None:
    """Delete a folder with its content, after unmounting everything below it."""
    unmount_below(folder)
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def put_file(root: Path, name: str, content: str | bytes, *, mode: int = 0o644, owner: int = 0) -> None:
    """Write a file of a machine and replace an old one; never write through a link.

    Args:
        root: The machine's root directory on the host.
        name: The path inside the machine, without a leading slash.
        content: Text or bytes.
        mode: The permissions.
        owner: The user id, which is also the group id.
    """
    path = root / name
    make_folder(root, str(Path(name).parent))
    path.unlink(missing_ok=True)
    data = content.encode() if isinstance(content, str) else content
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        os.fchown(descriptor, owner, owner)
        os.fchmod(descriptor, mode)


def put_link(root: Path, name: str, target: str) -> None:
    """Make a symbolic link in a machine's root, and replace an old file or link."""
    make_folder(root, str(Path(name).parent))
    path = root / name
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def make_folder(root: Path, name: str, *, mode: int = 0o755, owner: int = 0) -> None:
    """Make a folder in a machine's root, with its parents; an existing folder keeps owner and mode."""
    if (root / name).is_dir():
        return
    make_folder(root, str(Path(name).parent))
    (root / name).mkdir()
    os.chown(root / name, owner, owner)
    (root / name).chmod(mode)


def boot_id() -> str:
    """Return the id of the present boot of this host."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def open_folder(folder: Path) -> None:
    """Make a folder that everyone may read, whatever the umask; an existing folder stays as it is."""
    try:
        folder.mkdir()
    except FileExistsError:
        return
    folder.chmod(0o755)
