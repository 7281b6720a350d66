"""A stand-in for HashiCorp Vault: the requests to its key-value engine, version 2, that pushjuju sends.

Paths, status codes and documents follow Vault's public API documentation; policies, leases and unsealing are
missing. The package archives that the tests use do not have a real Vault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

TOKEN = "s.hush-hush-token"


class StandIn:
    """A stand-in server.

    Attributes:
        kept: The content of the engine at `secret/`: path -> versions.
        token: The valid token.
        sealed: True to answer 503.
        asked: (method, path) of each request.
        raw: Sent instead of the next answer.
    """

    def __init__(self) -> None:
        self.kept: dict[str, list[dict[str, Any]]] = {}
        self.token = TOKEN
        self.sealed = False
        self.asked: list[tuple[str, str]] = []
        self.raw: list[tuple[int, bytes, dict[str, str]]] = []
        self.url = ""

    def answer(self, method: str, path: str, token: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        """Return the answer to a request: status, body, headers."""
        self.asked.append((method, path))
        if self.raw:
            return self.raw.pop(0)
        if self.sealed:
            return self._errors(503, "Vault is sealed")
        if token != self.token:
            return self._errors(403, "permission denied")
        if path == "auth/token/lookup-self":
            return self._document({"data": {"id": token}})
        if path.startswith("sys/internal/ui/mounts/"):
            if not path.endswith("/secret"):
                return self._errors(403, "preflight capability check returned 403")
            return self._document({"data": {"type": "kv", "options": {"version": "2"}}})
        engine, part, *rest = path.split("/")
        return self._engine(method, part, "/".join(rest), body) if engine == "secret" else self._errors(404)

    def _engine(self, method: str, part: str, path: str, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        if (method, part) == ("POST", "data"):
            self.kept.setdefault(path, []).append(json.loads(body)["data"])
            return self._document({"data": {"version": len(self.kept[path])}})
        if (method, part) == ("GET", "data"):
            if path not in self.kept:
                return self._errors(404)
            return self._document({"data": {"data": self.kept[path][-1], "metadata": {}}})
        if (method, part) == ("DELETE", "metadata"):
            self.kept.pop(path, None)
            return 204, b"", {}
        return self._errors(405, "unsupported operation")

    @staticmethod
    def _document(found: Any) -> tuple[int, bytes, dict[str, str]]:
        return 200, json.dumps(found).encode(), {"Content-Type": "application/json"}

    @staticmethod
    def _errors(status: int, *texts: str) -> tuple[int, bytes, dict[str, str]]:
        return status, json.dumps({"errors": list(texts)}).encode(), {}


@contextmanager
def running() -> Iterator[StandIn]:
    """Run a server on a free port of this computer."""
    made = StandIn()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            status, body, headers = made.answer(
                self.command,
                self.path.removeprefix("/v1/"),
                self.headers.get("X-Vault-Token", ""),
                self.rfile.read(length),
            )
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the names that the library calls

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        made.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()
