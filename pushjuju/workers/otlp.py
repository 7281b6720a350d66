"""Sends spans to a collector of OpenTelemetry, as JSON over HTTP, or writes them to a file.

A thread sends; the work never waits for the collector. While the collector does not answer, a limited number
of spans waits, and later ones are counted as lost.
"""

from __future__ import annotations

import http.client
import os
import ssl
import threading
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from pushjuju import __version__
from pushjuju.core.errors import NotValid
from pushjuju.core.values import dataclass, regex
from pushjuju.portable.jsontext import loads, to_json
from pushjuju.workers.spans import Span

MOST = 2048  # spans that wait
BATCH = 512  # spans in a request
EVERY_S = 1.0  # seconds that a span waits for others
PAUSE_S = 60.0  # the longest pause after a failure
ASKED_S = 3600.0  # the longest pause that a collector may ask for
END_S = 2.0  # seconds for the last spans when the process ends
_AGAIN = (429, 502, 503, 504)
_LONGEST = 200  # characters of a collector's text
_READ = 65536  # bytes of an answer
_NAME = regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TAKEN = {"PROTOCOL": ("http/json",), "COMPRESSION": ("none", "gzip")}  # the first is the default


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where spans go: a file, or else the address of a collector."""

    file: str = ""
    url: SplitResult = urlsplit("")
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 10.0
    certificate: str = ""  # file of the authorities that are trusted, in PEM
    own: tuple[str, str] = ("", "")  # files of the certificate and key that a collector may ask for
    packed: bool = False

    @property
    def name(self) -> str:
        """The place, without the login and the query that an address may have."""
        return self.file or f"{self.url.scheme}://{self.url.netloc.rpartition('@')[2]}"


def target(env: Mapping[str, str]) -> Target | None:
    """Return where the environment sends spans, or None for nowhere.

    Raises:
        NotValid: A variable has a value that cannot be used.
    """
    file, exporters = env.get("PUSHJUJU_TRACE_FILE", ""), env.get("OTEL_TRACES_EXPORTER") or "otlp"
    if env.get("OTEL_SDK_DISABLED", "").lower() == "true" or not (file or "otlp" in exporters):
        return None
    if file:
        return Target(file=file)
    name, timeout = _setting(env, "TIMEOUT")
    if not (timeout or "0").isdecimal():
        raise NotValid(f"{name} is not a number of milliseconds")
    _word(env, "PROTOCOL")
    own = _file(env, "CLIENT_CERTIFICATE"), _file(env, "CLIENT_KEY")
    if own[1] and not own[0]:
        raise NotValid(f"{_setting(env, 'CLIENT_KEY')[0]} is set without a client certificate")
    return Target(
        url=_address(env),
        headers=_headers(*_setting(env, "HEADERS")),
        timeout_s=max(int(timeout or 10_000), 1) / 1000,
        certificate=_file(env, "CERTIFICATE"),
        own=own,
        packed=_word(env, "COMPRESSION") == "gzip",
    )


def _setting(env: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return the variable that holds a setting, and its value; the first that is set counts."""
    variables = (f"OTEL_EXPORTER_OTLP_TRACES_{name}", f"OTEL_EXPORTER_OTLP_{name}")
    return next(
        ((variable, env[variable]) for variable in variables if env.get(variable)), (variables[1], "")
    )


def _file(env: Mapping[str, str], kind: str) -> str:
    name, path = _setting(env, kind)
    if path and not os.path.isfile(path):  # noqa: PTH113 - no path elsewhere here
        raise NotValid(f"{name}: {path} is no file")
    return path


def _word(env: Mapping[str, str], kind: str) -> str:
    (name, word), taken = _setting(env, kind), _TAKEN[kind]
    if word and word not in taken:
        raise NotValid(f'{name} is "{word}", supported is {" or ".join(taken)}')
    return word or taken[0]


def _address(env: Mapping[str, str]) -> SplitResult:
    name, text = _setting(env, "ENDPOINT")
    try:
        url = urlsplit(text if "TRACES" in name else f"{text.rstrip('/')}/v1/traces")
        if url.scheme in ("http", "https") and url.hostname and url.port != 0:
            return url
    except ValueError:
        pass
    raise NotValid(f"{name} is not an address like http://localhost:4318")


def _headers(variable: str, text: str) -> dict[str, str]:
    pairs = [item.partition("=") for item in text.split(",") if item.strip()]
    found = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
    if all(
        _NAME.fullmatch(name) and value.isascii() and value.isprintable() for name, value in found.items()
    ):
        return found
    raise NotValid(f"{variable} is not a list like name=value,name=value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a collector answers: it may refuse some of the spans, or ask for a pause."""

    status: int
    refused: int = 0
    why: str = ""
    pause_s: float = 0.0


class Sender:
    """Sends spans from a thread of its own, which begins with the first span.

    Args:
        request: Makes the request for a list of spans.

    Attributes:
        lost: How many spans were not sent, or refused.
        why: Why the last of them were lost.
        error: Why the last request failed, or "".
    """

    def __init__(self, to: Target, request: Callable[[list[Span]], Mapping[str, Any]]) -> None:
        self._to, self._request = to, request
        self._waiting: deque[Span] = deque()
        self._end, self._due = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
        self._asked_s = 0.0
        self.lost, self.why, self.error = 0, "", ""

    def put(self, span: Span) -> None:
        """Take a span, or count it as lost when too many spans wait."""
        if len(self._waiting) >= MOST:
            self._lose(1)
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
        self._lose(len(self._waiting))

    def _lose(self, spans: int) -> None:
        if spans:
            self.lost += spans
            self.why = self.error or "too many"

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
            pause = EVERY_S if done else max(min(2 * pause, PAUSE_S), self._asked_s)

    def _send(self, batch: list[Span]) -> bool:
        """Send the first spans that wait; return False when they must be sent again later."""
        body = to_json(self._request(batch)).encode()
        try:
            answer = self._write(body) if self._to.file else self._post(body)
        except (OSError, http.client.HTTPException, ValueError) as error:  # the text may have a header
            self.error = f"{self._to.name}: {getattr(error, 'strerror', '') or type(error).__name__}"
            self._asked_s = 0.0
            return False
        self.error, self._asked_s = answer.why and f"{self._to.name} {answer.why}", answer.pause_s
        if answer.status in _AGAIN:
            return False
        self._lose(min(answer.refused, len(batch)) if answer.status == 200 else len(batch))
        for _ in batch:
            self._waiting.popleft()
        return True

    def _write(self, body: bytes) -> Answer:
        """Append a line to the file."""
        file = os.open(self._to.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(file, "ab") as stream:
            stream.write(body + b"\n")
        return Answer(status=200)

    def _post(self, body: bytes) -> Answer:
        url, seconds = self._to.url, self._to.timeout_s
        if url.scheme == "http":
            connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=seconds)
        else:
            connection = http.client.HTTPSConnection(
                str(url.hostname), url.port, timeout=seconds, context=_tls(self._to)
            )
        headers = {"Content-Type": "application/json", "User-Agent": f"pushjuju/{__version__}"}
        if self._to.packed:
            body, headers["Content-Encoding"] = zlib.compress(body, wbits=31), "gzip"
        try:
            path = f"{url.path or '/'}{'?' if url.query else ''}{url.query}"
            connection.request("POST", path, body, {**headers, **self._to.headers})
            return _read(connection.getresponse())  # a redirect is not followed: headers may be secret
        finally:
            connection.close()


def _tls(to: Target) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=to.certificate or None)
    certificate, key = to.own
    if certificate:  # without a password, OpenSSL would ask in the terminal for that of a locked key
        made.load_cert_chain(certificate, key or None, password="")
    return made


def _read(answer: http.client.HTTPResponse) -> Answer:
    """Return what the collector says; text of its own is cut."""
    if not 200 <= answer.status < 300:
        asked = answer.headers.get("Retry-After", "")
        pause = min(float(asked), ASKED_S) if asked.isdecimal() else 0.0
        return Answer(status=answer.status, why=f"answered {answer.status}", pause_s=pause)
    try:
        found = loads(answer.read(_READ).decode())["partialSuccess"]
        refused, text = int(found["rejectedSpans"]), " ".join(str(found.get("errorMessage", "")).split())
    except (
        OSError,
        http.client.HTTPException,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ):
        return Answer(status=200)  # the spans have arrived; the usual answer names none
    if refused <= 0:
        return Answer(status=200)
    return Answer(status=200, refused=refused, why=f"refused spans{': ' if text else ''}{text[:_LONGEST]}")
