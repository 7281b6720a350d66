"""A cloud's HTTP API for tests: a real server with routes that check what they are asked, and with faults.

A fake of one cloud is a subclass whose methods are marked with `route`. Whatever is asked without a route,
and whatever a route refuses by `Refusal.problem`, is noted in `problems`: a test ends with none of these.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self, required: str = "", optional: str = "") -> dict[str, Any]:
        """Return the body: an object with these keys, blank-separated, and no others."""
        if "json" not in self.headers.get("content-type", ""):
            raise Refusal(415, {"message": "not JSON"}, problem=f"{self.path}: content type")
        found = json.loads(self.body)
        fields(found, required, optional, self.path)
        return dict(found)


def fields(given: Mapping[str, Any], required: str, optional: str, where: str) -> None:
    """Refuse an object that lacks keys, or has unknown ones."""
    must, may = set(required.split()), set(optional.split())
    if must - set(given) or set(given) - must - may:
        raise Refusal(
            400, {"message": "bad fields"}, problem=f"{where}: {sorted(given)} instead of {required}"
        )


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server says."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """The server refuses a request; with a problem, the client made a mistake that no test expects."""

    def __init__(self, status: int, body: Any, problem: str = "") -> None:
        super().__init__(problem or status)
        self.answer = Answer(status=status, body=body)
        self.problem = problem


@dataclass
class Fault:
    """What goes wrong with the next requests that match.

    Attributes:
        method: Empty: any.
        kind: `answer` (this answer instead of the work), `lost` (the work is done, the connection closed),
            `half` (the work is done, the answer is cut), `never` (no answer).
    """

    method: str
    path: str
    kind: str = "answer"
    answer: Answer = field(default_factory=lambda: Answer(status=500, body={"message": "oops"}))
    times: int = 1


Handler = Callable[..., Answer]


def route(method: str, pattern: str) -> Callable[[Handler], Handler]:
    """Mark a method of a fake; groups of the pattern become its arguments."""

    def mark(function: Handler) -> Handler:
        function.__dict__.setdefault("routes", []).append((method, re.compile(pattern)))
        return function

    return mark


class HttpFake:
    """A server on a free port, until `close`.

    Args:
        tls: A file with a certificate and its key, for HTTPS.

    Attributes:
        before: Hears of each request before it is worked on.
    """

    def __init__(self, tls: str = "") -> None:
        self.asked: list[Asked] = []
        self.problems: list[str] = []
        self.faults: list[Fault] = []
        self.lock = threading.RLock()
        self.closing = threading.Event()
        self.before: Callable[[Asked], None] = lambda _asked: None
        self._routes = [
            (method, pattern, getattr(self, name))
            for name in dir(type(self))
            for method, pattern in getattr(getattr(type(self), name), "__dict__", {}).get("routes", ())
        ]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; the port is free."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fail(self, method: str, path: str, **more: Any) -> None:
        """Let the next requests that match (a regular expression) go wrong."""
        self.faults.append(Fault(method=method, path=path, **more))

    def count(self, method: str, path: str) -> int:
        """Return how often something was asked for."""
        return sum(item.method == method and bool(re.search(path, item.path)) for item in self.asked)

    def guard(self, asked: Asked) -> None:
        """Refuse requests without a credential; for subclasses."""

    def fault(self, asked: Asked) -> Fault | None:
        """Return what goes wrong with a request, once."""
        for fault in self.faults:
            if fault.method in ("", asked.method) and re.search(fault.path, asked.path) and fault.times:
                fault.times -= 1
                return fault
        return None

    def work(self, asked: Asked) -> Answer:
        """Return what the route says."""
        try:
            self.guard(asked)
            for method, pattern, function in self._routes:
                match = pattern.fullmatch(asked.path)
                if match and method == asked.method:
                    return function(asked, *match.groups())
        except Refusal as refusal:
            if refusal.problem:
                self.problems.append(refusal.problem)
            return refusal.answer
        except (KeyError, ValueError, TypeError) as error:
            self.problems.append(f"{asked.method} {asked.path}: {error!r}")
            return Answer(status=400, body={"message": repr(error)})
        self.problems.append(f"{asked.method} {asked.path} is not known")
        return Answer(status=404, body={"message": "no such route"})


def _handler(fake: HttpFake) -> type[BaseHTTPRequestHandler]:
    class Handling(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are written one after the other

        def log_message(self, *args: Any) -> None:
            pass

        def handle_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            split = urlsplit(self.path)
            asked = Asked(
                method=self.command,
                path=unquote(split.path),
                query=dict(parse_qsl(split.query, keep_blank_values=True)),
                headers={key.lower(): value for key, value in self.headers.items()},
                body=body,
            )
            fake.before(asked)
            with fake.lock:
                fake.asked.append(asked)
                fault = fake.fault(asked)
                answer = fault.answer if fault and fault.kind == "answer" else None
                if answer is None and not (fault and fault.kind == "never"):
                    answer = fake.work(asked)
            if fault and fault.kind == "never":
                fake.closing.wait(30)
                self.close_connection = True
                return
            if fault and fault.kind == "lost":
                self.close_connection = True
                return
            assert answer is not None
            self.reply(answer, half=bool(fault and fault.kind == "half"))

        def reply(self, answer: Answer, *, half: bool) -> None:
            body = answer.body
            raw = (
                b"" if body is None else body if isinstance(body, bytes)
                else body.encode() if isinstance(body, str) else json.dumps(body).encode()
            )  # fmt: skip
            self.send_response(answer.status)
            kind = "text/html" if isinstance(body, str) else "application/json"
            for key, value in {"content-type": kind, **answer.headers}.items():
                self.send_header(key, value)
            if answer.status != 204:
                self.send_header("content-length", str(len(raw)))
            self.end_headers()
            if answer.status != 204:
                self.wfile.write(raw[: len(raw) // 2] if half else raw)
            if half:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_one  # noqa: N815

    return Handling
