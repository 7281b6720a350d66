"""A collector of OpenTelemetry: a real HTTP server in this process, which keeps the spans that it gets.

It answers 400 to a request that breaks a rule of the protocol.
"""

from __future__ import annotations

import json
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.world import otlp_rules

Document = dict[str, Any]


@dataclass
class SpanReceiver:
    """What a collector got.

    Attributes:
        answers: The statuses of the next answers; then the answers are 200.
        mistakes: What was wrong with requests.
        back: Headers of the answers.
        said: The body of an answer with the status 200.
        silent: When set, requests wait for the end of the receiver.
    """

    address: str = ""
    answers: list[int] = field(default_factory=list)
    back: dict[str, str] = field(default_factory=dict)
    said: bytes = b'{"partialSuccess":null}'
    bodies: list[bytes] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    silent: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def env(self) -> dict[str, str]:
        """The environment that sends spans here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.address}

    @property
    def resources(self) -> list[dict[str, Any]]:
        """The attributes of the processes that sent spans."""
        return [values(item["resource"]) for item in self._groups()]

    @property
    def spans(self) -> list[Document]:
        """The spans in the order in which they came."""
        return [span for item in self._groups() for scope in item["scopeSpans"] for span in scope["spans"]]

    def named(self, name: str) -> list[Document]:
        """Return the spans of a name."""
        return [span for span in self.spans if span["name"] == name]

    def take(self, body: bytes) -> int:
        """Keep a request; return the status of the answer."""
        try:
            otlp_rules.read(body)
        except otlp_rules.NotOtlp as error:
            self.mistakes.append(str(error))
            return 400
        self.bodies.append(body)
        return 200

    def _groups(self) -> list[Document]:
        return [item for body in self.bodies for item in json.loads(body)["resourceSpans"]]


def values(of: Document) -> dict[str, Any]:
    """Return the attributes of a span or of a resource as a dictionary."""
    found = {}
    for item in of["attributes"]:
        ((kind, value),) = item["value"].items()
        found[item["key"]] = int(value) if kind == "intValue" else value
    return found


@contextmanager
def span_receiver(tls: ssl.SSLContext | None = None) -> Iterator[SpanReceiver]:
    """Run a collector on a free port of the loopback, with TLS when a certificate is given."""
    received = SpanReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if received.silent:
                received.over.wait(30)
                return
            if self.headers["Content-Encoding"] == "gzip":
                body = zlib.decompress(body, wbits=31)
            status = received.answers.pop(0) if received.answers else received.take(body)
            received.paths.append(self.path)
            received.headers.append(dict(self.headers))
            said = received.said if status == 200 else b""
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", f"{received.address}/elsewhere")
            for name, value in {**received.back, "Content-Length": str(len(said))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        received.address = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield received
        finally:
            received.over.set()
            server.shutdown()
            thread.join()
