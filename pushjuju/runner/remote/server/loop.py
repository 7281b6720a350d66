"""The server: one process per machine and program version, alive only while there is work or an attachment.

The server owns the local socket, hands operations to processes of their own (``host``), lets one hook at a
time run on the machine, and passes frames between these processes and the attached controllers. Everything
that must survive is in the journal, so the server may be killed at any moment.

The modules, each of which calls only those before it: ``parties`` (the state), ``attachments`` (connections
of controllers), ``ledger`` (known operations), ``hosts`` (processes of operations), ``controllers`` (frames
of controllers); this module has the loop, accepts connections and ends the server.
"""

from __future__ import annotations

import _socket
import fcntl
import gc
import os
import resource
import select
import sys

from pushjuju.portable.jsontext import loads
from pushjuju.runner.remote.base import compiled, layout, signals, wire
from pushjuju.runner.remote.base.results import describe, monotonic, wall_time
from pushjuju.runner.remote.disk import blobs, journal
from pushjuju.runner.remote.server.attachments import Attachments
from pushjuju.runner.remote.server.controllers import Controllers
from pushjuju.runner.remote.server.hosts import Hosts, purge
from pushjuju.runner.remote.server.ledger import Ledger
from pushjuju.runner.remote.server.parties import LINGER, SILENCE, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOREIGN_POLL = 0.2  # seconds between checks of operations that another server started


class Server:
    """Loop of the server."""

    def __init__(self, paths: layout.Layout, options: dict[str, object], listener: Any) -> None:
        self.state = State(paths, options, listener)
        self.attachments = Attachments(self.state)
        self.ledger = Ledger(self.state, self.attachments)
        self.hosts = Hosts(self.state, self.attachments, self.ledger)
        self.controllers = Controllers(self.state, self.attachments, self.ledger, self.hosts)
        self.idle_since = monotonic()
        self.state.poll.register(listener.fileno(), select.POLLIN)
        self.ledger.adopt()

    # -- loop ----------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Serve until no controller is attached and nothing runs for the linger time."""
        state = self.state
        while True:
            for fd, event in state.poll.poll(int(self._timeout() * 1000)):
                self._ready(fd, event)
            self.hosts.look_after_foreign()
            self.hosts.wake_stopped()
            self.hosts.answer_unheard()
            self.attachments.drop_silent()
            self.hosts.schedule()
            self.hosts.keep_spare()
            if state.attachments or state.newcomers or state.queue or state.running:
                self.idle_since = monotonic()
            elif monotonic() - self.idle_since >= self._linger() or self._is_purging():
                return

    def _linger(self) -> float:
        return self.state.limit("linger", LINGER)

    def _timeout(self) -> float:
        state = self.state
        if any(running.channel is None for running in state.running.values()):
            return FOREIGN_POLL
        if any(running.live for running in state.running.values()):
            return 1.0
        if state.attachments or state.newcomers or state.running:
            return min(60.0, state.limit("silence", SILENCE) / 2)
        return max(self.idle_since + self._linger() - monotonic(), 0.0) + 0.001

    def _ready(self, fd: int, event: int) -> None:
        state = self.state
        if fd == state.listener.fileno():
            self._accept()
        elif fd in state.newcomers:
            self._greet(fd)
        elif fd in state.channels:
            self.hosts.read(state.channels[fd])
        elif fd in state.attachments:
            self.controllers.ready(state.attachments[fd], fd, event)

    # -- newcomers -----------------------------------------------------------------------------------------

    def _accept(self) -> None:
        try:
            fd = self.state.listener._accept()[0]
        except OSError:
            return
        conn = _socket.socket(fileno=fd)
        self.state.newcomers[fd] = conn
        self.state.poll.register(fd, select.POLLIN)

    def _greet(self, fd: int) -> None:
        """Read the first message of a new connection: of an attach process, of juju-exec, or of a host."""
        conn = self.state.newcomers.pop(fd)
        self.state.poll.unregister(fd)
        try:
            data, ancillary, _, _ = conn.recvmsg(1 << 18, _socket.CMSG_SPACE(8), _socket.MSG_CMSG_CLOEXEC)
        except OSError:
            conn.close()
            return
        fds = _descriptors(ancillary)
        try:
            (kind, payload) = wire.Reader().feed(data)[0]
            message = loads(payload.decode("utf-8"))
        except (IndexError, ValueError):
            for extra in fds:
                os.close(extra)
            conn.close()
            return
        if "host" in message:
            self.hosts.welcome(conn, message)
        elif "knock" in message:
            self.controllers.knocked(conn)
        elif len(fds) == 2:
            self.controllers.welcome(conn, fds, message)
        else:
            conn.close()

    # -- the end -------------------------------------------------------------------------------------------

    def _is_purging(self) -> bool:
        """Return True when the last unit is removed and its results are acknowledged: no need to linger."""
        return os.path.exists(self.state.paths.base + "/purge") and not self.state.done

    def close(self) -> None:
        """Delete the socket and what is not needed any more."""
        try:
            os.unlink(self.state.paths.program + "/server.sock")
        except OSError:
            pass
        self.state.listener.close()
        if self._is_purging() and not journal.entries(self.state.paths.journal):
            purge(self.state.paths)
            return
        blobs.forget_old(self.state.paths.blobs, wall_time())
        compiled.keep(self.state.paths.program)


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """Return the descriptors that came with a message."""
    found: list[int] = []
    for level, kind, data in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            found += [int.from_bytes(data[at : at + 4], sys.byteorder) for at in range(0, len(data) - 3, 4)]
    return found


def main(program: str, root: str, options: dict[str, object], ready: int) -> None:
    """Run the server, unless a server runs already; ``ready`` is closed once the socket listens."""
    layout.name_process("pushjuju-server")
    paths = layout.Layout(root, program)
    lock = os.open(program + "/server.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    os.makedirs(paths.journal, 0o700, exist_ok=True)
    os.chdir(program)
    try:
        os.unlink("server.sock")
    except OSError:
        pass
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    mask = os.umask(0o177)
    listener.bind("server.sock")  # a relative path always fits a socket address
    os.umask(mask)
    listener.listen(32)
    listener.setblocking(False)
    os.chdir("/")
    server = Server(paths, options, listener)
    os.close(ready)
    try:
        server.serve()
    except Exception:
        _write_crash(paths)
        raise
    server.close()


def _write_crash(paths: layout.Layout) -> None:
    """Write a fault of the server to a file, which the next controller gets with its hello."""
    import traceback  # imported here: only a fault of the server needs it

    try:
        with open(paths.base + "/crash", "w", encoding="utf-8") as file:
            file.write(traceback.format_exc()[-8000:])
    except OSError:
        pass


def become_server(program: str, root: str, options: dict[str, Any], ready: int, told: int) -> None:
    """Turn this forked process into the server; never returns."""
    try:
        gc.enable()  # ``boot.py`` disabled the search for garbage
        os.setsid()
        os.close(ready)
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        top = max(told, 3)
        os.closerange(3, top)
        os.closerange(top + 1, top + 64)
        os.environ.clear()
        os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        os.umask(0o022)
        signals.ignore_hangup()
        _raise_file_limit(int(options.get("nofile", 64000)))
        main(program, root, options, told)
    except Exception as error:
        try:
            os.write(told, describe(error).encode("utf-8", "replace"))
        except OSError:
            pass
    finally:
        os._exit(0)


def _raise_file_limit(limit: int) -> None:
    """Give hooks the limit of open files that Juju's agent has, as far as the machine allows."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for wanted in ((limit, max(limit, hard)), (min(limit, hard), hard)):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, wanted)
            return
        except (OSError, ValueError):
            pass
