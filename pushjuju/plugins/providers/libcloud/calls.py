"""Calls a cloud's library in threads, with a driver for each thread, and repeats calls to a busy cloud.

libcloud blocks, and keeps the state of the last request on its connection, so threads must not share a
driver.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from pushjuju.core.errors import CredentialInvalid, NotFound, ProviderError, PushjujuError, QuotaExceeded
from pushjuju.core.extras import install_hint
from pushjuju.core.values import regex

T = TypeVar("T")

PARALLEL = 16
TIMEOUT_S = 60.0  # seconds after which a request without an answer is aborted
TRIES = 6
_FIRST_PAUSE_S = 0.5

_BUSY = ("RequestLimitExceeded", "Throttling", "ServiceUnavailable", "InternalError", "Unavailable")
_FULL = ("Insufficient",)  # EC2's "no capacity" has status 500; another zone may have capacity at once
_CREDENTIAL = (
    "AuthFailure", "InvalidClientTokenId", "SignatureDoesNotMatch", "UnauthorizedOperation", "OptInRequired",
    "ExpiredToken", "RequestExpired", "AccessDenied",
)  # fmt: skip
_QUOTA = ("LimitExceeded", "QuotaExceeded", "MaxSpotInstanceCountExceeded")
_ANSWER = (LookupError, TypeError, AttributeError)  # a driver raises these for an incomplete answer
_UNTRUSTED = regex(r"certificate verify failed: ([^(\n]*)")
_MOST_PATIENCE_S = 30.0  # the longest wait that a cloud may ask for


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """Parts of a cloud's error texts, in lower case, that reveal the kind of error."""

    busy: tuple[str, ...] = ()  # the same request may succeed soon
    credential: tuple[str, ...] = ()  # the credential is refused
    quota: tuple[str, ...] = ()  # the quota of the account is used up
    # a request with status 403 means that the credential is refused, unless the text is about a quota
    forbidden: bool = True


PLAIN = ErrorWords(forbidden=False)


class Gone(NotFound, ProviderError):
    """The requested resource does not exist in the cloud any more; a new attempt may succeed."""


class Calls:
    """Runs functions of a driver in threads, and repeats them while the cloud is busy.

    Args:
        connect: Makes a driver; called once in each thread.
        pause: Sleeps for some seconds in a thread.
        words: The parts of the cloud's error texts.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        pause: Callable[[float], None] = time.sleep,
        words: ErrorWords = PLAIN,
    ) -> None:
        self._connect = connect
        self._pause = pause
        self._words = words
        self._local = threading.local()
        self._threads = ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="libcloud")

    async def run(self, function: Callable[[Any], T], tries: int = TRIES) -> T:
        """Return the result of a function of the driver, without blocking the event loop.

        Raises:
            CredentialInvalid: The cloud refuses the credential.
            QuotaExceeded: The quota of the account is used up.
            Gone: The cloud does not know the resource.
            ProviderError: Anything else, with the cloud's text.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._repeat, function, tries)

    def _repeat(self, function: Callable[[Any], T], tries: int) -> T:
        for attempt in range(tries):
            try:
                return function(self._driver())
            except PushjujuError:
                raise
            except Exception as error:
                if attempt == tries - 1 or not is_busy(error, self._words):
                    raise as_ours(error, self._words) from error
                self._local.driver = None  # its connection may still hold half an answer
                asked = min(float(getattr(error, "retry_after", 0) or 0), _MOST_PATIENCE_S)
                self._pause(max(_FIRST_PAUSE_S * 2**attempt, asked))
        raise AssertionError("not reached")

    def _driver(self) -> Any:
        driver = getattr(self._local, "driver", None)
        if driver is None:
            driver = self._local.driver = self._connect()
        return driver


def _facts(error: Exception) -> tuple[str, int]:
    """Return the text and the HTTP status of an error; the status is 0 for an error without a status."""
    codes = [getattr(error, name, None) for name in ("code", "status", "http_code")]
    value = getattr(error, "message", "") or getattr(error, "value", "") or error
    text = str(value.get("message") or value) if isinstance(value, Mapping) else str(value)
    return text, next((code for code in codes if isinstance(code, int) and code), 0)


def is_busy(error: Exception, words: ErrorWords = PLAIN) -> bool:
    """Return True for an error that may pass soon: throttling, a fault of the cloud, half an answer."""
    text, code = _facts(error)
    if any(text.startswith(word) for word in _FULL) or _UNTRUSTED.search(text):
        return False
    if code == 429 or code >= 500 or any(text.startswith(word) for word in _BUSY):
        return not _says(text, words.quota)
    if _says(text, words.busy):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names
        & {
            "ConnectionError",
            "Timeout",
            "RateLimitReachedError",
            "MalformedResponseError",
            "OSError",
            "JsonParseError",
        }
    )


def _says(text: str, words: tuple[str, ...]) -> bool:
    lower = text.lower()
    return any(word in lower for word in words)


def as_ours(error: Exception, words: ErrorWords = PLAIN) -> PushjujuError:
    """Return pushjuju's error for an error of the library; its detail is the cloud's text."""
    text, code = _facts(error)
    head, names = text.split(":")[0], {kind.__name__ for kind in type(error).__mro__}
    if _says(text, words.quota):
        return QuotaExceeded(detail=text)
    if _says(text, words.busy):
        return ProviderError("the cloud is busy", detail=text)
    if _says(text, words.credential) or (code == 403 and words.forbidden):
        return CredentialInvalid(detail=text)
    if code == 401 or "InvalidCredsError" in names or any(head.startswith(word) for word in _CREDENTIAL):
        return CredentialInvalid(detail=text)
    if any(head.endswith(word) for word in _QUOTA):
        return QuotaExceeded(detail=text)
    if code == 404 or ".NotFound" in head or ".Malformed" in head:
        return Gone(f"not found in the cloud: {text}")
    if "ImportError" in names or "ModuleNotFoundError" in names:
        return ProviderError(
            "apache-libcloud is not installed", hint=install_hint("libcloud"), retryable=False
        )
    if found := _UNTRUSTED.search(text):
        return ProviderError(
            "the certificate of the cloud is not trusted",
            detail=found[1].strip(),
            hint="add the certificate to ca-certificates of the cloud: pushjuju update-cloud",
            retryable=False,
        )
    if names & {"ConnectionError", "Timeout"}:
        return ProviderError("the cloud does not answer", detail=text)
    if isinstance(error, _ANSWER) or "MalformedResponseError" in names:
        return ProviderError("the cloud's answer cannot be read", detail=f"{type(error).__name__}: {text}")
    return ProviderError(
        "the cloud refused the request" if 400 <= code < 500 else "the cloud failed", detail=text
    )
