"""How browsers stay logged in: sessions, whose digests the store keeps, and links that log in once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from secrets import token_bytes, token_urlsafe

from pushjuju.services.entities.basis import passwords
from pushjuju.services.entities.basis.context import Context
from pushjuju.services.entities.basis.passwords import Purpose
from pushjuju.web import login
from pushjuju.web.login import LoggedIn

_BYTES = 32
_IDLE, _LONGEST = timedelta(hours=12), timedelta(days=7)
_NOTED = timedelta(hours=1)  # a use is written when the last one that was is older
_LINK_S = 120.0
_MOST = 100  # sessions of a user


def begin(ctx: Context, entered: LoggedIn) -> str:
    """Begin a session, and return its token: when it began, what kind of login it was, and a secret."""
    now = ctx.clock.now()
    facts = f"{int(now.timestamp())}.{entered.generation}.{entered.proved:d}."
    with ctx.store.write() as tx:
        tx.run("token_delete_more", purpose=Purpose.SESSION, person=entered.user, kept=_MOST - 1)
        return passwords.make_token(
            tx, Purpose.SESSION, entered.user, now=now, until=now + _IDLE, facts=facts
        )


def find(ctx: Context, token: str, *, use: bool = True) -> LoggedIn | None:
    """Return the user of a session, or None when the session is over.

    Args:
        use: True for a request of a person, which lengthens the session.
    """
    now = ctx.clock.now()
    with ctx.store.read() as tx:
        known = passwords.find_token(tx, Purpose.SESSION, token, now=now)
        created = login.created(tx, known.person) if known else None
    if known is None or known.until is None:
        return None
    begun, generation, proved = token.split(".")[:3]
    found = LoggedIn(
        user=known.person, display_name="", generation=int(generation), controller_access="",
        created=created, proved=proved == "1",
    )  # fmt: skip
    latest = datetime.fromtimestamp(int(begun), UTC) + _LONGEST
    if not login.still_in(ctx, found):
        end(ctx, token)  # who gets access to the controller again logs in again
        return None
    if use and known.until < min(latest, now + _IDLE - _NOTED):
        with ctx.store.write() as tx:
            tx.run("token_use", digest=known.digest, until=min(latest, now + _IDLE))
    return found


def end(ctx: Context, token: str) -> None:
    with ctx.store.write() as tx:
        passwords.use_up_token(tx, token)


def mark(token: str) -> str:
    """Return what proves that a form is from a page of a session.

    Each page has another text, so that the size of a compressed page tells nothing about the secret.
    """
    pad = token_bytes(_BYTES)
    return (pad + _xor(pad, _secret(token))).hex()


def is_mark(token: str, mark: str) -> bool:
    """Return True when a form is from a page of this session."""
    try:
        given = bytes.fromhex(mark)
    except ValueError:
        return False
    pad, masked = given[:_BYTES], given[_BYTES:]
    return len(masked) == _BYTES and compare_digest(_xor(pad, masked), _secret(token))


class Links:
    """The links of a process that log its user in, as digests."""

    def __init__(self, now: Callable[[], float]) -> None:
        """Make an empty set; `now` returns seconds of a clock that only goes forward."""
        self._now = now
        self._links: dict[bytes, tuple[LoggedIn, float]] = {}

    def make(self, entered: LoggedIn) -> str:
        """Return the token of a link that logs a user in once, within two minutes."""
        token = token_urlsafe(_BYTES)
        self._links[_digest(token)] = (entered, self._now() + _LINK_S)
        return token

    def follow(self, token: str) -> LoggedIn | None:
        """Return the user of a link, which works no more; None for a token that is wrong, used or too old."""
        found = self._links.pop(_digest(token), None)
        return found[0] if found is not None and self._now() <= found[1] else None


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(left, right, strict=True))


def _secret(token: str) -> bytes:
    """Return the secret of the forms of a session, which follows from the token."""
    return _digest(f"forms {token}")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
