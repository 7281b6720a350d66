"""The HTTP client for charm stores: limits, retries with back-off, proxies, resumed downloads.

It uses the standard library, imported when a store is first needed. It does not trust the server: limits
apply to all sizes, and hashes decide whether a file is right. Mirrors: juju charmhub/http.go (3.6)
"""

from __future__ import annotations

import base64
import contextlib
import email.utils
import fcntl
import hashlib
import http.client
import io
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import IO, Any
from urllib.parse import urlsplit

from pushjuju import JUJU_VERSION
from pushjuju.core.charmstore import Download, HubError
from pushjuju.core.clock import Clock, SystemClock

AGAIN = (429, 502, 503, 504)
_MOST_JSON = 64 << 20  # bytes of a JSON answer
_LONGEST_JSON_S = 60.0
_CHUNK = 1 << 16
_SHOWN = 200  # characters of a URL in a message

Tell = Callable[[int, int], None]
"""A function that a download calls with (bytes received, bytes in all); 0 in all when unknown."""


def no_tell(_here: int, _all: int) -> None:
    """Ignore a report of progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxies:
    """The proxies to use: those of the model (`juju-http-proxy` and so on), or those of the environment."""

    http: str = ""
    https: str = ""
    none: str = ""

    @classmethod
    def of(cls, config: Mapping[str, Any], environ: Mapping[str, str]) -> Proxies:
        """Return the proxies from a model's configuration and an environment."""

        def value(kind: str) -> str:
            own = str(config.get(f"juju-{kind}-proxy") or config.get(f"{kind}-proxy") or "")
            return own or environ.get(f"{kind}_proxy", "") or environ.get(f"{kind.upper()}_PROXY", "")

        found = cls(http=value("http"), https=value("https"), none="")
        none = environ.get("no_proxy", "") or environ.get("NO_PROXY", "")
        own = str(config.get("juju-no-proxy") or config.get("no-proxy") or "")
        return cls(http=found.http, https=found.https, none=",".join(part for part in (own, none) if part))

    def for_url(self, url: str) -> str:
        """Return the proxy for a URL; empty for a direct connection."""
        parts = urlsplit(url)
        chosen = self.https if parts.scheme == "https" else self.http
        excluded = urllib.request.proxy_bypass_environment(parts.netloc, {"no": self.none})  # type: ignore[attr-defined]
        return "" if excluded else chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how long requests are repeated."""

    attempts: int = 4  # the most attempts of one request
    first_s: float = 1.0  # seconds before the second attempt; later waits are doubled, up to `longest_s`
    longest_s: float = 10.0
    all_s: float = 600.0  # the most seconds for all attempts together
    silence_s: float = 10.0  # seconds for which a server may send nothing


@dataclass(slots=True, kw_only=True)
class Http:
    """Sends requests to servers."""

    proxies: Proxies = field(default_factory=Proxies)
    patience: Patience = field(default_factory=Patience)
    clock: Clock = field(default_factory=SystemClock)
    # draws random waits, so that many clients do not repeat their requests at the same moment
    random: Random = field(default_factory=Random)
    sleep: Callable[[float], None] = time.sleep

    def json(self, method: str, url: str, body: Any = None) -> Any:
        """Return the JSON of an answer, even of a refusal (4xx), whose JSON says more than its status.

        Raises:
            HubError: There was no JSON answer; the message is Juju's.
        """
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        for attempt in self._attempts(url):
            with attempt, self._open(method, url, data=data, headers=headers) as answer:
                until = self.clock.now() + timedelta(seconds=_LONGEST_JSON_S)
                return _document(url, answer, self._limited(answer, until))
        raise AssertionError("the last attempt raises")

    def file(self, wanted: Download, target: Path, what: str, tell: Tell = no_tell) -> None:
        """Download a file and check its hashes; a part from an earlier call is continued.

        Args:
            wanted: The URL of the file, and its size and hashes.
            target: The path to write; an unfinished file has the suffix `.part`.
        """
        part = target.with_name(f"{target.name}.part")
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("a+b") as out:
            fcntl.flock(out, fcntl.LOCK_EX)  # another process may be downloading the same file
            if target.exists():
                part.unlink(missing_ok=True)
                return
            went_on = out.seek(0, io.SEEK_END) > 0
            self._all(wanted, out, tell)
            if went_on and _wrong(wanted, part):
                out.truncate(0)  # the part belonged to another file
                self._all(wanted, out, tell)
            verify(wanted, part, what)
            part.replace(target)

    def _all(self, wanted: Download, out: IO[bytes], tell: Tell) -> None:
        """Download the missing part of a file, with as many attempts as allowed."""
        for attempt in self._attempts(wanted.url):
            with attempt:
                self._more(wanted, out, tell)
                break
        os.fsync(out.fileno())

    def _more(self, wanted: Download, out: IO[bytes], tell: Tell) -> None:
        """Download the missing part of a file, in one attempt."""
        here = out.seek(0, io.SEEK_END)
        if wanted.size and here >= wanted.size:
            return
        headers = {"Range": f"bytes={here}-"} if here else {}
        with self._open("GET", wanted.url, headers=headers) as answer:
            if answer.status == 416 and here:
                out.truncate(0)  # the answer does not begin where the download stopped
                raise Again("the server cannot continue the download")
            if answer.status not in (200, 206):
                raise _refused(answer.status, wanted.url)
            if answer.status == 200 or not _goes_on(answer, here):
                out.truncate(0)
                here = 0
            length = answer.headers.get("Content-Length", "")
            said = here + int(length) if length.isascii() and length.isdigit() else 0
            if wanted.size and 0 < said < wanted.size:  # an error page, not a file that was cut off
                raise HubError(
                    f"cannot retrieve {_shown(wanted.url)}: the server has {said} bytes of it, but the store "
                    f"named {wanted.size}"
                )
            whole = wanted.size or said
            while chunk := _read(answer, wanted.url):
                here += len(chunk)
                if wanted.size and here > wanted.size:
                    out.truncate(0)
                    raise HubError(
                        f"cannot retrieve {_shown(wanted.url)}: it is longer than the {wanted.size} bytes "
                        "that the store named"
                    )
                out.write(chunk)
                tell(here, whole)
            out.flush()
        if whole and here < whole:
            raise Again(f"cannot get archive: it ended after {here} of {whole} bytes")

    def _limited(self, answer: http.client.HTTPResponse, until: datetime) -> bytes:
        found, url = bytearray(), _shown(answer.url or "")
        while chunk := _read(answer, answer.url or ""):
            found += chunk
            if self.clock.now() > until:
                raise HubError(f"{url} answers too slowly", retryable=True)
            if len(found) > _MOST_JSON:
                raise HubError(f"{url} answers with more than {_MOST_JSON >> 20} MiB")
        length = answer.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and len(found) < int(length):
            raise Again(f"cannot reach {url}: its answer was cut")
        return bytes(found)

    # --- one request --------------------------------------------------------------------------------------

    def _attempts(self, url: str) -> Iterator[_Attempt]:
        """Yield attempts; one that raises `Again` is repeated after a wait, and the last attempt fails."""
        began, wait = self.clock.now(), self.patience.first_s
        for number in range(1, self.patience.attempts + 1):
            attempt = _Attempt()
            yield attempt
            if attempt.failure is None:
                return
            spent = (self.clock.now() - began).total_seconds()
            pause = attempt.failure.after_s
            if pause is None:
                pause = wait * (0.5 + self.random.random())
            wait = min(wait * 2, self.patience.longest_s)
            last = min(self.patience.attempts, attempt.failure.most)
            if number >= last or spent + pause > self.patience.all_s:
                raise _given_up(attempt.failure, url)
            self.sleep(pause)

    @contextlib.contextmanager
    def _open(
        self, method: str, url: str, *, data: bytes | None = None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request and follow redirects; yield the answer, whatever its status is."""
        named = {"User-Agent": f"Juju/{JUJU_VERSION}", **headers}
        ask = urllib.request.Request(url, data=data, headers=named, method=method)  # noqa: S310 - checked
        _check_address(url)
        try:
            answer = self._opener().open(ask, timeout=self.patience.silence_s)
        except urllib.error.HTTPError as error:
            answer = error  # an answer all the same: status, headers, body
        except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise Again(f"cannot reach {_shown(url)}: {why}", most=2) from None
        with answer:
            if answer.status in AGAIN:
                raise Again(
                    f"{answer.status} {answer.reason}",
                    after_s=_retry_after(answer.headers.get("Retry-After", ""), self.clock),
                    status=answer.status,
                )
            yield answer

    def _opener(self) -> urllib.request.OpenerDirector:
        """Return an opener that only uses http and https, the proxies, and redirects to safe URLs."""
        opener = urllib.request.OpenerDirector()
        for handler in (
            _Proxy(self.proxies),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            _Redirects(),
            urllib.request.HTTPErrorProcessor(),
        ):
            opener.add_handler(handler)
        return opener


class Again(Exception):
    """A failure that may pass; the request is repeated."""

    def __init__(
        self, message: str, *, after_s: float | None = None, status: int = 0, most: int = 100
    ) -> None:
        super().__init__(message)
        # the most attempts: a server that cannot be reached seldom comes back within seconds
        self.most = most
        self.after_s = after_s  # seconds to wait that the server asked for, or None
        self.status = status  # the HTTP status, 0 for none


class _Attempt:
    """One attempt of a request, as a context manager."""

    def __init__(self) -> None:
        self.failure: Again | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, Again):
            self.failure = error
            return True
        return False


class _Proxy(urllib.request.ProxyHandler):
    """Sends requests through the proxy for their URL."""

    def __init__(self, proxies: Proxies) -> None:
        super().__init__({})
        self._chosen = proxies

    def http_open(self, req: urllib.request.Request) -> None:
        self._through(req)

    def https_open(self, req: urllib.request.Request) -> None:
        self._through(req)

    def _through(self, req: urllib.request.Request) -> None:
        chosen = self._chosen.for_url(req.full_url)
        if chosen and req.host == urlsplit(req.full_url).netloc:
            parts = urlsplit(chosen if "://" in chosen else f"http://{chosen}")
            if "@" in parts.netloc:
                user = base64.b64encode(parts.netloc.rpartition("@")[0].encode()).decode()
                req.add_unredirected_header("Proxy-Authorization", f"Basic {user}")
            req.set_proxy(parts.netloc.rpartition("@")[2], parts.scheme)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from https to http; a POST stays a POST when the status demands it."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        _check_address(newurl)
        if urlsplit(req.full_url).scheme == "https" and urlsplit(newurl).scheme != "https":
            raise HubError(f"{_shown(req.full_url)} redirects to {_shown(newurl)}, which is not safe")
        if code in (307, 308) and req.data is not None:
            return urllib.request.Request(  # noqa: S310 - checked above
                newurl, data=req.data, headers=dict(req.headers), method=req.get_method()
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise HubError(f"{_shown(url)} is not the URL of a charm store")


def _given_up(failure: Again, url: str) -> HubError:
    if failure.status == 429:
        return HubError(f"the charm store has too many requests: {_shown(url)}", retryable=True)
    if failure.status:
        hint = "it may be busy: try again later"
        return HubError(f"server error {_shown(url)}", detail=str(failure), hint=hint, retryable=True)
    return HubError(str(failure), retryable=True, hint="the server may be down: try again later")


def _retry_after(text: str, clock: Clock) -> float | None:
    """Return the seconds that a server asks clients to wait, or None when it names no number or date."""
    if text.isascii() and text.isdigit() and len(text) < 7:
        return float(text)
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, (email.utils.parsedate_to_datetime(text) - clock.now()).total_seconds())
    return None


def _read(answer: http.client.HTTPResponse, url: str) -> bytes:
    """Return the next bytes; empty at the end. The caller compares the length to detect an early end."""
    try:
        return answer.read(_CHUNK)
    except http.client.IncompleteRead as error:
        return error.partial
    except (OSError, http.client.HTTPException) as error:
        raise Again(f"cannot get archive: {_shown(url)}: {error or type(error).__name__}") from None


def _document(url: str, answer: http.client.HTTPResponse, body: bytes) -> Any:
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
    if 300 <= answer.status < 400:
        raise HubError(f"{_shown(url)} redirects, but not to a charm store")
    if 500 <= answer.status <= 511:
        raise HubError(f"server error {_shown(url)}", retryable=True)
    if kind != "application/json":
        if answer.status == 404:
            raise HubError(f"unexpected charm-hub url {_shown(url)} when parsing headers")
        raise HubError(f'unexpected content-type from server "{kind[:80]}"')
    if not body:
        raise Again(f"cannot reach {_shown(url)}: EOF")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise HubError(f"{_shown(url)} answers without JSON") from None
    if answer.status == 404 and not (isinstance(found, dict) and found.get("error-list")):
        raise HubError("not found", reason="not-found")
    if answer.status >= 400 and not (isinstance(found, dict) and found.get("error-list")):
        text = f"the charm store refuses {_shown(url)}: {answer.status} {answer.reason}".rstrip()
        raise HubError(text, detail="" if found in ({}, []) else json.dumps(found)[:_SHOWN])
    return found


def _refused(status: int, url: str) -> HubError:
    if status == 404:
        return HubError(f"cannot retrieve {_shown(url)}: archive not found")
    text = f"unable to locate archive (store API responded with status: {status})"
    return HubError(f"cannot retrieve {_shown(url)}: {text}", retryable=status >= 500)


def _goes_on(answer: http.client.HTTPResponse, here: int) -> bool:
    """Return True when a partial answer begins where the download stopped."""
    return answer.headers.get("Content-Range", "").startswith(f"bytes {here}-")


def verify(wanted: Download, path: Path, what: str) -> None:
    """Check a complete file; delete the file when it is wrong."""
    if found := _wrong(wanted, path):
        path.unlink(missing_ok=True)
        problem, expected, calculated = found
        raise HubError(
            f"verifying downloaded {what}: {problem}",
            reason="checksum",
            detail=f"Expected:   {expected}\nCalculated: {calculated}",
        )


def _wrong(wanted: Download, path: Path) -> tuple[str, str, str] | None:
    """Return (problem, expected, found) when a file differs from the store's description, else None."""
    sha256, sha384, size = hashlib.sha256(), hashlib.sha384(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            sha256.update(chunk)
            sha384.update(chunk)
            size += len(chunk)
    if wanted.size and size != wanted.size:
        return "size does not match", f"{wanted.size} bytes", f"{size} bytes"
    if wanted.sha256 and sha256.hexdigest() != wanted.sha256:
        return "detected SHA256 hash mismatch", wanted.sha256, sha256.hexdigest()
    if wanted.sha384 and sha384.hexdigest() != wanted.sha384:
        return "detected SHA384 hash mismatch", wanted.sha384, sha384.hexdigest()
    return None


def _shown(url: str) -> str:
    """Return a URL for messages: without a password, and shortened."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return '"' + parts._replace(netloc=host, query="", fragment="").geturl()[:_SHOWN] + '"'
