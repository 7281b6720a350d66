"""Limits against hostile and broken clients: wrong passwords, connections, sizes, times."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

LARGEST_MESSAGE = 16 * 1024 * 1024
LARGEST_BEFORE_LOGIN = 64 * 1024
LARGEST_HEADERS = 16 * 1024  # of an HTTP request, all together
LARGEST_READ_AT_ONCE = 256 * 1024  # larger messages are parsed in a thread
LOGIN_WITHIN_S = 10.0  # from the begin of a connection, whatever the client sends meanwhile
REQUEST_WITHIN_S = 15.0  # until the head of an HTTP request is complete
PING_S = 60.0  # seconds between pings on streams; the answer must come in half that time
IDLE_S = 600.0  # the longest time without a frame or pong
MOST_UNDER_WAY = 64  # the most requests of one connection at a time
MOST_UNSENT = 64 * 1024 * 1024  # the most unsent bytes of one connection
SEND_WITHIN_S = 60.0
END_WITHIN_S = 5.0  # until a client takes the end of its websocket, and the server's end waits for requests
MOST_CONNECTIONS = 2000  # websockets
MOST_OPEN = 4000  # connections, with those that have not sent a request
MOST_OF_ADDRESS = 50  # connections before Login
MOST_OF_USER = 200
MOST_WATCHERS = 100  # the most watchers of one connection
MOST_WATCHERS_IN_ALL = 10_000
_TRIES, _WINDOW_S = 10, 60.0
_MOST_NAMES = 10_000


class Attempts:
    """Counts wrong passwords of an address and of a user: ten in a minute, then one try in six seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._failed: OrderedDict[str, tuple[float, float]] = OrderedDict()  # key -> (tries left, time)

    def _left(self, key: str) -> float:
        left, when = self._failed.get(key, (float(_TRIES), self._now()))
        return min(float(_TRIES), left + (self._now() - when) * _TRIES / _WINDOW_S)

    def may_try(self, peer: str, name: str) -> bool:
        """Return True when neither the address nor the user has had too many wrong passwords."""
        return self._left(f"from {peer}") >= 1 and self._left(f"user {name}") >= 1

    def failed(self, peer: str, name: str) -> None:
        """Count a wrong password."""
        for key in (f"from {peer}", f"user {name}"):
            self._failed[key] = (self._left(key) - 1, self._now())
            self._failed.move_to_end(key)
        while len(self._failed) > _MOST_NAMES:
            self._failed.popitem(last=False)

    def succeeded(self, name: str) -> None:
        """Forget the wrong passwords of a user."""
        self._failed.pop(f"user {name}", None)
