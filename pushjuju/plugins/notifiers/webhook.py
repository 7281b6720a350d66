"""Posts events to a web server, as CloudEvents or as a text that chat services take."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import SplitResult, urlsplit

from pushjuju import __version__
from pushjuju.core.errors import NotifyError, NotValid
from pushjuju.plugins.api.notices import Event, NotifyTarget

TIMEOUT_S = 10.0
MOST_ANSWER = 64 * 1024  # bytes
_CUT_AGAIN_S = 1.0
SIGNATURE, TIME = "X-Pushjuju-Signature", "X-Pushjuju-Time"
Clock = Callable[[], float]
Trust = Callable[[], ssl.SSLContext]


class Webhook:
    """Posts to https: addresses, and to http: addresses of this computer.

    A message with a secret is signed: `X-Pushjuju-Signature: sha256=` and the HMAC of `X-Pushjuju-Time`, a
    dot and the body. No redirect is followed, and no link-local address is asked: metadata services have it.

    Args:
        clock: Returns the seconds since the epoch.
        timeout_s: Seconds for the whole delivery.
        trust: Returns the certificates that a server must show.
    """

    schemes: tuple[str, ...] = ("https", "http")
    summary = "posts the event to a web server"

    def __init__(
        self,
        clock: Clock = time.time,
        timeout_s: float = TIMEOUT_S,
        trust: Trust = ssl.create_default_context,
    ) -> None:
        self._clock = clock
        self._timeout_s = timeout_s
        self._trust = trust

    def check(self, target: NotifyTarget) -> None:
        """Check that an address is an URL with a host, and that a plain http: address is of this computer."""
        url = _parsed(target.address)
        if url.scheme == "http" and not _is_here(str(url.hostname)):
            raise NotValid(
                f"events would go to {url.hostname} without encryption",
                hint="an https:// address, or http:// to 127.0.0.1, ::1 or localhost",
            )

    def shown(self, address: str) -> str:
        """Return scheme and host; the rest of a chat service's address is its password."""
        url = urlsplit(address)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}/…"

    def send(self, target: NotifyTarget, event: Event) -> None:
        """Post an event; an answer outside of 200 to 299 is a failure."""
        self.check(target)
        url = _parsed(target.address)
        message = event.document() if target.body == "json" else {"text": event.text}
        body = json.dumps(message).encode()
        end = time.monotonic() + self._timeout_s
        try:
            status = self._post(url, body, self._headers(target, body), end)
        except (OSError, http.client.HTTPException, ValueError) as error:
            said = getattr(error, "strerror", None) or type(error).__name__
            if isinstance(error, TimeoutError) or time.monotonic() >= end:
                said = "it took too long to answer"
            raise NotifyError(f"{self.shown(target.address)} cannot be reached: {said}") from None
        if not 200 <= status < 300:
            raise NotifyError(f"{self.shown(target.address)} answered with status {status}")

    def _headers(self, target: NotifyTarget, body: bytes) -> dict[str, str]:
        kind = "application/cloudevents+json" if target.body == "json" else "application/json"
        headers = {"Content-Type": f"{kind}; charset=utf-8", "User-Agent": f"pushjuju/{__version__}"}
        if target.secret:
            moment = str(int(self._clock()))
            signed = hmac.new(target.secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
            headers |= {TIME: moment, SIGNATURE: f"sha256={signed.hexdigest()}"}
        return headers

    def _post(self, url: SplitResult, body: bytes, headers: dict[str, str], end: float) -> int:
        """Send the request, and return the status of the answer.

        Raises:
            OSError: No connection, or the time is over.
            HTTPException: The answer is no HTTP.
        """
        port = url.port or (443 if url.scheme == "https" else 80)
        connection = http.client.HTTPConnection(str(url.hostname), port)
        held = [connected(str(url.hostname), port, end, here=url.scheme == "http")]
        try:
            with cut_at(end, lambda: held[-1]):
                if url.scheme == "https":
                    encrypted = self._trust().wrap_socket(
                        held[-1], server_hostname=url.hostname, do_handshake_on_connect=False
                    )
                    held.append(encrypted)
                    encrypted.do_handshake()
                connection.sock = held[-1]
                path = f"{url.path or '/'}{'?' if url.query else ''}{url.query}"
                connection.request("POST", path, body, headers)
                answer = connection.getresponse()
                answer.read(MOST_ANSWER)
            if time.monotonic() >= end:  # what was read ends where the connection was cut
                raise TimeoutError
            return answer.status
        finally:
            held[-1].close()


@contextmanager
def cut_at(end: float, found: Callable[[], socket.socket | None]) -> Iterator[None]:
    """Cut a connection at a time: a server that sends bit by bit never meets the socket's timeout.

    Args:
        end: The time of the monotonic clock.
        found: Returns the connection, or None before there is one.
    """
    over = threading.Event()
    threading.Thread(target=_cut_from, args=(end, found, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _cut_from(end: float, found: Callable[[], socket.socket | None], over: threading.Event) -> None:
    """Cut until it is over: a slow start may make the connection only after its end."""
    pause = max(0.0, end - time.monotonic())
    while not over.wait(pause):
        if (connection := found()) is not None:
            with suppress(OSError):  # closed meanwhile
                connection.shutdown(socket.SHUT_RDWR)
        pause = _CUT_AGAIN_S


def connected(host: str, port: int, end: float, *, here: bool = False) -> socket.socket:
    """Return a connection to a host, to an address that was checked after its name was looked up.

    Args:
        end: The time of the monotonic clock until which the connection must stand.
        here: True when only addresses of this computer may be asked.
    """
    problem = OSError("no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        number = ipaddress.ip_address(str(address[0]).partition("%")[0])
        number = getattr(number, "ipv4_mapped", None) or number
        if number.is_link_local or number.is_multicast or (here and not number.is_loopback):
            problem = OSError(0, f"{number} is not asked")
            continue
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(max(0.1, end - time.monotonic()))
            made.connect(address)
        except OSError as error:
            problem = error
            made.close()
            continue
        return made
    raise problem


def _parsed(address: str) -> SplitResult:
    try:
        url = urlsplit(address)
        url.port  # noqa: B018 - raises when it is no number
    except ValueError:
        raise NotValid("the address is no URL") from None
    if (
        not url.hostname
        or url.username
        or not address.isascii()
        or not address.isprintable()
        or " " in address
    ):
        raise NotValid("the address is no URL of a web server: https://HOST[:PORT]/PATH")
    return url


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
