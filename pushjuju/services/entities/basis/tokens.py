"""Tokens that stand for a user; the store has their digests alone."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime
from enum import StrEnum

from pushjuju.services.entities.basis import users
from pushjuju.store.rows.user_records import Token
from pushjuju.store.tx import Tx

_BYTES = 32


class Purpose(StrEnum):
    """What a token is for."""

    LINK = "link"  # logs a browser in once
    METRICS = "metrics"  # reads metrics, until it is revoked
    SESSION = "session"  # of a browser, until it was idle for long


def make(
    tx: Tx, purpose: Purpose, person: str, *, now: datetime, until: datetime | None = None, facts: str = ""
) -> str:
    """Return a new token for a user, and delete those that are over.

    Args:
        facts: The beginning of the token: what is known of who shows it.
    """
    token = facts + secrets.token_urlsafe(_BYTES)
    tx.run("token_delete_old", now=now)
    tx.insert("token", Token(digest=_digest(token), purpose=purpose, person=person, until=until))
    return token


def holder(tx: Tx, purpose: Purpose, token: str, *, now: datetime) -> str:
    """Return the user of a token; empty when the token is wrong or over, or the user is gone or disabled."""
    found = find(tx, purpose, token, now=now)
    return found.person if found and users.is_enabled(tx, found.person) else ""


def find(tx: Tx, purpose: Purpose, token: str, *, now: datetime) -> Token | None:
    """Return what the store knows of a token; None when the token is wrong or over."""
    found = tx.find(Token, "token_get", digest=_digest(token), purpose=purpose)
    return None if found is None or (found.until is not None and found.until < now) else found


def use_up(tx: Tx, token: str) -> bool:
    """Delete a token; return False when another process has deleted it."""
    return tx.run("token_delete", digest=_digest(token)) > 0


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
