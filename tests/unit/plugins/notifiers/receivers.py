"""Real servers of this computer that take events: a web server, with or without TLS, and a mail server."""

from __future__ import annotations

import http.server
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Posted:
    """What a web server has got, and how it answers."""

    port: int = 0
    status: int = 204
    location: str = ""
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    drip: Callable[[Any], None] | None = None

    @property
    def events(self) -> list[str]:
        """The names of the events, in the order of their arrival."""
        return [body["type"].removeprefix("io.pushjuju.").removesuffix(".v1") for _, _, body in self.requests]


@contextmanager
def web(trust: ssl.SSLContext | None = None) -> Iterator[Posted]:
    """Run a web server that keeps what is posted."""
    kept = Posted()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if kept.drip is not None:
                kept.drip(self.wfile)
                return
            kept.requests.append((self.path, dict(self.headers), json.loads(body)))
            self.send_response(kept.status)
            if kept.location:
                self.send_header("Location", kept.location)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if trust is not None:
        server.socket = trust.wrap_socket(server.socket, server_side=True)
    kept.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def bit_by_bit(stream: Any) -> None:
    """Answer a byte at a time, for longer than anybody should wait."""
    end = time.monotonic() + 20
    try:
        stream.write(b"HTTP/1.1 200 OK\r\nX: ")
        while time.monotonic() < end:
            stream.write(b"x")
            stream.flush()
            time.sleep(0.05)
    except OSError:
        pass


def unused_port() -> int:
    """Return a port of this computer at which nobody listens."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])
