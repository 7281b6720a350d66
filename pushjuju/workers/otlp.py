"""Sends spans to a collector of OpenTelemetry, as JSON over HTTP, or writes them to a file.

A thread sends; the work never waits for the collector. While the collector does not answer, a limited number
of spans waits, and later ones are counted as lost.
"""

from __future__ import annotations

import http.client
import os
import ssl
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass
from pushjuju.portable.jsontext import compact
from pushjuju.workers.spans import Span

PROTOCOL = "http/json"
MOST = 2048  # spans that wait
BATCH = 512  # spans in a request
EVERY_S = 1.0  # seconds that a span waits for others
PAUSE_S = 60.0  # the longest pause after a failure
END_S = 2.0  # seconds for the last spans when the process ends
_AGAIN = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where spans go: a file, or else the address of a collector."""

    file: str
    url: SplitResult
    headers: Mapping[str, str]
    timeout_s: float
    certificate: str

    @property
    def name(self) -> str:
        """The place, without the login and the query that an address may have."""
        return self.file or f"{self.url.scheme}://{self.url.netloc.rpartition('@')[2]}"


def target(env: Mapping[str, str]) -> Target | None:
    """Return where the environment sends spans, or None for nowhere.

    Raises:
        NotValid: A variable has a value that cannot be used.
    """
    if env.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    file, timeout = env.get("PUSHJUJU_TRACE_FILE", ""), _setting(env, "TIMEOUT") or "10000"
    protocol = _setting(env, "PROTOCOL") or PROTOCOL
    if protocol != PROTOCOL and not file:
        name = next(name for name in _names("PROTOCOL") if env.get(name))
        raise NotValid(f'{name} is "{protocol}", supported is {PROTOCOL}')
    whole = env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    url = urlsplit(whole or env.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").rstrip("/") + "/v1/traces")
    if not (file or (url.scheme in ("http", "https") and url.hostname)):
        raise NotValid("OTEL_EXPORTER_OTLP_ENDPOINT is not an address like http://localhost:4318")
    if not timeout.isdecimal():
        raise NotValid("OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds")
    pairs = (item.partition("=") for item in _setting(env, "HEADERS").split(",") if item.strip())
    return Target(
        file=file,
        url=url,
        headers={name.strip(): unquote(value.strip()) for name, _, value in pairs},
        timeout_s=max(int(timeout), 1) / 1000,
        certificate=_setting(env, "CERTIFICATE"),
    )


def _setting(env: Mapping[str, str], name: str) -> str:
    return next((env[variable] for variable in _names(name) if env.get(variable)), "")


def _names(name: str) -> tuple[str, str]:
    """Return the variables that hold a setting; the first that is set counts."""
    return f"OTEL_EXPORTER_OTLP_TRACES_{name}", f"OTEL_EXPORTER_OTLP_{name}"


class Sender:
    """Sends spans from a thread of its own, which begins with the first span.

    Args:
        request: Makes the request for a list of spans.

    Attributes:
        lost: How many spans were not sent, or refused.
        error: Why the last request failed, or "".
    """

    def __init__(self, to: Target, request: Callable[[list[Span]], Mapping[str, Any]]) -> None:
        self._to, self._request = to, request
        self._waiting: deque[Span] = deque()
        self._end, self._due = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
        self.lost, self.error = 0, ""

    def put(self, span: Span) -> None:
        """Take a span, or count it as lost when too many spans wait."""
        if len(self._waiting) >= MOST:
            self.lost += 1
            return
        self._waiting.append(span)
        if len(self._waiting) >= BATCH and not self.error:
            self._due.set()
        if self._thread.ident is None:
            self._thread.start()

    def close(self) -> None:
        """Send what waits, for a short time at most; then count the rest as lost."""
        self._end.set()
        self._due.set()
        if self._thread.ident is not None:
            self._thread.join(END_S)
            if self._thread.is_alive():
                self.error = self.error or f"{self._to.name}: no answer within {END_S:g} s"
        self.lost += len(self._waiting)

    def _work(self) -> None:
        pause = EVERY_S
        while True:
            self._due.wait(pause)
            self._due.clear()
            ended = self._end.is_set()
            done = True
            while done and self._waiting:
                done = self._send([self._waiting[at] for at in range(min(len(self._waiting), BATCH))])
            if ended:
                return
            pause = EVERY_S if done else min(2 * pause, PAUSE_S)

    def _send(self, batch: list[Span]) -> bool:
        """Send the first spans that wait; return False when they must be sent again later."""
        body = compact(self._request(batch))
        try:
            status = self._write(body) if self._to.file else self._post(body.encode(errors="replace"))
        except (OSError, http.client.HTTPException, ValueError) as error:  # the text may have a header
            self.error = f"{self._to.name}: {getattr(error, 'strerror', '') or type(error).__name__}"
            return False
        self.error = "" if 200 <= status < 300 else f"{self._to.name} answered {status}"
        if status in _AGAIN:
            return False
        self.lost += len(batch) if self.error else 0
        for _ in batch:
            self._waiting.popleft()
        return True

    def _write(self, body: str) -> int:
        """Append a line to the file."""
        file = os.open(self._to.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(file, "w", encoding="utf-8", errors="replace") as stream:
            stream.write(f"{body}\n")
        return 200

    def _post(self, body: bytes) -> int:
        url, seconds = self._to.url, self._to.timeout_s
        if url.scheme == "http":
            connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=seconds)
        else:
            trust = ssl.create_default_context(cafile=self._to.certificate or None)
            connection = http.client.HTTPSConnection(
                str(url.hostname), url.port, timeout=seconds, context=trust
            )
        try:
            path = f"{url.path or '/'}{'?' if url.query else ''}{url.query}"
            connection.request("POST", path, body, {"Content-Type": "application/json", **self._to.headers})
            return connection.getresponse().status  # a redirect is not followed: headers may be secret
        finally:
            connection.close()
