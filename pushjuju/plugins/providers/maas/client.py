"""MAAS's API 2.0 over HTTP: signed requests in threads, repeated while the server is busy.

Uses the standard library, and a new connection for each request, so that half an answer disturbs no other.
Mirrors: gomaasapi client.go, oauth.go
"""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from pushjuju.core.errors import CredentialInvalid, NotFound, NotValid, ProviderError, PushjujuError
from pushjuju.plugins.api.clouds import CloudSpec, Credential
from pushjuju.plugins.providers.maas.keys import is_key

Params = Iterable[tuple[str, str]]

API = "/api/2.0/"
AUTH_TYPE, ATTRIBUTE = "oauth1", "maas-oauth"
PARALLEL = 8
TRIES = 6
AWAY_TRIES = 3  # attempts when the server cannot be reached at all
SILENT_TRIES = 2  # attempts when the server accepts a request and does not answer
TIMEOUT_S = 60.0  # seconds after which a request without a complete answer is aborted
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0  # the longest wait that the server may ask for
_LARGEST = 64 << 20  # bytes of an answer
_PIECE = 1 << 16
_SHOWN = 400  # characters of the server's text in an error
_BUSY = (429, 502, 503, 504)


class Gone(NotFound, ProviderError):
    """The requested object is not in MAAS; a new attempt may succeed."""


class Mismatch(ProviderError, message="MAAS cannot do that now"):
    """MAAS answered 409: the state of the machine does not allow the request, or no machine matches."""


class Unsure(ProviderError, message="the MAAS server gave no whole answer"):
    """The request was sent, but its result is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key of MAAS: `CONSUMER:TOKEN:SECRET`."""

    consumer: str
    token: str
    secret: str = field(repr=False)

    @classmethod
    def of(cls, credential: Credential, cloud: str) -> ApiKey:
        """Return the API key of a credential.

        Raises:
            CredentialInvalid: The credential has another auth type, or the key another form; no value is
            shown.
        """
        if credential.auth_type != AUTH_TYPE:
            raise CredentialInvalid(f"cloud {cloud} needs a credential of auth type {AUTH_TYPE}")
        text = credential.attributes.get(ATTRIBUTE, "")
        if not is_key(text):
            raise CredentialInvalid(
                f'{ATTRIBUTE} of credential "{credential.name}" is not an API key of MAAS',
                detail="a key has the form CONSUMER:TOKEN:SECRET",
                hint=f"pushjuju update-credential {cloud} {credential.name}",
            )
        consumer, token, secret = text.strip().split(":")
        return cls(consumer=consumer, token=token, secret=secret)

    def header(self, *, now: float, nonce: str) -> str:
        """Return the `Authorization` header of a request: OAuth 1.0a, PLAINTEXT, empty consumer secret."""
        parts = {
            "oauth_version": "1.0",
            "oauth_signature_method": "PLAINTEXT",
            "oauth_consumer_key": self.consumer,
            "oauth_token": self.token,
            "oauth_signature": f"&{self.secret}",
            "oauth_timestamp": str(int(now)),
            "oauth_nonce": nonce,
        }
        return "OAuth " + ", ".join(f'{name}="{quote(value, safe="~")}"' for name, value in parts.items())


def base_url(cloud: CloudSpec) -> str:
    """Return the URL of a cloud's API; the endpoint may be that URL, or the server's `/MAAS` above it."""
    url = urlsplit(cloud.endpoint)
    if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment or url.username:
        raise NotValid(
            f'endpoint "{cloud.endpoint}" of cloud {cloud.name} is not the URL of a MAAS server',
            hint="the endpoint has the form http://HOST:5240/MAAS",
        )
    path = url.path.rstrip("/")
    return f"{url.scheme}://{url.netloc}{path.removesuffix(API.rstrip('/'))}{API}"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because the API key would be sent along."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Maas:
    """Sends requests to one MAAS server as one user.

    Args:
        pause: Sleeps for some seconds in a thread.
    """

    def __init__(
        self, cloud: CloudSpec, credential: Credential, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._cloud = cloud
        self._credential = credential
        self._pause = pause
        self._opener: urllib.request.OpenerDirector | None = None
        self._threads = ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="maas")

    async def get(self, path: str, params: Params = (), *, op: str = "", tries: int = TRIES) -> Any:
        """Return the document at a path, without blocking the event loop. Raises the errors of `post`."""
        asked = [("op", op), *params] if op else list(params)
        query = f"?{urlencode(asked)}" if asked else ""
        return await self._run("GET", f"{path}{query}", None, tries=tries, again=True)

    async def post(self, path: str, op: str, params: Params = (), *, again: bool = True) -> Any:
        """Call an operation of the API and return the answer.

        Args:
            again: True when the operation may be repeated although its result is unknown.

        Raises:
            Mismatch: The state of the machine does not allow the request.
            Unsure: The answer is missing or incomplete, or the server failed.
        """
        body = urlencode(list(params)).encode()
        return await self._run("POST", f"{path}?op={op}", body, tries=TRIES, again=again)

    async def _run(self, method: str, target: str, body: bytes | None, *, tries: int, again: bool) -> Any:
        def call() -> Any:
            return self._repeat(method, target, body, tries=tries, again=again)

        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    # --- in a thread --------------------------------------------------------------------------------------

    def _repeat(self, method: str, target: str, body: bytes | None, *, tries: int, again: bool) -> Any:
        for attempt in range(tries):
            pause = min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S)
            try:
                return self._once(method, target, body)
            except urllib.error.HTTPError as error:
                with error:
                    problem = self._refused(error)
                repeat = error.code == 429 or (again and error.code in (*_BUSY, 500))
                pause = max(pause, _asked_pause(error))
            except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
                problem, most = _unanswered(error, self._where())
                repeat = attempt < most - 1 and (again or not isinstance(problem, Unsure))
            if not repeat or attempt == tries - 1:
                raise problem from None  # the inner error would show the request
            self._pause(pause)
        raise AssertionError("not reached")

    def _once(self, method: str, target: str, body: bytes | None) -> Any:
        """Send one request, and return the answer as data.

        Raises:
            HTTPError: MAAS refused the request.
            OSError: MAAS did not answer. For an incomplete or invalid answer, also HTTPException, ValueError
            and RecursionError.
        """
        key = ApiKey.of(self._credential, self._cloud.name)
        request = urllib.request.Request(base_url(self._cloud) + target, data=body, method=method)  # noqa: S310
        request.add_header("Authorization", key.header(now=time.time(), nonce=uuid.uuid4().hex))
        request.add_header("Accept", "application/json")
        end = time.monotonic() + TIMEOUT_S
        with self._open(request) as answer:
            data = _whole(answer, end)
        text = data.decode()
        plain = "json" not in str(answer.headers.get("Content-Type") or "json")
        return text if plain else json.loads(text or "null")

    def _open(self, request: urllib.request.Request) -> Any:
        if self._opener is None:
            handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
            if request.type == "https":  # reading the system's certificates takes long
                handlers.append(urllib.request.HTTPSHandler(context=self._context()))
            self._opener = urllib.request.build_opener(*handlers)
        return self._opener.open(request, timeout=TIMEOUT_S)

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        for text in self._cloud.ca_certificates:
            try:
                context.load_verify_locations(cadata=text)
            except (ssl.SSLError, ValueError):
                raise NotValid(
                    f"ca-certificates of cloud {self._cloud.name} cannot be read: no certificate in PEM"
                ) from None
        if self._cloud.skip_tls_verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    def _refused(self, error: urllib.error.HTTPError) -> PushjujuError:
        """Return pushjuju's error for a refusal of MAAS, with MAAS's own text as detail."""
        try:
            text = plain_text(error.read(_PIECE).decode(errors="replace"))
        except (OSError, http.client.HTTPException):
            text = ""
        text = text[:_SHOWN] or f"HTTP {error.code}"
        if error.code == 401:
            return CredentialInvalid(detail=text)
        if error.code == 403:
            return ProviderError("MAAS does not permit this user to do that", detail=text, retryable=False)
        if error.code == 400:
            return NotValid(f"MAAS refuses the request: {text}")
        if error.code == 404:
            return Gone("not found in MAAS", detail=text, hint=self._where())
        if error.code == 409:
            return Mismatch(detail=text)
        if 300 <= error.code < 400:
            there = str(error.headers.get("Location") or "another place")
            return NotValid(f"the MAAS server redirects to {there}", hint=self._where())
        if error.code >= 500:
            return Unsure("the MAAS server failed", detail=text)
        return ProviderError("MAAS refused the request", detail=text)

    def _where(self) -> str:
        shown = "" if "/MAAS" in self._cloud.endpoint else " (it normally ends with /MAAS)"
        return f"check the endpoint of cloud {self._cloud.name}: {self._cloud.endpoint}{shown}"


def _whole(answer: Any, end: float) -> bytes:
    """Return the complete body of an answer, within size and time limits."""
    promised = answer.headers.get("Content-Length") or ""
    pieces: list[bytes] = []
    size = 0
    while piece := answer.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > _LARGEST:
            raise OSError("the answer is too long")
        if time.monotonic() > end:
            raise TimeoutError("the answer does not end")
    data = b"".join(pieces)
    if promised.isdecimal() and len(data) < int(promised):
        raise http.client.IncompleteRead(data, int(promised) - len(data))
    return data


def _unanswered(error: Exception, hint: str) -> tuple[ProviderError, int]:
    """Return the error for a missing or incomplete answer, and the number of attempts.

    urllib wraps only the errors that occur before the request is sent.
    """
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    text = str(getattr(cause, "strerror", None) or cause) or type(cause).__name__
    if isinstance(cause, ssl.SSLCertVerificationError):
        told = "the certificate of the MAAS server is not trusted"
        return ProviderError(told, detail=cause.verify_message, hint=hint, retryable=False), 1
    if isinstance(error, urllib.error.URLError):
        return ProviderError("the MAAS server does not answer", detail=text, hint=hint), AWAY_TRIES
    if isinstance(cause, TimeoutError):
        return Unsure("the MAAS server does not answer", detail=text, hint=hint), SILENT_TRIES
    if isinstance(cause, http.client.IncompleteRead):
        text = f"it ends after {len(cause.partial)} bytes"
    return Unsure(detail=text), TRIES


def _asked_pause(error: urllib.error.HTTPError) -> float:
    asked = str(error.headers.get("Retry-After") or "")
    return min(float(asked), _LONGEST_PAUSE_S) if asked.isdecimal() else 0.0


def plain_text(text: str) -> str:
    """Return an error text of MAAS on one line: `{"arch": ["no such"]}` becomes `arch: no such`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    if isinstance(found, Mapping):
        pairs = ((name, value if isinstance(value, list) else [value]) for name, value in found.items())
        found = "; ".join(f"{name}: {' '.join(map(str, values))}" for name, values in pairs)
    elif isinstance(found, list):
        found = "; ".join(map(str, found))
    return " ".join(str(found).split())
