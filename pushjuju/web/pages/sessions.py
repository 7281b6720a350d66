"""The browsers that have logged in: sessions, and links that log in once. All are in memory, as digests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest
from secrets import token_bytes, token_urlsafe

from pushjuju.web.login import LoggedIn

_BYTES = 32
_IDLE_S, _LONGEST_S = 12 * 3600.0, 7 * 24 * 3600.0
_LINK_S = 120.0
_MOST = 1000


@dataclass(slots=True)
class _Session:
    entered: LoggedIn
    begun: float
    used: float
    secret: bytes


class Sessions:
    """Sessions and links of one server; a restart of the server ends them."""

    def __init__(self, now: Callable[[], float]) -> None:
        """Make an empty set.

        Args:
            now: Returns seconds of a clock that only goes forward.
        """
        self._now = now
        self._sessions: dict[bytes, _Session] = {}
        self._links: dict[bytes, tuple[LoggedIn, float]] = {}

    def link(self, entered: LoggedIn) -> str:
        """Return the token of a link that logs a user in once, within two minutes."""
        token = token_urlsafe(_BYTES)
        self._links[_digest(token)] = (entered, self._now() + _LINK_S)
        return token

    def follow(self, token: str) -> LoggedIn | None:
        """Return the user of a link, which works no more; None for a token that is wrong, used or too old."""
        found = self._links.pop(_digest(token), None)
        return found[0] if found is not None and self._now() <= found[1] else None

    def begin(self, entered: LoggedIn) -> str:
        """Begin a session, and return its token."""
        if len(self._sessions) >= _MOST:
            del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].used)]
        token, now = token_urlsafe(_BYTES), self._now()
        self._sessions[_digest(token)] = _Session(entered, now, now, token_bytes(_BYTES))
        return token

    def find(self, token: str, *, use: bool = True) -> LoggedIn | None:
        """Return the user of a session, or None when the session is over.

        Args:
            use: True for a request of a person, which lengthens the session.
        """
        key, now = _digest(token), self._now()
        found = self._sessions.get(key)
        if found is None:
            return None
        if now - found.used > _IDLE_S or now - found.begun > _LONGEST_S:
            del self._sessions[key]
            return None
        if use:
            found.used = now
        return found.entered

    def mark(self, token: str) -> str:
        """Return what proves that a form is from a page of a session; empty when the session is over.

        Each page has another text, so that the size of a compressed page tells nothing about the secret.
        """
        found = self._sessions.get(_digest(token))
        if found is None:
            return ""
        pad = token_bytes(_BYTES)
        return (pad + _xor(pad, found.secret)).hex()

    def is_mark(self, token: str, mark: str) -> bool:
        """Return True when a form is from a page of this session."""
        found = self._sessions.get(_digest(token))
        try:
            given = bytes.fromhex(mark)
        except ValueError:
            return False
        pad, masked = given[:_BYTES], given[_BYTES:]
        return found is not None and len(masked) == _BYTES and compare_digest(_xor(pad, masked), found.secret)

    def end(self, token: str) -> None:
        """End a session."""
        self._sessions.pop(_digest(token), None)


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(left, right, strict=True))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
