"""Starts programs on this computer. No other module of pushjuju starts programs.

A program gets a list of words, never shell text; a working directory in which nobody else puts files; and an
environment of a few names. So a charm's sources, the user's working directory, or a variable of the user's
shell cannot bring code into a program that works for the controller. Programs that the user asked to see at
the terminal (`ssh`, `scp`, plugins of the command line) get the user's directory and environment
(`start_at_terminal`).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from signal import SIGKILL
from typing import IO, Any, Final

Ended = subprocess.CompletedProcess[str]
Child = subprocess.Popen[str]
ChildError = subprocess.SubprocessError
TimedOut = subprocess.TimeoutExpired

SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SYSTEM: Final[Mapping[str, str]] = {"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8"}
"""The environment variables that tools of the operating system get."""

NEUTRAL: Final = "/"
"""The working directory of programs; other people cannot put files there that a program would load."""

DISCARD: Final = subprocess.DEVNULL
PIPE: Final = subprocess.PIPE

_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_KEPT = frozenset(
    {
        "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
        *_PROXIES, *map(str.upper, _PROXIES),
    }
)  # fmt: skip


def environment(environ: Mapping[str, str] | None = None, *, keep: Iterable[str] = ()) -> dict[str, str]:
    """Return the part of an environment that a program started by pushjuju may have.

    Variables that load code into programs, hold credentials or lead to a user's agents are left out; so are
    relative directories of `PATH`.

    Args:
        environ: The environment to take from, or None for the environment of this process.
        keep: Further names; a name that ends with `_` stands for all names that begin with it.
    """
    given = os.environ if environ is None else environ
    names = {*_KEPT, *keep}
    starts = ("LC_", *(name for name in names if name.endswith("_")))
    found = {name: text for name, text in given.items() if name in names or name.startswith(starts)}
    folders = [folder for folder in given.get("PATH", "").split(":") if folder.startswith("/")]
    return {**found, "PATH": ":".join(folders) or SYSTEM_PATH}


def run(
    argv: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    cwd: str | Path = NEUTRAL,
    stdin: str = "",
    timeout: float | None = None,
    check: bool = False,
    umask: int = -1,
) -> Ended:
    """Run a program to its end and return what it printed. Blocks.

    Args:
        environ: The whole environment of the program; None means `environment()`.
        stdin: Text for the program's standard input.
        timeout: Seconds after which the program is killed.
        check: True when a failure of the program raises an error.
        umask: The umask of the program; -1 for the umask of this process.

    Raises:
        OSError: The program cannot be started.
    """
    return subprocess.run(
        argv,
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment() if environ is None else environ,
        cwd=cwd,
        timeout=timeout,
        check=check,
        umask=umask,
    )


def run_within(
    memory: int,
    argv: Sequence[str],
    *,
    environ: Mapping[str, str],
    stdin: str = "",
    timeout: float,
    own_session: bool = False,
) -> Ended:
    """Run a program to its end as `run` does, with a limit of its memory. Blocks.

    The limit is set from outside when the program has started, as code of this process between fork and exec
    could wait forever for a lock of another thread. Only Linux sets such limits; elsewhere there is none.

    Args:
        memory: The most bytes of the program's address space; 0 for no limit.
        own_session: True to kill the program with all that it has started.

    Raises:
        OSError: The program cannot be started.
        TimedOut: The program took longer, and was killed.
    """
    pipes = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
    with start(argv, environ=environ, own_session=own_session, **pipes) as started:
        try:
            _limit(started.pid, memory)
            stdout, stderr = started.communicate(stdin, timeout=timeout)
        except BaseException:
            if own_session:
                os.killpg(started.pid, SIGKILL)
            else:
                started.kill()
            raise
    return Ended(argv, started.returncode, stdout, stderr)


def _limit(process: int, memory: int) -> None:
    if memory and sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.prlimit(process, resource.RLIMIT_AS, (most, most))


def start(
    argv: Sequence[str],
    *,
    environ: Mapping[str, str],
    stdin: int = DISCARD,
    stdout: int | IO[Any] = DISCARD,
    stderr: int | IO[Any] = DISCARD,
    own_session: bool = False,
    umask: int = -1,
) -> Child:
    """Start a program whose streams the caller reads, or that outlives the caller.

    Args:
        stdin: `DISCARD` or `PIPE`.
        stdout: `DISCARD`, `PIPE` or an open file.
        stderr: `DISCARD`, `PIPE` or an open file.
        own_session: True for a program that signals of the caller's terminal do not reach.
        umask: The umask of the program; -1 for the umask of this process.

    Raises:
        OSError: The program cannot be started.
    """
    return subprocess.Popen(
        argv,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        text=True,
        errors="replace",
        env=environ,
        cwd=NEUTRAL,
        start_new_session=own_session,
        umask=umask,
    )


def spawn(program: str, argv: list[str], environ: Mapping[str, str], **options: Any) -> int:
    """Start a program with the caller's file actions (`os.posix_spawn`) and return its process id."""
    return os.posix_spawn(program, argv, environ, **options)


def start_at_terminal(program: str, argv: list[str], *, default_signals: Iterable[int] = ()) -> int:
    """Start a program that the user asked for, with the user's terminal, directory and environment.

    Args:
        default_signals: Signals that the program handles in the default way, whatever this process does.

    Returns:
        The process id.
    """
    return os.posix_spawn(program, argv, os.environ, setsigdef=list(default_signals))
