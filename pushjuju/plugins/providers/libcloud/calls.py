"""Calls to a cloud's library: in threads, one driver each, repeated while the cloud is busy. Layer: plugins.

libcloud blocks, and keeps the state of the last request on its connection: no two threads may share one.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from pushjuju.core.errors import CredentialInvalid, NotFound, ProviderError, PushjujuError, QuotaExceeded

T = TypeVar("T")

PARALLEL = 16
TIMEOUT_S = 60.0  # until a request without an answer is given up
TRIES = 6
_FIRST_PAUSE_S = 0.5

_BUSY = ("RequestLimitExceeded", "Throttling", "ServiceUnavailable", "InternalError", "Unavailable")
_CREDENTIAL = (
    "AuthFailure", "InvalidClientTokenId", "SignatureDoesNotMatch", "UnauthorizedOperation", "OptInRequired",
    "ExpiredToken", "RequestExpired", "AccessDenied",
)  # fmt: skip
_QUOTA = ("LimitExceeded", "QuotaExceeded", "MaxSpotInstanceCountExceeded")


class Gone(NotFound):
    """What was asked for is not in the cloud any more."""


class Calls:
    """Runs functions of a driver in threads.

    Args:
        connect: Makes a driver; called once in each thread.
        pause: Waits for some seconds in a thread.
    """

    def __init__(self, connect: Callable[[], Any], pause: Callable[[float], None] = time.sleep) -> None:
        self._connect = connect
        self._pause = pause
        self._local = threading.local()
        self._threads = ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="libcloud")

    async def run(self, function: Callable[[Any], T], tries: int = TRIES) -> T:
        """Return what a function of the driver returns; the event loop goes on meanwhile.

        Raises:
            CredentialInvalid: The cloud refuses the credential.
            QuotaExceeded: The account may have no more.
            Gone: The thing is not there.
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
                if attempt == tries - 1 or not is_busy(error):
                    raise as_ours(error) from error
                self._local.driver = None  # half an answer may be left on its connection
                self._pause(_FIRST_PAUSE_S * 2**attempt)
        raise AssertionError("not reached")

    def _driver(self) -> Any:
        driver = getattr(self._local, "driver", None)
        if driver is None:
            driver = self._local.driver = self._connect()
        return driver


def _facts(error: Exception) -> tuple[str, int]:
    """Return the text of an error and its HTTP status, 0 when there is none."""
    code = getattr(error, "code", None) or getattr(error, "status", None) or getattr(error, "http_code", 0)
    text = str(getattr(error, "message", "") or error)
    return text, code if isinstance(code, int) else 0


def is_busy(error: Exception) -> bool:
    """Tell whether the same request may work in a moment: throttled, a fault, no answer or half of one."""
    text, code = _facts(error)
    if code == 429 or code >= 500 or any(text.startswith(word) for word in _BUSY):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names & {"ConnectionError", "Timeout", "RateLimitReachedError", "MalformedResponseError", "OSError"}
    )


def as_ours(error: Exception) -> PushjujuError:
    """Return an error of the library as one of ours; the cloud's own text is the detail."""
    text, code = _facts(error)
    head, names = text.split(":")[0], {kind.__name__ for kind in type(error).__mro__}
    if code == 401 or "InvalidCredsError" in names or any(head.startswith(word) for word in _CREDENTIAL):
        return CredentialInvalid(detail=text)
    if any(head.endswith(word) for word in _QUOTA):
        return QuotaExceeded(detail=text)
    if code == 404 or ".NotFound" in head or ".Malformed" in head:
        return Gone(f"not found in the cloud: {text}")
    if "ImportError" in names or "ModuleNotFoundError" in names:
        return ProviderError(
            "apache-libcloud is not installed", hint="pip install 'pushjuju[libcloud]'", retryable=False
        )
    if names & {"ConnectionError", "Timeout"}:
        return ProviderError("the cloud does not answer", detail=text)
    return ProviderError(
        "the cloud refused the request" if 400 <= code < 500 else "the cloud failed", detail=text
    )
