"""Attach an SSH channel to the machine's server, starting the server if it does not run.

The channel's descriptors are handed to the server, so that no byte is copied on the way; this process then
only keeps the SSH session open until the server closes its end.
"""

from __future__ import annotations

import _socket
import os
import sys
import time

from pushjuju.portable.jsontext import dumps, loads
from pushjuju.runner.remote.base import layout, signals, wire
from pushjuju.runner.remote.disk import holder
from pushjuju.runner.remote.server import facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 10.0  # seconds; a server that ends keeps its lock for a moment


def main(program: str, root: str, options_text: str, connection: str = "") -> bool:
    """Attach file descriptors 0 and 1 to the server; return when the server closes the connection.

    Args:
        connection: Addresses and ports of both ends of the SSH connection, as sshd names them.

    Returns:
        False when the program was deleted from the machine meanwhile, so that it must be sent again.
    """
    layout.name_process("pushjuju-attach")
    options = loads(options_text or "{}")
    owner = options.pop("owner", "")
    other = holder.claim(root, owner) if owner else ""
    if other:
        _say(b"H", other)
    told = {"attach": wire.PROTOCOL, "facts": facts.gather(connection), "options": options}
    hello = dumps(told).encode("ascii")
    error = "no server answers"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        conn = _connect(program)
        if conn is None:
            error = _start_server(program, root, options) or error
            conn = _connect(program)
        if conn is not None and _hand_over(conn, hello):
            return True
        if not os.path.exists(program + "/tools.json"):
            return False
        time.sleep(0.02)
    os.write(2, ("pushjuju: %s\n" % error).encode("utf-8", "replace"))
    _say(b"E", error)
    return True


def _say(letter: bytes, text: str) -> None:
    """Write an answer of the kind that ``boot.py`` writes, and end the process."""
    data = text.encode("utf-8", "replace")
    os.write(1, b"PJ1" + letter + len(data).to_bytes(4, "big") + data)
    sys.exit(1)


def _connect(program: str) -> Any:
    conn = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    try:
        os.chdir(program)  # a relative path is never too long for a socket address
        conn.connect("server.sock")
    except OSError:
        conn.close()
        return None
    return conn


def _hand_over(conn: Any, hello: bytes) -> bool:
    """Give the channel to the server and wait for its end; return False when the server is not there."""
    rights = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1))
    message = wire.frame(wire.HELLO, hello)
    try:
        sent = conn.sendmsg([message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        if sent < len(message):
            conn.sendall(message[sent:])
        taken = _heard(conn)
    except OSError:
        return False
    if not taken:
        return False
    os.chdir("/")
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    try:
        _heard(conn)
    except OSError:
        pass
    return True


def _heard(conn: Any) -> bytes:
    """Wait for a byte, or b"" at the end of the connection; continue a server that a hook has stopped."""
    conn.settimeout(PATIENCE)
    while True:
        try:
            data: bytes = conn.recv(1)
            return data
        except _socket.timeout:
            peer = conn.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
            os.kill(int.from_bytes(peer[:4], sys.byteorder), signals.CONT)


def _start_server(program: str, root: str, options: dict[str, Any]) -> str:
    """Start the server in a session of its own; return why it failed, or "" when it listens."""
    ready, told = os.pipe()
    if os.fork() == 0:
        # Imported only in the process that becomes the server.
        from pushjuju.runner.remote.server import loop

        loop.become_server(program, root, options, ready, told)
    os.close(told)
    text = b""
    while True:
        data = os.read(ready, 4096)
        if not data:
            break
        text += data
    os.close(ready)
    return text.decode("utf-8", "replace")
