"""Start a process as Juju's agent does, and wait for its end while other descriptors are served.

Mirrors: juju worker/uniter/runner/runner.go (3.6): /dev/null as stdin, two pipes, 100 ms for the pipes to
close after the end.
"""

from __future__ import annotations

import os

from pushjuju.runner.remote.base import signals
from pushjuju.runner.remote.base.results import describe, monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pwd import struct_passwd
    from typing import Any, Callable, Mapping

    from pushjuju.runner.remote.operation.host import Host

PIPE_GRACE = 0.1  # seconds; background children may hold the pipes, their later output is dropped
TERM_GRACE = 30.0  # seconds between SIGTERM and SIGKILL when a time-out stops commands


class Ended:
    """How a process ended."""

    def __init__(self, status: int, timed_out: bool) -> None:
        self.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None  # number of the signal, or None
        # exit status; None when a signal ended the process
        self.exit = os.WEXITSTATUS(status) if self.signal is None else None
        self.timed_out = timed_out  # True when the time limit ended the process


class Child:
    """One started process and its two output pipes."""

    def __init__(self, host: Host, sinks: tuple[Callable[[bytes], None], Callable[[bytes], None]]) -> None:
        self.pid = 0
        self._host = host
        self._sinks = sinks
        self._pipes: dict[int, Callable[[bytes], None]] = {}
        self._status: int | None = None
        self._wake = os.pipe()
        for fd in self._wake:
            os.set_blocking(fd, False)
        signals.set_wakeup_fd(self._wake[1])
        signals.on_child_end(lambda *_: None)
        host.watch(self._wake[0], self._reap)

    def start(
        self,
        argv: list[str],
        env: Mapping[str, str],
        cwd: str,
        stdin: int = -1,
        user: struct_passwd | None = None,
    ) -> None:
        """Start the process as root or as a user; raise OSError when the process could not be started."""
        out, err = os.pipe(), os.pipe()
        null = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC) if stdin < 0 else stdin
        fds = (null, out[1], err[1])
        os.chdir(cwd)
        try:
            self.pid = _spawn(argv, env, fds) if user is None else _fork(argv, env, fds, user)
        except BaseException:
            os.close(out[0])
            os.close(err[0])
            raise
        finally:
            os.close(null)
            os.close(out[1])
            os.close(err[1])
        for number, fd in enumerate((out[0], err[0])):
            self._pipes[fd] = self._sinks[number]
            self._host.watch(fd, self._reader(fd))
        self._host.on_cancel = self.kill
        if self._host.cancelled:
            self.kill(self._host.cancelled)
        self._host.started(self.pid)

    def _reader(self, fd: int) -> Callable[[], None]:
        return lambda: self._read(fd)

    def _read(self, fd: int) -> None:
        try:
            data = os.read(fd, 1 << 16)
        except OSError:
            data = b""
        if data:
            self._pipes[fd](data)
            return
        self._host.unwatch(fd)
        del self._pipes[fd]
        os.close(fd)

    def _reap(self) -> None:
        try:
            os.read(self._wake[0], 512)
        except OSError:
            pass
        if self._status is None and self.pid:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status

    def kill(self, signal: int) -> None:
        """Send a signal to the process and everything in its group."""
        if self._status is not None or not self.pid:
            return
        try:
            os.killpg(self.pid, signal)
        except OSError:
            try:
                os.kill(self.pid, signal)
            except OSError:
                pass

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the end of the process, then up to 100 ms for its pipes."""
        end = None if timeout is None else monotonic() + timeout
        timed_out = False
        self._reap()
        while self._status is None:
            if end is not None and monotonic() >= end:
                self.kill(signals.KILL if timed_out else signals.TERM)
                timed_out, end = True, monotonic() + TERM_GRACE
            self._host.pump(None if end is None else max(end - monotonic(), 0.0))
        grace = monotonic() + PIPE_GRACE
        while self._pipes and monotonic() < grace:
            self._host.pump(grace - monotonic())
        return Ended(self._status, timed_out)

    def close(self) -> None:
        """Close the pipes: what a background child writes later is dropped."""
        self._host.on_cancel = None
        for fd in list(self._pipes):
            self._host.unwatch(fd)
            os.close(fd)
        self._pipes.clear()
        signals.set_wakeup_fd(-1)
        self._host.unwatch(self._wake[0])
        for fd in self._wake:
            os.close(fd)


def _spawn(argv: list[str], env: Mapping[str, str], fds: tuple[int, int, int]) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(fds)]
    options: dict[str, Any] = {"file_actions": actions, "setsigmask": [], "setsigdef": signals.CHANGED}
    try:
        return os.posix_spawn(argv[0], argv, env, setsid=True, **options)
    except NotImplementedError:  # a C library without setsid: a process group is enough to kill the hook
        return os.posix_spawn(argv[0], argv, env, setpgroup=0, **options)


def _go_home(home: str) -> None:
    """Change to the home of the user that this process is now; root may not be allowed to."""
    try:
        os.chdir(home)
    except OSError:
        os.chdir("/")


def _fork(argv: list[str], env: Mapping[str, str], fds: tuple[int, int, int], user: struct_passwd) -> int:
    """Start a process as a user; `runuser` would do the same, and cost as much as the start of a shell."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        signals.restore()
        os.initgroups(user.pw_name, user.pw_gid)
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
        _go_home(user.pw_dir)
        os.execve(argv[0], argv, env)
    except (OSError, ValueError) as error:
        os.write(2, ("the command cannot start: %s\n" % describe(error)).encode("utf-8", "replace"))
    finally:
        os._exit(127)
