"""One PostgreSQL server for a run of the tests, on tmpfs and without fsync.

The server ends with the last process of the tests, however that process ends.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import comes

MEMORY = Path("/dev/shm")
# the server ends when no process of the tests has the pipe open any more, also after a `kill -9`
KEEPER = """
(
  "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c shared_buffers=16MB -c max_connections=40 $3 \
    >"$2/log" 2>&1 &
  cat "$2/users"
  rm "$2/users"
  kill -INT $!
  wait $!
  rm -rf "$2"
) </dev/null >/dev/null 2>&1 &
"""

# for tests, which cut no power
FORGETFUL = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off"


class NoServerError(Exception):
    """PostgreSQL cannot run here; the message says why."""


@contextmanager
def running(run: Path, *, durable: bool = False, address: str = "") -> Iterator[str]:
    """Yield the folder of the server's socket, while the server runs.

    Args:
        run: A folder that all processes of the run of the tests share; the first process starts the server.
        durable: Keep the data on a disk and wait for the disk, as a server in use does.
        address: An address of this host at which the server listens as well, for everybody there.
    """
    with (run / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = run / "postgres"
        if (users := _use(place)) is None:
            folder, users = _started(address, durable=durable)
            place.unlink(missing_ok=True)
            place.symlink_to(folder)
    try:
        yield str(place.readlink())
    finally:
        os.close(users)


def _use(place: Path) -> int | None:
    """Return an open end of the pipe that keeps the server alive, or None when there is no server."""
    try:
        users = os.open(place / "users", os.O_RDWR)  # waits for nobody, unlike O_WRONLY
    except FileNotFoundError:
        return None
    if not _ready(place.readlink()) or not (place / "users").exists():  # it is about to end
        os.close(users)
        return None
    return users


def _ready(folder: Path) -> bool:
    asked = [_programs() / "pg_isready", "-q", "-h", folder, "-U", "pushjuju", "-d", "postgres"]
    return not subprocess.run(asked, check=False).returncode


def _started(address: str, *, durable: bool) -> tuple[Path, int]:
    """Start a server with an empty cluster; return its folder, and an open end of its pipe."""
    programs, options = _programs(), "" if durable else FORGETFUL
    folder = new_folder(MEMORY if MEMORY.is_dir() and not durable else None)
    os.mkfifo(folder / "users")
    kept: dict[str, Any] = {"cwd": folder, "capture_output": True, "text": True, **as_owner()}
    made = ["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=pushjuju"]
    done = subprocess.run([programs / "initdb", *made, "-D", folder / "data"], check=False, **kept)
    if done.returncode:
        shutil.rmtree(folder)
        raise NoServerError(f"initdb failed: {done.stderr.strip()}")
    if address:
        options += f" -c listen_addresses={address}"
        with (folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet trust\n")
    users = os.open(folder / "users", os.O_RDWR)
    subprocess.run(["setsid", "sh", "-c", KEEPER, "keeper", programs, folder, options], check=True, **kept)
    comes(lambda: _ready(folder), f"see {folder}/log")
    return folder, users


def _programs() -> Path:
    """Return the folder with the programs of the newest version that is installed.

    The environment variable `POSTGRES_PROGRAMS` names another folder.
    """
    if named := os.environ.get("POSTGRES_PROGRAMS"):
        return Path(named)
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    if not found:
        raise NoServerError("PostgreSQL is missing; Debian's package is postgresql")
    return found[-1].parent


def new_folder(place: Path | None = None) -> Path:
    """Return a new folder in which a server may write."""
    folder = Path(tempfile.mkdtemp(prefix="pushjuju-postgres-", dir=place))
    if not os.geteuid():
        shutil.chown(folder, _owner())
    return folder


def as_owner() -> dict[str, Any]:
    """Return the options with which a program runs as the owner of the servers: PostgreSQL refuses root."""
    if os.geteuid():
        return {}
    name = _owner()
    return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}


def _owner() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
